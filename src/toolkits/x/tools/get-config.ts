import { z } from 'zod';
import { READ_PROFILES } from '../../../contract/profile.ts';
import { defineXTool } from '../services.ts';

export const getConfig = defineXTool({
  name: 'get_config',
  title: 'Get configuration',
  summary: 'Current configuration, secrets masked.',
  effect: 'read',
  reach: 'local',
  category: 'config',
  profiles: READ_PROFILES,
  faults: [],
  input: z.object({}),
  output: z.looseObject({}),
  async run(_args, { services }) {
    return services.kernel.config.masked();
  },
});

import { z } from 'zod';
import { READ_PROFILES } from '../../../contract/profile.ts';
import { configGaps, configProblems } from '../lib/config-problems.ts';
import { defineXTool } from '../services.ts';

const problem = z.object({ path: z.string(), message: z.string() });

export const validateConfig = defineXTool({
  name: 'validate_config',
  title: 'Validate configuration',
  summary: 'Checks the configuration and lists what is wrong or missing.',
  effect: 'read',
  reach: 'local',
  category: 'config',
  profiles: READ_PROFILES,
  faults: [],
  input: z.object({}),
  output: z.object({
    valid: z.boolean(),
    path: z.string(),
    errors: z.array(problem),
    warnings: z.array(problem),
  }),
  async run(_args, { services }) {
    const { config } = services.kernel;
    const errors = [...(await config.problems()), ...configProblems(services.settings)];
    return { valid: errors.length === 0, path: config.path, errors, warnings: configGaps(services.settings) };
  },
});

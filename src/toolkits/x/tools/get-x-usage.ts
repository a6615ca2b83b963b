import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { days, sinceOf } from '../lib/since.ts';
import { usageOf, usageShape } from '../lib/x-usage.ts';
import { defineXTool, reachX } from '../services.ts';

export const getXUsage = defineXTool({
  name: 'get_x_usage',
  title: 'Get X API usage',
  summary: 'X API calls and their estimated cost; seven days unless told.',
  effect: 'read',
  reach: 'local',
  category: 'analytics',
  profiles: CHANGE_PROFILES,
  faults: ['db_error'],
  requires: { db: true },
  input: z.object({ days }),
  output: usageShape,
  async run({ days: span = 7 }, context) {
    const x = await reachX(context);
    return usageOf(await x.usage(sinceOf(context.now(), { days: span })), span);
  },
});

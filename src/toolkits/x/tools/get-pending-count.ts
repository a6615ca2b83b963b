import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { waitingFor } from '../lib/shown-to.ts';
import { defineXTool } from '../services.ts';

export const getPendingCount = defineXTool({
  name: 'get_pending_count',
  title: 'Count pending approvals',
  summary: 'How many items wait for a person.',
  effect: 'read',
  reach: 'local',
  category: 'approval',
  profiles: CHANGE_PROFILES,
  faults: ['db_error'],
  requires: { db: true },
  input: z.object({}),
  output: z.object({ pending_count: z.number() }),
  async run(_args, context) {
    const { count } = await waitingFor(context, 0);
    return { pending_count: count };
  },
});

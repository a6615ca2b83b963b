import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { targetsOf, targetsShape } from '../lib/targets.ts';
import { defineXTool } from '../services.ts';

export const listTargetAccounts = defineXTool({
  name: 'list_target_accounts',
  title: 'List target accounts',
  summary: 'Watched accounts and what was exchanged with each.',
  effect: 'read',
  reach: 'local',
  category: 'discovery',
  profiles: CHANGE_PROFILES,
  faults: ['db_error'],
  requires: { db: true },
  input: z.object({}),
  output: targetsShape,
  run: (_args, { services }) => targetsOf(services),
});

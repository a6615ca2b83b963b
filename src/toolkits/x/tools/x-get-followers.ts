import { z } from 'zod';
import { X_FAULTS } from '../lib/fault-codes.ts';
import { pageToken, readUsers, userId, userPage } from '../lib/read-x.ts';
import { defineXTool } from '../services.ts';

export const xGetFollowers = defineXTool({
  name: 'x_get_followers',
  title: 'Get followers',
  summary: 'Followers of a user.',
  effect: 'read',
  reach: 'network',
  category: 'read',
  profiles: ['api-readonly', 'write', 'admin'],
  faults: X_FAULTS,
  requires: { xClient: true, userAuth: true, scopes: ['follows.read', 'users.read'] },
  input: z.object({
    user_id: userId,
    max_results: z.number().int().min(1).max(1000).default(100),
    pagination_token: pageToken,
  }),
  output: userPage,
  run: (args, context) => readUsers(context, 'followers', args),
});

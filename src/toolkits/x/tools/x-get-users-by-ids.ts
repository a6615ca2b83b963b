import { z } from 'zod';
import { X_FAULTS } from '../lib/fault-codes.ts';
import { readUsers, userId, userPage } from '../lib/read-x.ts';
import { defineXTool } from '../services.ts';

export const xGetUsersByIds = defineXTool({
  name: 'x_get_users_by_ids',
  title: 'Get users by ids',
  summary: 'Up to 100 users at once.',
  effect: 'read',
  reach: 'network',
  category: 'read',
  profiles: ['api-readonly', 'write', 'admin'],
  faults: X_FAULTS,
  requires: { xClient: true, userAuth: true, scopes: ['users.read'] },
  input: z.object({
    user_ids: z.array(userId).min(1).max(100),
  }),
  output: userPage,
  run: ({ user_ids }, context) => readUsers(context, 'users_by_ids', { user_ids }),
});

import { z } from 'zod';
import { READ_PROFILES } from '../../../contract/profile.ts';
import { X_FAULTS } from '../lib/fault-codes.ts';
import { readUser, userId } from '../lib/read-x.ts';
import { userShape } from '../lib/x-replies.ts';
import { defineXTool } from '../services.ts';

export const xGetUserById = defineXTool({
  name: 'x_get_user_by_id',
  title: 'Get a user by id',
  summary: 'One user by numeric id.',
  effect: 'read',
  reach: 'network',
  category: 'read',
  profiles: READ_PROFILES,
  faults: X_FAULTS,
  requires: { xClient: true, userAuth: true, scopes: ['users.read'] },
  input: z.object({
    user_id: userId,
  }),
  output: userShape,
  run: ({ user_id }, context) => readUser(context, 'user_by_id', { user_id }),
});

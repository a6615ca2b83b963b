import { z } from 'zod';
import { READ_PROFILES } from '../../../contract/profile.ts';
import { X_FAULTS } from '../lib/fault-codes.ts';
import { readUser } from '../lib/read-x.ts';
import { userShape } from '../lib/x-replies.ts';
import { defineXTool } from '../services.ts';

export const xGetUserByUsername = defineXTool({
  name: 'x_get_user_by_username',
  title: 'Get a user by name',
  summary: 'One user by @username.',
  effect: 'read',
  reach: 'network',
  category: 'read',
  profiles: READ_PROFILES,
  faults: X_FAULTS,
  requires: { xClient: true, userAuth: true, scopes: ['users.read'] },
  input: z.object({
    username: z.string().regex(/^@?\w{1,15}$/, 'must be an X username'),
  }),
  output: userShape,
  run: ({ username }, context) =>
    readUser(context, 'user_by_username', { username: username.replace('@', '') }),
});

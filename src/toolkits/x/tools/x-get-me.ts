import { z } from 'zod';
import { X_FAULTS } from '../lib/fault-codes.ts';
import { readUser } from '../lib/read-x.ts';
import { userShape } from '../lib/x-replies.ts';
import { defineXTool } from '../services.ts';

export const xGetMe = defineXTool({
  name: 'x_get_me',
  title: 'Get own profile',
  summary: "The signed-in user's own profile.",
  effect: 'read',
  reach: 'network',
  category: 'read',
  // The document offers it in this one profile.
  profiles: ['api-readonly'],
  faults: X_FAULTS,
  requires: { xClient: true, userAuth: true, scopes: ['users.read'] },
  input: z.object({}),
  output: userShape,
  run: (_args, context) => readUser(context, 'me', {}),
});

import { z } from 'zod';
import { X_FAULTS } from '../lib/fault-codes.ts';
import { pageToken, postPage, readPosts } from '../lib/read-x.ts';
import { defineXTool } from '../services.ts';

export const xGetBookmarks = defineXTool({
  name: 'x_get_bookmarks',
  title: 'Get bookmarks',
  summary: "The signed-in user's bookmarks.",
  effect: 'read',
  reach: 'network',
  category: 'read',
  profiles: ['api-readonly', 'write', 'admin'],
  faults: X_FAULTS,
  requires: { xClient: true, userAuth: true, scopes: ['bookmark.read', 'users.read'] },
  input: z.object({
    max_results: z.number().int().min(1).max(100).default(10),
    pagination_token: pageToken,
  }),
  output: postPage,
  run: (args, context) => readPosts(context, 'bookmarks', args),
});

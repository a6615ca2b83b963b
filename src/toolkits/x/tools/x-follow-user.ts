import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { engage, reconcileEngagement } from '../lib/engage-x.ts';
import { ENGAGE_FAULTS } from '../lib/fault-codes.ts';
import { userId } from '../lib/read-x.ts';
import { defineXTool } from '../services.ts';

export const xFollowUser = defineXTool({
  name: 'x_follow_user',
  title: 'Follow a user',
  summary: 'Follows a user.',
  effect: 'change',
  reach: 'network',
  category: 'engage',
  profiles: CHANGE_PROFILES,
  policyName: 'follow_user',
  faults: ENGAGE_FAULTS,
  requires: { xClient: true, userAuth: true, scopes: ['follows.read', 'follows.write', 'users.read'] },
  input: z.object({ target_user_id: userId }),
  output: z.object({
    following: z.boolean(),
    target_user_id: z.string(),
    pending_follow: z.boolean().optional(),
  }),
  describeApproval: ({ target_user_id }) => `Follow user ${target_user_id}?`,
  rollback: ({ target_user_id }) => ({ tool: 'x_unfollow_user', args: { target_user_id } }),
  async run({ target_user_id }, context) {
    const data = await engage(context, 'follow', { target_user_id }, 'x_unfollow_user');
    return {
      following: data.following === true,
      target_user_id,
      ...(data.pending_follow === true ? { pending_follow: true } : {}),
    };
  },
  reconcile: ({ target_user_id }, context) => reconcileEngagement(context, 'follow', target_user_id),
});

import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { engage, reconcileEngagement } from '../lib/engage-x.ts';
import { ENGAGE_FAULTS } from '../lib/fault-codes.ts';
import { userId } from '../lib/read-x.ts';
import { defineXTool } from '../services.ts';

export const xUnfollowUser = defineXTool({
  name: 'x_unfollow_user',
  title: 'Unfollow a user',
  summary: 'Stops following a user.',
  effect: 'change',
  reach: 'network',
  category: 'engage',
  profiles: CHANGE_PROFILES,
  policyName: 'unfollow_user',
  faults: ENGAGE_FAULTS,
  requires: { xClient: true, userAuth: true, scopes: ['follows.read', 'follows.write', 'users.read'] },
  input: z.object({ target_user_id: userId }),
  output: z.object({ following: z.boolean(), target_user_id: z.string() }),
  describeApproval: ({ target_user_id }) => `Stop following user ${target_user_id}?`,
  rollback: ({ target_user_id }) => ({ tool: 'x_follow_user', args: { target_user_id } }),
  async run({ target_user_id }, context) {
    const data = await engage(context, 'unfollow', { target_user_id }, 'x_follow_user');
    return { following: data.following === true, target_user_id };
  },
  reconcile: ({ target_user_id }, context) => reconcileEngagement(context, 'unfollow', target_user_id),
});

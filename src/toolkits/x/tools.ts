import type { Tool } from '../../contract/tool.ts';
import type { XServices } from './services.ts';
import { approveAll } from './tools/approve-all.ts';
import { approveItem } from './tools/approve-item.ts';
import { cancelDraft } from './tools/cancel-draft.ts';
import { composeTweet } from './tools/compose-tweet.ts';
import { draftRepliesForCandidates } from './tools/draft-replies-for-candidates.ts';
import { findReplyOpportunities } from './tools/find-reply-opportunities.ts';
import { generateReply } from './tools/generate-reply.ts';
import { generateThread } from './tools/generate-thread.ts';
import { generateThreadPlan } from './tools/generate-thread-plan.ts';
import { generateTweet } from './tools/generate-tweet.ts';
import { getActionCounts } from './tools/get-action-counts.ts';
import { getActionLog } from './tools/get-action-log.ts';
import { getAuthorContext } from './tools/get-author-context.ts';
import { getCapabilities } from './tools/get-capabilities.ts';
import { getConfig } from './tools/get-config.ts';
import { getDiscoveryFeed } from './tools/get-discovery-feed.ts';
import { getFollowerTrend } from './tools/get-follower-trend.ts';
import { getMcpErrorBreakdown } from './tools/get-mcp-error-breakdown.ts';
import { getMcpToolMetrics } from './tools/get-mcp-tool-metrics.ts';
import { getMode } from './tools/get-mode.ts';
import { getMutationDetail } from './tools/get-mutation-detail.ts';
import { getPendingCount } from './tools/get-pending-count.ts';
import { getPolicyStatus } from './tools/get-policy-status.ts';
import { getRateLimits } from './tools/get-rate-limits.ts';
import { getRecentMutations } from './tools/get-recent-mutations.ts';
import { getRecentReplies } from './tools/get-recent-replies.ts';
import { getReplyCountToday } from './tools/get-reply-count-today.ts';
import { getStats } from './tools/get-stats.ts';
import { getTweetById } from './tools/get-tweet-by-id.ts';
import { getXUsage } from './tools/get-x-usage.ts';
import { healthCheck } from './tools/health-check.ts';
import { listPendingApprovals } from './tools/list-pending-approvals.ts';
import { listTargetAccounts } from './tools/list-target-accounts.ts';
import { listUnrepliedTweets } from './tools/list-unreplied-tweets.ts';
import { proposeAndQueueReplies } from './tools/propose-and-queue-replies.ts';
import { recommendEngagementAction } from './tools/recommend-engagement-action.ts';
import { rejectItem } from './tools/reject-item.ts';
import { scoreTweet } from './tools/score-tweet.ts';
import { suggestTopics } from './tools/suggest-topics.ts';
import { topicPerformanceSnapshot } from './tools/topic-performance-snapshot.ts';
import { updateDraft } from './tools/update-draft.ts';
import { validateConfig } from './tools/validate-config.ts';
import { xBookmarkTweet } from './tools/x-bookmark-tweet.ts';
import { xDelete } from './tools/x-delete.ts';
import { xDeleteTweet } from './tools/x-delete-tweet.ts';
import { xFollowUser } from './tools/x-follow-user.ts';
import { xGet } from './tools/x-get.ts';
import { xGetBookmarks } from './tools/x-get-bookmarks.ts';
import { xGetFollowers } from './tools/x-get-followers.ts';
import { xGetFollowing } from './tools/x-get-following.ts';
import { xGetHomeTimeline } from './tools/x-get-home-timeline.ts';
import { xGetLikedTweets } from './tools/x-get-liked-tweets.ts';
import { xGetMe } from './tools/x-get-me.ts';
import { xGetTweetLikingUsers } from './tools/x-get-tweet-liking-users.ts';
import { xGetUserById } from './tools/x-get-user-by-id.ts';
import { xGetUserByUsername } from './tools/x-get-user-by-username.ts';
import { xGetUserMentions } from './tools/x-get-user-mentions.ts';
import { xGetUserTweets } from './tools/x-get-user-tweets.ts';
import { xGetUsersByIds } from './tools/x-get-users-by-ids.ts';
import { xLikeTweet } from './tools/x-like-tweet.ts';
import { xPost } from './tools/x-post.ts';
import { xPostThread } from './tools/x-post-thread.ts';
import { xPostThreadDryRun } from './tools/x-post-thread-dry-run.ts';
import { xPostTweet } from './tools/x-post-tweet.ts';
import { xPostTweetDryRun } from './tools/x-post-tweet-dry-run.ts';
import { xPut } from './tools/x-put.ts';
import { xQuoteTweet } from './tools/x-quote-tweet.ts';
import { xReplyToTweet } from './tools/x-reply-to-tweet.ts';
import { xRetweet } from './tools/x-retweet.ts';
import { xSearchTweets } from './tools/x-search-tweets.ts';
import { xUnbookmarkTweet } from './tools/x-unbookmark-tweet.ts';
import { xUnfollowUser } from './tools/x-unfollow-user.ts';
import { xUnlikeTweet } from './tools/x-unlike-tweet.ts';
import { xUnretweet } from './tools/x-unretweet.ts';
import { xUploadMedia } from './tools/x-upload-media.ts';

/** One file each; a contract test compares this list with the folder. */
export const curatedTools: readonly Tool<XServices>[] = [
  approveAll,
  approveItem,
  cancelDraft,
  composeTweet,
  draftRepliesForCandidates,
  findReplyOpportunities,
  generateReply,
  generateThreadPlan,
  generateThread,
  generateTweet,
  getActionCounts,
  getActionLog,
  getAuthorContext,
  getCapabilities,
  getConfig,
  getDiscoveryFeed,
  getFollowerTrend,
  getMcpErrorBreakdown,
  getMcpToolMetrics,
  getMode,
  getMutationDetail,
  getPendingCount,
  getPolicyStatus,
  getRateLimits,
  getRecentMutations,
  getRecentReplies,
  getReplyCountToday,
  getStats,
  getTweetById,
  getXUsage,
  healthCheck,
  listPendingApprovals,
  listTargetAccounts,
  listUnrepliedTweets,
  proposeAndQueueReplies,
  recommendEngagementAction,
  rejectItem,
  scoreTweet,
  suggestTopics,
  topicPerformanceSnapshot,
  updateDraft,
  validateConfig,
  xBookmarkTweet,
  xDeleteTweet,
  xDelete,
  xFollowUser,
  xGetBookmarks,
  xGetFollowers,
  xGetFollowing,
  xGetHomeTimeline,
  xGetLikedTweets,
  xGetMe,
  xGetTweetLikingUsers,
  xGetUserById,
  xGetUserByUsername,
  xGetUserMentions,
  xGetUserTweets,
  xGetUsersByIds,
  xGet,
  xLikeTweet,
  xPostThreadDryRun,
  xPostThread,
  xPostTweetDryRun,
  xPostTweet,
  xPost,
  xPut,
  xQuoteTweet,
  xReplyToTweet,
  xRetweet,
  xSearchTweets,
  xUnbookmarkTweet,
  xUnfollowUser,
  xUnlikeTweet,
  xUnretweet,
  xUploadMedia,
];

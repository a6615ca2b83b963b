import type { Tool } from '../../contract/tool.ts';
import type { XServices } from './services.ts';
import {
  getActionCounts,
  getActionLog,
  getFollowerTrend,
  getRecentReplies,
  getReplyCountToday,
  getStats,
  getXUsage,
  topicPerformanceSnapshot,
} from './tools/analytics.ts';
import {
  approveAll,
  approveItem,
  getPendingCount,
  listPendingApprovals,
  rejectItem,
} from './tools/approvals.ts';
import {
  getDiscoveryFeed,
  listTargetAccounts,
  listUnrepliedTweets,
  scoreTweet,
  updateTargetAccount,
} from './tools/discovery.ts';
import { cancelDraft, composeTweet, updateDraft } from './tools/drafts.ts';
import {
  xBookmarkTweet,
  xFollowUser,
  xLikeTweet,
  xRetweet,
  xUnbookmarkTweet,
  xUnfollowUser,
  xUnlikeTweet,
  xUnretweet,
} from './tools/engagement.ts';
import {
  getAuthorContext,
  proposeAndQueueReplies,
  recommendEngagementAction,
} from './tools/engagement-advice.ts';
import {
  generateReply,
  generateThread,
  generateThreadPlan,
  generateTweet,
  suggestTopics,
} from './tools/generate.ts';
import { xUploadMedia } from './tools/media.ts';
import { xDeleteTweet, xPostTweet, xPostTweetDryRun, xQuoteTweet, xReplyToTweet } from './tools/posts.ts';
import {
  getTweetById,
  xGetBookmarks,
  xGetHomeTimeline,
  xGetLikedTweets,
  xGetUserMentions,
  xGetUserTweets,
  xSearchTweets,
} from './tools/read-posts.ts';
import {
  xGetFollowers,
  xGetFollowing,
  xGetMe,
  xGetTweetLikingUsers,
  xGetUserById,
  xGetUserByUsername,
  xGetUsersByIds,
} from './tools/read-users.ts';
import { draftRepliesForCandidates, findReplyOpportunities } from './tools/reply-opportunities.ts';
import { getConfig, getPolicyStatus, getRateLimits, validateConfig } from './tools/settings.ts';
import { getCapabilities, getMode, healthCheck } from './tools/status.ts';
import {
  getMcpErrorBreakdown,
  getMcpToolMetrics,
  getMutationDetail,
  getRecentMutations,
} from './tools/telemetry.ts';
import { xPostThread, xPostThreadDryRun } from './tools/threads.ts';
import { xDelete, xGet, xPost, xPut } from './tools/universal.ts';

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
  updateTargetAccount,
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

import type { EndpointId } from './ids.ts';

const ofPosts = ['poll.fields', 'place.fields'];
const ofPostsWithMedia = [...ofPosts, 'media.fields'];
const ofUsers = ['post.fields'];
const ofMembers = ['post.fields', 'expansions'];
const ofLists = ['user.fields', 'expansions'];
const ofSpaces = ['user.fields', 'topic.fields'];
const ofEvents = ['event_types', 'user.fields', 'post.fields', 'media.fields'];
const ofJobs = ['compliance_job.fields'];
const ofRules = ['dry_run', 'delete_all'];

/** Names that X's specification has and no tool sends. The sandbox takes them; a test compares them with the specification. */
export const OTHERS: Readonly<Partial<Record<EndpointId, readonly string[]>>> = {
  tweet_by_id: ofPosts,
  search_recent: [...ofPosts, 'next_token'],
  user_tweets: ofPosts,
  user_mentions: ofPosts,
  home_timeline: ofPosts,
  x_v2_tweets_lookup: ofPostsWithMedia,
  x_v2_tweets_counts_recent: [
    'next_token',
    'pagination_token',
    'search_count.fields',
    'since_id',
    'until_id',
  ],
  x_v2_tweets_quote_tweets: [...ofPostsWithMedia, 'exclude'],
  x_v2_tweets_retweeted_by: ofMembers,
  create_tweet: [
    'card_uri',
    'community_id',
    'direct_message_deep_link',
    'edit_options',
    'for_super_followers_only',
    'geo',
    'nullcast',
    'paid_partnership',
    'poll',
    'share_with_followers',
  ],
  user_by_id: ofUsers,
  user_by_username: ofUsers,
  users_by_ids: ofUsers,
  x_v2_users_lookup_by_usernames: ofUsers,
  me: ofUsers,
  followers: ofUsers,
  following: ofUsers,
  liking_users: ofUsers,
  liked_tweets: ofPostsWithMedia,
  bookmarks: ofPostsWithMedia,
  bookmark: ['folder_id'],
  media_upload: ['additional_owners'],
  media_initialize: ['additional_owners', 'shared'],
  x_v2_lists_get: ['user.fields'],
  x_v2_lists_members: ofMembers,
  x_v2_lists_followers: ofMembers,
  x_v2_lists_tweets: ofPostsWithMedia,
  x_v2_lists_owned: ofLists,
  x_v2_lists_memberships: ofLists,
  x_v2_lists_pinned: ofLists,
  x_v2_mutes_list: ofMembers,
  x_v2_blocks_list: ofMembers,
  x_v2_dm_events: ofEvents,
  x_v2_dm_events_by_conversation: ofEvents,
  x_v2_dm_events_by_participant: ofEvents,
  x_v2_spaces_get: ofSpaces,
  x_v2_spaces_lookup: ofSpaces,
  x_v2_spaces_by_creator: ofSpaces,
  x_v2_spaces_search: [...ofSpaces, 'max_results'],
  x_v2_spaces_buyers: [...ofMembers, 'max_results', 'pagination_token'],
  x_v2_spaces_tweets: [...ofPostsWithMedia, 'max_results', 'pagination_token'],
  x_v2_compliance_jobs: ofJobs,
  x_v2_compliance_job_by_id: ofJobs,
  x_v2_compliance_job_create: ofJobs,
  x_v2_usage_tweets: ['usage.fields'],
  x_v2_stream_rules_list: ['ids', 'max_results', 'pagination_token'],
  x_v2_stream_rules_add: [...ofRules, 'delete'],
  x_v2_stream_rules_delete: [...ofRules, 'add'],
};

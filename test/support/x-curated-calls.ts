import { join } from 'node:path';
import type { JsonObject } from '../../src/contract/json.ts';

/** What the calls below need to know of the world they are made in. */
export interface CallWorld {
  /** A post of somebody else, its author, and a post of our own. */
  readonly post: string;
  readonly user: string;
  readonly own: string;
  readonly dataDir: string;
  data(tool: string, args: JsonObject): Promise<JsonObject>;
  /** Makes a call and gives its id. */
  callId(tool: string, args: JsonObject): Promise<string>;
  /** Something that waits for a person. */
  pending(): Promise<number>;
  /** What the model says next. */
  answerOnce(text: string): void;
}

/** Arguments with which each curated tool succeeds; tools that are not here need none. */
export const curatedCalls = (world: CallWorld): Record<string, () => JsonObject | Promise<JsonObject>> => ({
  approve_item: async () => ({ id: await world.pending() }),
  reject_item: async () => ({ id: await world.pending() }),
  approve_all: async () => {
    await world.pending();
    return {};
  },
  cancel_draft: async () => ({
    id: (await world.data('compose_tweet', { content: 'To be cancelled' })).id ?? 0,
  }),
  update_draft: async () => ({
    id: (await world.data('compose_tweet', { content: 'To be edited' })).id ?? 0,
    content: 'Edited by a person',
    scheduled_for: '2026-03-01T09:15:00Z',
  }),
  compose_tweet: () => ({ content: 'A draft for later' }),
  draft_replies_for_candidates: () => ({ tweet_ids: [world.post] }),
  find_reply_opportunities: () => ({ min_score: 0 }),
  generate_reply: () => ({ tweet_id: world.post }),
  generate_thread: () => {
    world.answerOnce('First thought\n---\nSecond thought');
    return { topic: 'monitoring', num_tweets: 2 };
  },
  generate_thread_plan: () => {
    world.answerOnce('One\n---\nTwo\n---\nThree');
    return { topic: 'monitoring', target_tweets: 3 };
  },
  generate_tweet: () => ({ topic: 'monitoring', style: 'tip' }),
  get_author_context: () => ({ author_id: world.user }),
  get_mutation_detail: async () => ({
    correlation_id: await world.callId('x_bookmark_tweet', { tweet_id: world.post }),
  }),
  get_tweet_by_id: () => ({ tweet_id: world.post }),
  propose_and_queue_replies: () => ({ drafts: [{ tweet_id: world.post, text: 'A drafted reply to you' }] }),
  recommend_engagement_action: () => ({
    tweet_id: world.post,
    campaign_objective: 'reach people with outages',
  }),
  score_tweet: () => ({
    tweet: {
      text: 'An outage again',
      author_username: 'a',
      author_followers: 5000,
      likes: 3,
      retweets: 0,
      replies: 1,
      created_at: '2026-02-25T11:58:00Z',
    },
  }),
  x_bookmark_tweet: () => ({ tweet_id: world.post }),
  x_unbookmark_tweet: () => ({ tweet_id: world.post }),
  x_like_tweet: () => ({ tweet_id: world.post }),
  x_unlike_tweet: () => ({ tweet_id: world.post }),
  x_retweet: () => ({ tweet_id: world.post }),
  x_unretweet: () => ({ tweet_id: world.post }),
  x_follow_user: () => ({ target_user_id: world.user }),
  x_unfollow_user: () => ({ target_user_id: world.user }),
  x_delete_tweet: () => ({ tweet_id: world.own }),
  x_get: () => ({ endpoint: '/2/users/me' }),
  x_post: () => ({ endpoint: '/2/users/2001000001/likes', body: JSON.stringify({ tweet_id: world.post }) }),
  x_put: () => ({ endpoint: `/2/tweets/${world.own}/hidden`, body: '{"hidden":true}' }),
  x_delete: () => ({ endpoint: `/2/users/2001000001/likes/${world.post}` }),
  x_get_followers: () => ({ user_id: world.user }),
  x_get_following: () => ({ user_id: world.user }),
  x_get_liked_tweets: () => ({ user_id: world.user, max_results: 2 }),
  x_get_tweet_liking_users: () => ({ tweet_id: world.post }),
  x_get_user_by_id: () => ({ user_id: world.user }),
  x_get_user_by_username: () => ({ username: '@benno_ships' }),
  x_get_user_tweets: () => ({ user_id: world.user }),
  x_get_users_by_ids: () => ({ user_ids: [world.user, '2001000001'] }),
  x_post_thread: () => ({ tweets: ['The first of two', 'and the second'] }),
  x_post_thread_dry_run: () => ({ tweets: ['Not sent', 'not either'] }),
  x_post_tweet: () => ({ text: 'Another post of ours' }),
  x_post_tweet_dry_run: () => ({ text: 'Never sent' }),
  x_quote_tweet: () => ({ text: 'Worth reading', quoted_tweet_id: world.post }),
  x_reply_to_tweet: () => ({ text: 'Thanks for writing this', in_reply_to_id: world.post }),
  x_search_tweets: () => ({ query: 'outage' }),
  x_upload_media: () => ({ file_path: join(world.dataDir, 'media', 'dot.png'), alt_text: 'a dot' }),
});

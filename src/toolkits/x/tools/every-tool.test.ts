import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PERSON } from '../../../../test/support/kernel.ts';
import { dataOf, openXKit, type XKit } from '../../../../test/support/x-kit.ts';
import { startModel, type TestModel } from '../../../../test/support/x-model.ts';
import type { JsonObject } from '../../../contract/json.ts';
import { curatedTools } from '../tools.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

describe('every curated tool', () => {
  let kit: XKit;
  let model: TestModel;
  let ids: { post: string; user: string; own: string };

  beforeAll(async () => {
    model = await startModel(() => 'A plain answer that says something of its own.');
    kit = await openXKit({
      config: {
        business: {
          product_name: 'Tidepool',
          product_keywords: ['uptime', 'status'],
          industry_topics: ['monitoring'],
        },
        targets: { accounts: ['benno_ships'] },
        llm: model.settings,
      },
    });
    const found = await kit.data('x_search_tweets', { query: 'monitoring' });
    const [first] = found.tweets as { id: string; author_id: string }[];
    if (!first) throw new Error('the sandbox has no post on outages');
    const mine = await kit.data('x_post_tweet', { text: 'A post to work with' });
    ids = { post: first.id, user: first.author_id, own: String(mine.id) };
    mkdirSync(join(kit.dataDir, 'media'), { recursive: true });
    writeFileSync(join(kit.dataDir, 'media', 'dot.png'), PNG);
  });
  afterAll(async () => {
    await kit[Symbol.asyncDispose]();
    await model.close();
  });

  const pending = async (): Promise<number> => {
    const item = await kit.kernel.approvals.propose({
      tool: 'x_like_tweet',
      args: { tweet_id: ids.post },
      requester: { kind: 'agent', id: 'other' },
      reason: 'asked',
    });
    return item.id;
  };

  const CALLS: Record<string, () => JsonObject | Promise<JsonObject>> = {
    approve_item: async () => ({ id: await pending() }),
    reject_item: async () => ({ id: await pending() }),
    approve_all: async () => {
      await pending();
      return {};
    },
    cancel_draft: async () => ({
      id: (await kit.data('compose_tweet', { content: 'To be cancelled' })).id ?? 0,
    }),
    update_draft: async () => ({
      id: (await kit.data('compose_tweet', { content: 'To be edited' })).id ?? 0,
      content: 'Edited by a person',
      scheduled_for: '2026-03-01T09:15:00Z',
    }),
    compose_tweet: () => ({ content: 'A draft for later' }),
    draft_replies_for_candidates: () => ({ tweet_ids: [ids.post] }),
    find_reply_opportunities: () => ({ min_score: 0 }),
    generate_reply: () => ({ tweet_id: ids.post }),
    generate_thread: () => {
      model.answerOnce('First thought\n---\nSecond thought');
      return { topic: 'monitoring', num_tweets: 2 };
    },
    generate_thread_plan: () => {
      model.answerOnce('One\n---\nTwo\n---\nThree');
      return { topic: 'monitoring', target_tweets: 3 };
    },
    generate_tweet: () => ({ topic: 'monitoring', style: 'tip' }),
    get_author_context: () => ({ author_id: ids.user }),
    get_mutation_detail: async () => ({
      correlation_id: (await kit.call('x_bookmark_tweet', { tweet_id: ids.post })).callId,
    }),
    get_tweet_by_id: () => ({ tweet_id: ids.post }),
    propose_and_queue_replies: () => ({ drafts: [{ tweet_id: ids.post, text: 'A drafted reply to you' }] }),
    recommend_engagement_action: () => ({
      tweet_id: ids.post,
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
    x_bookmark_tweet: () => ({ tweet_id: ids.post }),
    x_unbookmark_tweet: () => ({ tweet_id: ids.post }),
    x_like_tweet: () => ({ tweet_id: ids.post }),
    x_unlike_tweet: () => ({ tweet_id: ids.post }),
    x_retweet: () => ({ tweet_id: ids.post }),
    x_unretweet: () => ({ tweet_id: ids.post }),
    x_follow_user: () => ({ target_user_id: ids.user }),
    x_unfollow_user: () => ({ target_user_id: ids.user }),
    x_delete_tweet: () => ({ tweet_id: ids.own }),
    x_get: () => ({ endpoint: '/2/users/me' }),
    x_post: () => ({ endpoint: '/2/users/2001000001/likes', body: JSON.stringify({ tweet_id: ids.post }) }),
    x_put: () => ({ endpoint: `/2/tweets/${ids.own}/hidden`, body: '{"hidden":true}' }),
    x_delete: () => ({ endpoint: `/2/users/2001000001/likes/${ids.post}` }),
    x_get_followers: () => ({ user_id: ids.user }),
    x_get_following: () => ({ user_id: ids.user }),
    x_get_liked_tweets: () => ({ user_id: ids.user, max_results: 2 }),
    x_get_tweet_liking_users: () => ({ tweet_id: ids.post }),
    x_get_user_by_id: () => ({ user_id: ids.user }),
    x_get_user_by_username: () => ({ username: '@benno_ships' }),
    x_get_user_tweets: () => ({ user_id: ids.user }),
    x_get_users_by_ids: () => ({ user_ids: [ids.user, '2001000001'] }),
    x_post_thread: () => ({ tweets: ['The first of two', 'and the second'] }),
    x_post_thread_dry_run: () => ({ tweets: ['Not sent', 'not either'] }),
    x_post_tweet: () => ({ text: 'Another post of ours' }),
    x_post_tweet_dry_run: () => ({ text: 'Never sent' }),
    x_quote_tweet: () => ({ text: 'Worth reading', quoted_tweet_id: ids.post }),
    x_reply_to_tweet: () => ({ text: 'Thanks for writing this', in_reply_to_id: ids.post }),
    x_search_tweets: () => ({ query: 'outage' }),
    x_upload_media: () => ({ file_path: join(kit.dataDir, 'media', 'dot.png'), alt_text: 'a dot' }),
  };

  it.each(curatedTools.map((tool) => [tool.name, tool] as const))(
    '%s answers as its output schema says',
    async (name, tool) => {
      const args = (await CALLS[name]?.()) ?? {};
      const who = tool.effect === 'decide' ? { principal: PERSON } : {};
      const result = await kit.call(name, args, who);
      if (name === 'x_put') {
        // Only replies to one's own conversation can be hidden; that X says so proves the request got there.
        expect(result.outcome).toMatchObject({ status: 'failed' });
        return;
      }
      // What cannot be undone waits for a person; approving runs exactly that call.
      const outcome =
        result.outcome.status === 'routed'
          ? (await kit.kernel.approvals.approve(result.outcome.approvalId, PERSON)).outcome
          : result.outcome;
      if (!outcome) throw new Error('the approved call was not run');
      const data = dataOf(outcome);
      expect(tool.output.parse(data)).toMatchObject({ ok: true });
    },
  );
});

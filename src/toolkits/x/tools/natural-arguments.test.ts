import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { codeOf, openXKit, type XKit } from '../test/support/kit.ts';

describe('arguments as agents naturally write them', () => {
  let kit: XKit;
  beforeEach(async () => {
    kit = await openXKit({ config: { business: { product_keywords: ['monitoring'] } } });
  });
  afterEach(() => kit[Symbol.asyncDispose]());

  const faultOf = async (tool: string, args: Parameters<XKit['call']>[1]): Promise<string> => {
    const { outcome } = await kit.call(tool, args);
    expect(codeOf(outcome)).toBe('invalid_input');
    return 'fault' in outcome ? outcome.fault.message : '';
  };

  it('score_tweet takes a post of x_search_tweets', async () => {
    const { tweets } = await kit.data('x_search_tweets', { query: 'monitoring' });
    const [tweet] = tweets as { author: { username: string } }[];
    if (!tweet) throw new Error('nothing was found');
    const score = await kit.data('score_tweet', { tweet: tweet as never });
    expect(score).toMatchObject({ author_username: tweet.author.username });
    expect(Number(score.keyword_relevance)).toBeGreaterThan(0);
    expect(await faultOf('score_tweet', { tweet: { text: 'alone' } })).toContain('author_followers');
  });

  it('x_post takes a body as an object, and the approval and the post are the same as for text', async () => {
    const text = 'Sent as an object';
    const [asObject, asText] = [{ text }, JSON.stringify({ text })];
    const dry = await kit.second({ policy: { dry_run_mutations: true } });
    const shown = [asObject, asText].map((body) => dry.call('x_post', { endpoint: '/2/tweets', body }));
    const [one, two] = (await Promise.all(shown)).map(({ outcome }) => outcome);
    expect(one?.status).toBe('dry_run');
    expect(one).toEqual(two);
    await kit.data('x_post', { endpoint: '/2/tweets', body: asObject });
    expect(await kit.posted()).toEqual([text]);
    expect(await faultOf('x_post', { endpoint: '/2/tweets', body: 5 })).toContain('"text"');
  });

  it('x_get takes numbers and booleans in query_params', async () => {
    const reply = await kit.data('x_get', {
      endpoint: '/2/tweets/search/recent',
      query_params: { query: 'monitoring', max_results: 10 },
    });
    expect(reply.status).toBe(200);
  });

  it('x_post_thread takes a plain list of media for its first part', async () => {
    const tweets = ['One part about media', 'Another part about media'];
    const preview = await kit.data('x_post_thread_dry_run', { tweets, media_ids: ['1', '2'] });
    expect(preview.tweets).toMatchObject([{ media_ids: ['1', '2'] }, {}]);
    expect(await faultOf('x_post_thread_dry_run', { tweets, media_ids: '1' })).toContain('[["1"]');
  });

  it.each([[['1']], [[{ media_id: '1' }]], ['1']])(
    'a direct message takes attachments as %j',
    async (attachments) => {
      const { outcome } = await kit.call('x_v2_dm_send_to_participant', {
        participant_id: '2001000002',
        text: 'Hello',
        attachments: attachments as never,
      });
      // The sandbox has no such media, and says so about that very ID.
      expect(outcome.status === 'ok' || codeOf(outcome) !== 'invalid_input').toBe(true);
    },
  );

  it('says which shape attachments have when they have another', async () => {
    const args = { participant_id: '2001000002', text: 'Hello', attachments: { media: '1' } };
    expect(await faultOf('x_v2_dm_send_to_participant', args)).toContain('["1", "2"]');
  });
});

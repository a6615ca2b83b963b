import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../contract/json.ts';
import { CURATED_IDS, GENERATED_IDS } from '../endpoints/ids.ts';
import { ALL_ENDPOINTS } from '../endpoints/table.ts';
import { fakeClock, openXStore, startXWorld, type XWorld } from '../test/support/sandbox.ts';
import { HANDLERS } from './handlers/index.ts';
import { seedWorld } from './seed/seed.ts';

const OWN = '2001000001';

interface Page {
  readonly data?: {
    readonly id: string;
    readonly text?: string;
    readonly username?: string;
    readonly author_id?: string;
  }[];
  readonly meta?: { readonly next_token?: string; readonly result_count: number };
}

describe('the sandbox', () => {
  let world: XWorld;
  beforeAll(async () => {
    world = await startXWorld();
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
  });

  const get = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${world.sandbox.url}${path}`, {
      headers: { authorization: `Bearer ${world.sandbox.credentials.user_token}`, ...headers },
    });
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as Record<string, unknown>,
    };
  };
  const page = async (...args: Parameters<XWorld['api']['request']>) =>
    (await world.api.request(...args)).json as unknown as Page;

  it('answers every endpoint of the table', () => {
    expect(Object.keys(HANDLERS).sort()).toEqual([...CURATED_IDS, ...GENERATED_IDS].sort());
    expect(ALL_ENDPOINTS).toHaveLength(CURATED_IDS.length + GENERATED_IDS.length);
  });

  it('answers the documented example post with the documented numbers', async () => {
    const { json } = await world.api.request('tweet_by_id', { tweet_id: '1234567890' });
    expect(json).toMatchObject({
      data: {
        id: '1234567890',
        text: 'Hello world',
        author_id: '987654321',
        public_metrics: { retweet_count: 5, reply_count: 2, like_count: 10 },
      },
      includes: { users: [{ username: 'hello_world' }] },
    });
  });

  it('has the same world for the same clock, and another time for another', () => {
    const { now } = fakeClock();
    expect(seedWorld(now())).toEqual(seedWorld(now()));
    expect(seedWorld(now())).not.toEqual(seedWorld(new Date(0)));
  });

  it('sends only the fields that were asked for', async () => {
    const bare = await get('/2/tweets/1234567890');
    expect(Object.keys(bare.body.data as object).sort()).toEqual(['edit_history_tweet_ids', 'id', 'text']);
    const more = await get('/2/tweets/1234567890?tweet.fields=lang,created_at');
    expect(Object.keys(more.body.data as object).sort()).toEqual([
      'created_at',
      'edit_history_tweet_ids',
      'id',
      'lang',
      'text',
    ]);
    expect(more.body.includes).toBeUndefined();
  });

  it('pages through a timeline without losing or repeating a post', async () => {
    const all = await page('home_timeline', { max_results: 100 });
    const seen: string[] = [];
    let token: string | undefined;
    do {
      const part = await page('home_timeline', {
        max_results: 7,
        ...(token ? { pagination_token: token } : {}),
      });
      seen.push(...(part.data ?? []).map(({ id }) => id));
      token = part.meta?.next_token;
    } while (token);
    expect(seen).toEqual((all.data ?? []).map(({ id }) => id));
    expect(seen.length).toBeGreaterThan(20);
  });

  it('keeps muted and unfollowed people out of the home timeline', async () => {
    const { data = [] } = await page('home_timeline', { max_results: 100 });
    const following = await page('following', { user_id: OWN });
    const known = new Set([OWN, ...(following.data ?? []).map(({ id }) => id)]);
    expect(data.filter(({ author_id = '' }) => !known.has(author_id))).toEqual([]);
  });

  it('answers mentions since an id', async () => {
    const { data = [] } = await page('user_mentions', { max_results: 100 });
    expect(data.length).toBeGreaterThan(5);
    const third = data[2];
    const newer = await page('user_mentions', { since_id: String(third?.id) });
    expect((newer.data ?? []).map(({ id }) => id)).toEqual(data.slice(0, 2).map(({ id }) => id));
  });

  it.each([
    ['uptime', (text: string) => /uptime/i.test(text)],
    ['"status page"', (text: string) => /status page/i.test(text)],
    ['from:sofia_sql', () => true],
    ['#sre', (text: string) => /#sre/.test(text)],
    ['dns OR uptime', (text: string) => /dns|uptime/i.test(text)],
    ['(dns OR uptime) -from:indie_ines', (text: string) => /dns|uptime/i.test(text)],
    ['@adamarsh_dev is:reply', (text: string) => text.includes('@adamarsh_dev')],
    ['has:hashtags lang:en', (text: string) => /#\w/.test(text)],
  ])('finds posts by %s', async (query, fits) => {
    const { data = [] } = await page('search_recent', { query, max_results: 100 });
    expect(data.length).toBeGreaterThan(0);
    expect(data.filter(({ text = '' }) => !fits(text))).toEqual([]);
    if (query.includes('-from:indie_ines'))
      expect(data.filter(({ author_id }) => author_id === '2001000010')).toEqual([]);
  });

  it('searches the last seven days only, and refuses a query it cannot read', async () => {
    const { data } = await page('search_recent', { query: 'sticky note' });
    expect(data).toBeUndefined();
    for (const query of ['(a', 'nonsense:x', 'a OR']) {
      await expect(world.api.request('search_recent', { query })).rejects.toMatchObject({
        code: 'x_api_error',
      });
    }
  });

  it('refuses what the table does not know, naming it', async () => {
    const { status, body } = await get('/2/tweets/1234567890?colour=red');
    expect(status).toBe(400);
    expect(body).toMatchObject({
      title: 'Invalid Request',
      errors: [{ parameters: { colour: ['red'] }, message: expect.stringContaining('is not one of') }],
    });
    expect((await get('/2/users/x!')).status).toBe(400);
    expect((await get('/2/tweets/search/recent')).body).toMatchObject({
      errors: [{ message: expect.stringContaining('query') }],
    });
    expect((await get('/2/elsewhere')).status).toBe(404);
  });

  it('refuses strangers, the wrong kind of token, and other people’s accounts', async () => {
    expect((await get('/2/users/me', { authorization: 'Bearer nobody' })).status).toBe(401);
    expect((await get('/2/usage/tweets')).body).toMatchObject({
      title: 'Unsupported Authentication',
      status: 403,
    });
    expect((await get('/2/users/987654321/bookmarks')).body).toMatchObject({
      errors: [{ message: expect.stringContaining('authenticating user') }],
    });
  });

  it('refuses a page of the web whose name was rebound to this machine', async () => {
    const { authority, port } = { authority: 'evil.example', port: new URL(world.sandbox.url).port };
    const status = await new Promise((resolve, reject) => {
      request({ host: '127.0.0.1', port, path: '/2/users/me', headers: { host: authority } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on('error', reject)
        .end();
    });
    expect(status).toBe(403);
  });

  it('asks a narrow token for the scopes of the endpoint', async () => {
    const { access_token } = await world.sandbox.control('token', { scopes: ['tweet.read'] });
    const { status, body } = await get('/2/users/me', { authorization: `Bearer ${String(access_token)}` });
    expect(status).toBe(403);
    expect(body.detail).toContain('users.read');
  });

  it('checks the OAuth 1.0a signature of the Ads API', async () => {
    expect(
      (await world.api.request('x_ads_campaigns', { account_id: '18ce54d4x5t', with_deleted: true })).json,
    ).toMatchObject({ total_count: 3 });
    const forged =
      'OAuth oauth_consumer_key="sandbox-consumer-key", oauth_token="sandbox-access-token", oauth_timestamp="1772020800", oauth_signature="AAAA"';
    expect(
      (await get('/12/accounts', { authorization: forged, 'x-sandbox-host': 'ads-api.x.com' })).status,
    ).toBe(401);
    expect((await get('/12/accounts', { 'x-sandbox-host': 'ads-api.x.com' })).status).toBe(403);
  });

  it('says how much of a limit is left', async () => {
    const { headers } = await get('/2/lists/1500000000000000101');
    expect([headers.get('x-rate-limit-limit'), headers.get('x-rate-limit-reset')]).toEqual([
      '75',
      '1772021700',
    ]);
    expect(Number(headers.get('x-rate-limit-remaining'))).toBeLessThan(75);
  });

  it('hides private lists and protected accounts from the wrong eyes', async () => {
    expect((await world.api.request('follow', { target_user_id: '2001000020' })).json).toEqual({
      data: { following: false, pending_follow: true },
    });
    await expect(world.api.request('x_v2_spaces_buyers', { id: '1OyKAVQrgzwGb' })).rejects.toMatchObject({
      code: 'x_forbidden',
    });
    await expect(
      world.api.request('x_v2_lists_update', { id: '1500000000000000104', name: 'Mine' }),
    ).rejects.toMatchObject({ code: 'x_forbidden' });
    await expect(world.api.request('delete_tweet', { tweet_id: '1234567890' })).rejects.toMatchObject({
      code: 'x_forbidden',
    });
  });
});

describe('changes in the sandbox', () => {
  it('show in everything that depends on them', async () => {
    await using world = await startXWorld();
    const { api } = world;
    const { json } = await api.request('create_tweet', { text: 'Hello back', in_reply_to_id: '1234567890' });
    const { id } = (json as { data: { id: string } }).data;
    expect((await api.request('tweet_by_id', { tweet_id: '1234567890' })).json).toMatchObject({
      data: { public_metrics: { reply_count: 3 } },
    });
    expect((await api.request('tweet_by_id', { tweet_id: id })).json).toMatchObject({
      data: {
        conversation_id: '1234567890',
        in_reply_to_user_id: '987654321',
        referenced_tweets: [{ type: 'replied_to', id: '1234567890' }],
      },
    });
    await api.request('like', { tweet_id: '1234567890' });
    expect((await api.request('tweet_by_id', { tweet_id: '1234567890' })).json).toMatchObject({
      data: { public_metrics: { like_count: 11 } },
    });
    await api.request('retweet', { tweet_id: '1234567890' });
    await expect(api.request('retweet', { tweet_id: '1234567890' })).rejects.toMatchObject({
      code: 'x_forbidden',
    });
    const timeline = (await api.request('user_tweets', { user_id: OWN, max_results: 5 })).json;
    expect(timeline).toHaveProperty('data.0.text', 'RT @hello_world: Hello world');
    expect(timeline).toHaveProperty('data.1.id', id);
    await api.request('unretweet', { tweet_id: '1234567890' });
    await api.request('delete_tweet', { tweet_id: id });
    expect((await api.request('tweet_by_id', { tweet_id: '1234567890' })).json).toMatchObject({
      data: { public_metrics: { reply_count: 2, retweet_count: 5 } },
    });
    await expect(api.request('tweet_by_id', { tweet_id: id })).rejects.toMatchObject({ code: 'not_found' });
  });

  it('refuses the same words again for a day', async () => {
    await using world = await startXWorld();
    await world.api.request('create_tweet', { text: 'once' });
    await expect(world.api.request('create_tweet', { text: 'once' })).rejects.toMatchObject({
      code: 'x_forbidden',
      message: expect.stringContaining('duplicate'),
    });
    world.clock.advance(25 * 3_600_000);
    await world.api.request('create_tweet', { text: 'once' });
  });

  it('lets others act, so that mentions and messages arrive', async () => {
    await using world = await startXWorld();
    const { id } = await world.sandbox.control('post_as', {
      username: 'benno_ships',
      text: '@adamarsh_dev are you there?',
    });
    expect((await world.api.request('user_mentions', { max_results: 5 })).json).toHaveProperty(
      'data.0.id',
      id,
    );
    await world.sandbox.control('message_from', { username: 'lena_learns', text: 'psst' });
    expect((await world.api.request('x_v2_dm_events', { max_results: 1 })).json).toMatchObject({
      data: [{ text: 'psst', sender_id: '2001000005' }],
    });
    await expect(world.sandbox.control('post_as', { username: 'nobody', text: 'x' })).rejects.toThrow(
      'nobody',
    );
    await expect(world.sandbox.control('dance')).rejects.toThrow('dance');
  });

  it('refuses words the Ads API does not know, as it does', async () => {
    await using world = await startXWorld();
    const account_id = '18ce54d4x5t';
    const line = { account_id, campaign_id: '8wku2', bid_amount_local_micro: 1, objective: 'REACH' };
    const wrong = { ...line, product_type: 'MEDIA', placements: 'EVERYWHERE' };
    const times = { start_time: '2026-03-01T00:00:00Z', end_time: '2026-03-09T00:00:00Z' };
    await expect(world.api.request('x_ads_line_item_create', { ...wrong, ...times })).rejects.toMatchObject({
      code: 'x_api_error',
      message: expect.stringContaining('EVERYWHERE'),
    });
    const day = { start_time: '2026-02-22T23:00:00Z', end_time: '2026-02-23T23:00:00Z' };
    const stats = { account_id, entity_ids: '8wku2', metric_groups: 'WEATHER', ...day };
    await expect(world.api.request('x_ads_analytics', stats)).rejects.toMatchObject({
      code: 'x_api_error',
      message: expect.stringContaining('WEATHER'),
    });
  });

  it('counts ads so that the numbers hold together: days add up, and nothing runs before it was made', async () => {
    await using world = await startXWorld();
    const account_id = '18ce54d4x5t';
    const fresh = { account_id, name: 'New', funding_instrument_id: 'lygyi', status: 'ACTIVE' };
    const { json } = await world.api.request('x_ads_campaign_create', fresh);
    const { id } = (json as { data: { id: string } }).data;
    const stats = async (granularity: string) => {
      const week = { start_time: '2026-02-17T23:00:00Z', end_time: '2026-02-24T23:00:00Z' };
      const ids = { entity_ids: `8wku2,${id}`, metric_groups: 'ENGAGEMENT,BILLING' };
      const answer = await world.api.request('x_ads_analytics', { account_id, granularity, ...ids, ...week });
      const { data } = answer.json as { data: { id_data: { metrics: Record<string, number[]> }[] }[] };
      return data.map(({ id_data }) => id_data[0]?.metrics ?? {});
    };
    const sums = (metrics: Record<string, number[]> = {}) =>
      Object.fromEntries(
        Object.entries(metrics).map(([name, row]) => [name, row.reduce((a, b) => a + b, 0)]),
      );
    const [[days, unborn], [whole]] = [await stats('DAY'), await stats('TOTAL')];
    expect(sums(days)).toEqual(sums(whole));
    const { impressions = 0, engagements = 0, likes = 0, ...rest } = sums(whole);
    expect(engagements).toBeGreaterThan(likes);
    expect(impressions).toBeGreaterThan(engagements);
    expect(rest.billed_engagements).toBeLessThanOrEqual(engagements);
    expect(Object.values(sums(unborn)).every((sum) => sum === 0)).toBe(true);
  });

  it('shows of a conversation the fields asked for, with its people where they are wanted', async () => {
    await using world = await startXWorld();
    const ask = async (id: 'x_v2_dm_conversations' | 'x_v2_dm_conversation_by_id', params: JsonObject) =>
      (await world.api.request(id, params)).json as { data: JsonObject; includes?: { users: JsonObject[] } };
    const id = '1600000000000000001';
    const bare = await ask('x_v2_dm_conversation_by_id', { id, dm_event_fields: 'id' });
    expect(bare).toEqual({ data: { id, conversation_type: 'Group' } });
    const people = await ask('x_v2_dm_conversation_by_id', { id, expansions: 'participant_ids' });
    expect(people.data).toMatchObject({ created_at: expect.any(String) });
    expect(people.includes?.users.map((user) => user.id)).toEqual(people.data.participant_ids);
    const [first] = (await ask('x_v2_dm_conversations', { dm_event_fields: 'created_at' }))
      .data as unknown as JsonObject[];
    expect(Object.keys(first ?? {}).sort()).toEqual(['conversation_type', 'created_at', 'id']);
  });

  it('enforces limits and lifts them when the window ends', async () => {
    await using world = await startXWorld();
    const send = (text: string) =>
      world.api.request('x_v2_dm_send_to_participant', { participant_id: '2001000002', text });
    for (let index = 0; index < 15; index++) await send(`message ${index}`);
    await expect(send('one too many')).rejects.toMatchObject({
      code: 'x_rate_limited',
      resetAt: new Date('2026-02-25T12:15:00Z'),
    });
    world.clock.advance(900_000);
    await send('a new window');
  });

  it('produces scripted faults where and when requested', async () => {
    await using world = await startXWorld();
    await world.sandbox.control('fault', {
      kind: 'forbidden',
      endpoint: 'create_tweet',
      skip: 2,
      times: 1,
      detail: 'Not today',
    });
    await world.api.request('me', {});
    for (const text of ['1', '2']) await world.api.request('create_tweet', { text });
    await expect(world.api.request('create_tweet', { text: '3' })).rejects.toMatchObject({
      message: expect.stringContaining('Not today'),
    });
    await world.api.request('create_tweet', { text: '3' });
    await world.sandbox.control('fault', { kind: 'slow', method: 'GET', ms: 5 });
    await world.sandbox.control('fault', { kind: 'usage_capped', path: '/2/tweets/search' });
    expect((await world.api.request('me', {})).status).toBe(200);
    await expect(world.api.request('search_recent', { query: 'a' })).rejects.toMatchObject({
      code: 'x_rate_limited',
      retryable: false,
    });
    await world.sandbox.control('fault', { kind: 'server_error', times: 9 });
    expect(await world.sandbox.control('clear_faults')).toEqual({ cleared: 1 });
  });

  it('distinguishes adding stream rules from deleting them by the body', async () => {
    await using world = await startXWorld();
    await world.api.request('x_v2_stream_rules_add', { rules: [{ value: 'dns' }] });
    await world.api.request('x_v2_stream_rules_delete', {
      rule_ids: ['1700000000000000201', '1700000000000000202'],
    });
    expect((await world.api.request('x_v2_stream_rules_list', {})).json).toMatchObject({
      data: [{ value: 'dns' }],
      meta: { result_count: 1 },
    });
  });

  it('moves compliance jobs along by the clock', async () => {
    await using world = await startXWorld();
    const { json } = await world.api
      .request('x_v2_compliance_job_create', { type: 'users' })
      .catch(() => ({ json: null }));
    const statusOf = async () => {
      const { id } = (json as { data: { id: string } }).data;
      return (
        (await world.api.request('x_v2_compliance_job_by_id', { id })).json as { data: { status: string } }
      ).data.status;
    };
    const statuses = [await statusOf()];
    for (const minutes of [6, 15]) {
      world.clock.advance(minutes * 60_000);
      statuses.push(await statusOf());
    }
    expect(statuses).toEqual(['created', 'in_progress', 'complete']);
  });
});

describe('the state of the sandbox', () => {
  it('survives a restart and goes back to the beginning on reset', async () => {
    const store = await openXStore();
    const clock = fakeClock();
    {
      await using world = await startXWorld({ store, clock });
      await world.api.request('create_tweet', { text: 'remember me' });
    }
    await using world = await startXWorld({ store, clock });
    expect((await world.api.request('user_tweets', { user_id: OWN, max_results: 5 })).json).toMatchObject({
      data: [{ text: 'remember me' }, {}, {}, {}, {}],
    });
    const before = await world.sandbox.control('summary');
    await world.sandbox.reset();
    const after = await world.sandbox.control('summary');
    expect(after.own_posts).toBe(Number(before.own_posts) - 1);
    expect((await world.api.request('search_recent', { query: '"remember me"' })).json).toEqual({
      meta: { result_count: 0 },
    });
    await store.close();
  });

  it('is one for any number of servers: all changes arrive, ids differ, everyone sees everything', async () => {
    const store = await openXStore();
    const clock = fakeClock();
    const worlds = await Promise.all([1, 2, 3].map(() => startXWorld({ store, clock })));
    const sent = await Promise.all(
      worlds.flatMap((world, server) =>
        Array.from({ length: 8 }, (_, index) =>
          world.api.request('create_tweet', { text: `server ${server} post ${index}` }),
        ),
      ),
    );
    const ids = new Set(sent.map(({ json }) => (json as { data: { id: string } }).data.id));
    expect(ids.size).toBe(24);
    for (const world of worlds) {
      const { json } = await world.api.request('user_tweets', { user_id: OWN, max_results: 24 });
      expect(new Set((json as { data: { id: string }[] }).data.map(({ id }) => id))).toEqual(ids);
    }
    await worlds[0]?.sandbox.reset();
    expect((await worlds[2]?.sandbox.control('summary'))?.own_posts).toBe(
      (await worlds[0]?.sandbox.control('summary'))?.own_posts,
    );
    for (const world of worlds) await world[Symbol.asyncDispose]();
    await store.close();
  });
});

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Kysely } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../contract/json.ts';
import { fakeClock, freeLeases, openXStore, silentLog, type XStore } from '../test/support/sandbox.ts';
import type { XApi, XApiSettings } from './api.ts';
import { connectX } from './connect.ts';
import type { XClientTables } from './store.ts';

const USER = {
  __typename: 'User',
  rest_id: '42',
  is_blue_verified: true,
  core: { name: 'Benno Falk', screen_name: 'benno_ships', created_at: 'Wed Feb 25 12:00:00 +0000 2015' },
  legacy: {
    name: 'Benno Falk',
    screen_name: 'benno_ships',
    description: 'Ships.',
    followers_count: 5,
    friends_count: 6,
    statuses_count: 7,
    listed_count: 1,
    favourites_count: 2,
  },
};

const tweet = (id: string, text: string) => ({
  __typename: 'Tweet',
  rest_id: id,
  core: { user_results: { result: USER } },
  views: { count: '99' },
  legacy: {
    id_str: id,
    user_id_str: '42',
    conversation_id_str: id,
    full_text: text,
    created_at: 'Wed Feb 25 11:00:00 +0000 2026',
    favorite_count: 3,
    retweet_count: 2,
    reply_count: 1,
    bookmark_count: 0,
    entities: { hashtags: [], urls: [], user_mentions: [] },
  },
});

const timeline = (...tweets: ReturnType<typeof tweet>[]) => ({
  instructions: [
    {
      type: 'TimelineAddEntries',
      entries: [
        ...tweets.map((each) => ({
          entryId: `tweet-${each.rest_id}`,
          content: {
            entryType: 'TimelineTimelineItem',
            itemContent: {
              itemType: 'TimelineTweet',
              tweetDisplayType: 'Tweet',
              tweet_results: { result: each },
            },
          },
        })),
        {
          entryId: 'cursor-bottom-1',
          content: { entryType: 'TimelineTimelineCursor', cursorType: 'Bottom', value: 'NEXT' },
        },
      ],
    },
  ],
});

/** What a browser would get, by operation. */
const ANSWERS: Readonly<
  Record<string, (variables: Record<string, unknown>) => { status?: number; body: unknown }>
> = {
  UserByScreenName: ({ screen_name }) =>
    screen_name === 'nobody'
      ? { body: { errors: [{ message: 'User not found' }], data: {} } }
      : screen_name === 'limited'
        ? { status: 429, body: { errors: [{ message: 'Rate limit exceeded' }] } }
        : { body: { data: { user: { result: USER } } } },
  TweetResultByRestId: ({ tweetId }) => ({
    body: {
      data: { tweetResult: tweetId === '404' ? {} : { result: tweet(String(tweetId), 'Hello from a page') } },
    },
  }),
  TweetDetail: ({ focalTweetId }) => ({
    body: {
      data: {
        threaded_conversation_with_injections_v2: timeline(tweet(String(focalTweetId), 'Hello to a member')),
      },
    },
  }),
  UserTweets: ({ cursor }) => {
    const tweets = cursor ? [] : [tweet('1002', 'newer'), tweet('1001', 'older')];
    return { body: { data: { user: { result: { timeline: { timeline: timeline(...tweets) } } } } } };
  },
  SearchTimeline: () => ({
    body: {
      data: {
        search_by_raw_query: { search_timeline: { timeline: timeline(tweet('1003', 'found uptime')) } },
      },
    },
  }),
};

describe('the scraper backend', () => {
  let server: Server;
  let store: XStore;
  let asked: string[] = [];
  let origin: string;

  beforeAll(async () => {
    server = createServer((request, response) => {
      const url = new URL(request.url ?? '/', 'http://x');
      const operation = url.pathname.split('/').at(-1) ?? '';
      asked.push(operation);
      const answer = ANSWERS[operation]?.(JSON.parse(url.searchParams.get('variables') ?? '{}')) ?? {
        body: {},
      };
      response.writeHead(answer.status ?? 200, {
        'content-type': 'application/json',
        'x-rate-limit-reset': '1772024400',
      });
      response.end(JSON.stringify(answer.body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    store = await openXStore();
  });
  afterAll(async () => {
    await store.close();
    await new Promise((resolve) => server.close(resolve));
  });
  beforeEach(() => {
    asked = [];
  });

  const connect = (settings: XApiSettings = {}): Promise<XApi> =>
    connectX({
      settings: { provider_backend: 'scraper', ...settings },
      dataDir: '/nonexistent',
      db: store.db as unknown as Kysely<XClientTables>,
      leases: freeLeases,
      log: silentLog,
      now: fakeClock().now,
      // The library's own requests, over real HTTP, to a page server of ours.
      scraperFetch: (input, init) => {
        const { pathname, search } = new URL(input instanceof Request ? input.url : String(input));
        return fetch(`${origin}${pathname}${search}`, init);
      },
    });

  it('says what it is in the documented words', async () => {
    expect((await connect()).provider).toEqual({
      backend: 'scraper',
      mutations_available: false,
      risk_level: 'elevated',
      data_confidence: 'medium',
      unsupported_methods: ['get_user_mentions', 'get_home_timeline', 'get_me', 'get_bookmarks'],
      note: 'Scraper backend (read-only). Mutations blocked by default.',
    });
  });

  it('reads posts and users in the shapes of the X API', async () => {
    const api = await connect();
    expect((await api.request('tweet_by_id', { tweet_id: '7' })).json).toMatchObject({
      data: {
        id: '7',
        text: 'Hello from a page',
        author_id: '42',
        created_at: '2026-02-25T11:00:00.000Z',
        public_metrics: { like_count: 3, retweet_count: 2, reply_count: 1, impression_count: 99 },
      },
      includes: { users: [{ id: '42', username: 'benno_ships' }] },
    });
    expect((await api.request('user_by_username', { username: '@benno_ships' })).json).toMatchObject({
      data: {
        id: '42',
        username: 'benno_ships',
        name: 'Benno Falk',
        public_metrics: { followers_count: 5, following_count: 6, tweet_count: 7 },
      },
    });
    expect((await api.request('user_by_id', { user_id: '42' })).json).toMatchObject({
      data: { username: 'benno_ships' },
    });
    expect((await api.request('users_by_ids', { user_ids: ['42'] })).json).toMatchObject({
      data: [{ id: '42' }],
      meta: { result_count: 1 },
    });
    const { json } = await api.request('user_tweets', { user_id: '42', max_results: 5, since_id: '1001' });
    expect(json).toMatchObject({ data: [{ id: '1002' }], meta: { result_count: 1 } });
    expect((await api.usage(new Date(0))).map(({ endpoint }) => endpoint)).toContain('user_by_id');
  });

  it('searches with the cookies of a signed-in browser, and says so without them', async () => {
    await expect((await connect()).request('search_recent', { query: 'uptime' })).rejects.toMatchObject({
      code: 'x_auth_expired',
      message: expect.stringContaining('scraper_cookies'),
    });
    const api = await connect({ scraper_cookies: 'auth_token=a; ct0=b' });
    expect((await api.request('search_recent', { query: 'uptime', max_results: 10 })).json).toMatchObject({
      data: [{ id: '1003', text: 'found uptime' }],
      meta: { next_token: 'NEXT' },
    });
    expect((await api.request('tweet_by_id', { tweet_id: '7' })).json).toMatchObject({
      data: { id: '7', text: 'Hello to a member' },
    });
  });

  it('maps what goes wrong to the documented codes', async () => {
    const api = await connect();
    await expect(api.request('tweet_by_id', { tweet_id: '404' })).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(api.request('user_by_username', { username: 'nobody' })).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(api.request('user_by_username', { username: 'limited' })).rejects.toMatchObject({
      code: 'x_rate_limited',
      resetAt: new Date('2026-02-25T13:00:00Z'),
    });
    await expect(api.request('tweet_by_id', { tweet_id: 'x' })).rejects.toMatchObject({
      code: 'validation_error',
    });
  });

  it.each(['me', 'user_mentions', 'home_timeline', 'bookmarks', 'liking_users', 'x_v2_dm_events'] as const)(
    'cannot read %s and says what could',
    async (endpoint) => {
      const params: JsonObject = endpoint === 'liking_users' ? { tweet_id: '1' } : {};
      await expect((await connect()).request(endpoint, params)).rejects.toMatchObject({
        code: 'x_forbidden',
        message: expect.stringContaining('x_api'),
      });
      expect(asked).toEqual([]);
    },
  );

  it('is x_network_error, retryable and tried three times, when the network fails', async () => {
    let tries = 0;
    const api = await connectX({
      settings: { provider_backend: 'scraper' },
      dataDir: '/nonexistent',
      db: (await openXStore()).db as never,
      leases: freeLeases,
      log: silentLog,
      now: () => new Date(),
      sleep: async () => {},
      scraperFetch: async () => {
        tries += 1;
        throw new TypeError('fetch failed', {
          cause: Object.assign(new Error('reset'), { code: 'ECONNRESET' }),
        });
      },
    });
    await expect(api.request('user_by_username', { username: 'x' })).rejects.toMatchObject({
      code: 'x_network_error',
      retryable: true,
    });
    expect(tries).toBeGreaterThanOrEqual(3);
  });

  it('sends no change and says so with one code, whether changes are allowed or not', async () => {
    const blocked = await connect();
    const allowed = await connect({ scraper_allow_mutations: true });
    const file = { bytes: new Uint8Array(1), mediaType: 'image/png', category: 'tweet_image' } as const;
    for (const attempt of [
      (api: XApi) => api.request('create_tweet', { text: 'x' }),
      (api: XApi) => api.request('like', { tweet_id: '1' }),
      (api: XApi) => api.raw({ method: 'POST', endpoint: '/2/tweets', body: {} }),
      (api: XApi) => api.uploadMedia(file),
    ]) {
      await expect(attempt(blocked)).rejects.toMatchObject({
        code: 'scraper_mutation_blocked',
        retryable: false,
        effect: 'none',
      });
      await expect(attempt(allowed)).rejects.toMatchObject({
        code: 'scraper_mutation_blocked',
        retryable: false,
        effect: 'none',
      });
    }
    expect(asked).toEqual([]);
    expect(allowed.provider.note).toContain('offers none');
  });
});

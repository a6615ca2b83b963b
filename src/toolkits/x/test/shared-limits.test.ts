import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { codeOf, type XProcess } from './support/kit.ts';
import { openXPlace, type XPlace } from './support/place.ts';
import { type Delivery, openSignedInKit, type SignedInKit } from './support/signed-in.ts';
import { startXWire, type XWire } from './support/wire.ts';

const RESET_IN_S = 600;

describe('a rate limit of X on a database with two processes', () => {
  let world: SignedInKit;
  /** Requests that X refuses with 429. */
  let limited: string[] = [];
  let headers: (reset: number) => Record<string, string>;

  const open = async (): Promise<void> => {
    limited = [];
    headers = (reset) => ({
      'x-rate-limit-limit': '100',
      'x-rate-limit-remaining': '0',
      'x-rate-limit-reset': String(reset),
    });
    world = await openSignedInKit({
      before({ method, path }): Delivery | undefined {
        if (!limited.includes(`${method} ${path}`)) return undefined;
        const reset = world.kit.clock.now().getTime() / 1000 + RESET_IN_S;
        return { status: 429, headers: headers(reset), json: { title: 'Too Many Requests', status: 429 } };
      },
    });
  };
  afterEach(() => world.close());

  const search = { query: 'boats' };
  const SEARCH = 'GET /2/tweets/search/recent';
  const POST = 'POST /2/tweets';
  const times = (request: string): number => world.sent.filter((one) => one === request).length;

  it('stops the reads of the other process until the reset, even of one that has just read', async () => {
    await open();
    const other = await world.kit.second();
    expect((await other.call('x_search_tweets', search)).outcome.status).toBe('ok');
    limited = [SEARCH];
    expect(codeOf((await world.kit.call('x_search_tweets', search)).outcome)).toBe('x_rate_limited');
    expect(times(SEARCH)).toBe(2);
    const { outcome } = await other.call('x_search_tweets', search);
    expect(outcome).toMatchObject({
      fault: { code: 'x_rate_limited', resetAt: new Date('2026-02-25T12:10:00.000Z') },
    });
    expect(times(SEARCH)).toBe(2);

    limited = [];
    world.kit.clock.advance((RESET_IN_S + 1) * 1000);
    expect((await other.call('x_search_tweets', search)).outcome.status).toBe('ok');
    expect(times(SEARCH)).toBe(3);
  });

  it('stops the changes of the other process immediately', async () => {
    await open();
    const other = await world.kit.second();
    expect((await other.call('x_post_tweet', { text: 'Before the limit' })).outcome.status).toBe('ok');
    limited = [POST];
    expect(codeOf((await world.kit.call('x_post_tweet', { text: 'Hits the limit' })).outcome)).toBe(
      'x_rate_limited',
    );
    expect(codeOf((await other.call('x_post_tweet', { text: 'Must not be sent' })).outcome)).toBe(
      'x_rate_limited',
    );
    expect(times(POST)).toBe(2);
    limited = [];
    world.kit.clock.advance((RESET_IN_S + 1) * 1000);
    expect((await other.call('x_post_tweet', { text: 'After the reset' })).outcome.status).toBe('ok');
  });

  it.each([
    [
      'the limit per day',
      (reset: number) => ({
        'x-user-limit-24hour-remaining': '0',
        'x-user-limit-24hour-reset': String(reset),
      }),
    ],
    ['retry-after alone', () => ({ 'retry-after': String(RESET_IN_S) })],
  ])('holds for both when X names %s', async (_name, named) => {
    await open();
    headers = named;
    limited = [POST];
    const other = await world.kit.second();
    await world.kit.call('x_post_tweet', { text: 'Hits the limit' });
    await other.call('x_post_tweet', { text: 'Must not be sent' });
    expect(times(POST)).toBe(1);
  });

  it('holds for universal requests too, each by its own address', async () => {
    await open();
    const other = await world.kit.second();
    limited = ['GET /2/insights/28hr', SEARCH];
    const read = (process: XProcess, endpoint: string) => process.call('x_get', { endpoint });
    expect(codeOf((await read(world.kit, '/2/insights/28hr')).outcome)).toBe('x_rate_limited');
    expect(codeOf((await read(other, '/2/insights/28hr')).outcome)).toBe('x_rate_limited');
    expect(times('GET /2/insights/28hr')).toBe(1);
    await read(other, '/2/insights/historical');
    expect(times('GET /2/insights/historical')).toBe(1);
    // One that a typed tool sends shares its limit.
    expect(codeOf((await world.kit.call('x_search_tweets', search)).outcome)).toBe('x_rate_limited');
    expect(codeOf((await read(other, '/2/tweets/search/recent?query=boats')).outcome)).toBe('x_rate_limited');
    expect(times(SEARCH)).toBe(1);
  });

  it('survives an answer that was under way when another process used the limit up', async () => {
    await open();
    const other = await world.kit.second();
    await world.kit.call('x_search_tweets', search);
    limited = [SEARCH];
    await other.call('x_search_tweets', search);
    // The grouped record of the first, successful read is written after the 429.
    await (await world.kit.services.x()).rateLimits();
    await world.kit.call('x_search_tweets', search);
    expect(times(SEARCH)).toBe(2);
  });
});

describe('a rate limit of X that one of two built servers learned of', () => {
  let wire: XWire;
  let place: XPlace;
  beforeAll(async () => {
    wire = await startXWire();
    place = await openXPlace({ config: wire.settings, tokens: wire.tokens });
  });
  afterAll(async () => {
    await place.close();
    await wire.close();
  });

  it.each([
    ['search_recent', 'x_search_tweets', { query: 'monitoring' }],
    ['create_tweet', 'x_post_tweet', { text: 'Where the limit is met' }],
  ])('keeps the other from sending %s', async (endpoint, tool, args) => {
    // Both servers run and have read or posted just before.
    const before = tool === 'x_post_tweet' ? { text: 'Before the limit' } : args;
    const other = tool === 'x_post_tweet' ? { text: 'Something else before it' } : args;
    expect(await place.call(tool, before)).toMatchObject({ success: true });
    expect(await place.callMute(tool, other)).toMatchObject({ success: true });
    // X refuses one request and would take the next.
    await wire.sandbox.control('fault', { kind: 'rate_limited', endpoint, times: 1, reset_in: 900 });
    const limited = {
      success: false,
      error: { code: 'x_rate_limited', rate_limit_reset: expect.any(String) },
    };
    expect(await place.call(tool, args)).toMatchObject(limited);
    expect(await place.callMute(tool, args)).toMatchObject(limited);
    expect(await place.call(tool, args)).toMatchObject(limited);
  });
});

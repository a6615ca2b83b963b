import { afterEach, describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../contract/json.ts';
import { isObject } from '../../../lib/is-object.ts';
import { codeOf, dataOf, type XKit } from '../test/support/kit.ts';
import { openSignedInKit, type SignedInKit } from '../test/support/signed-in.ts';

const TEXTS = [
  'boats',
  'ropes',
  'charts',
  'anchors',
  'harbours',
  'tides',
  'sails',
  'lamps',
  'engines',
  'gulls',
].map((word, index) => `Part ${index} is about ${word}`);
const POSITIONS = TEXTS.map((_text, index) => index);

/** What X keeps to itself, and what happens to the answer to one of the posts. */
interface Line {
  /** Which post loses its answer; counted from 0. */
  at: number;
  way: 'dropped' | 'late' | 'before';
  /** Fields that replies of X lack. */
  hidden: readonly string[];
}

const without = (json: JsonValue, hidden: readonly string[]): JsonValue =>
  JSON.parse(JSON.stringify(json, (key, value) => (hidden.includes(key) ? undefined : value))) as JsonValue;

describe('a thread whose answers get lost', () => {
  let world: SignedInKit;
  let kit: XKit;
  let line: Line;

  async function open(given: Line): Promise<void> {
    line = given;
    let posts = 0;
    let lost = false;
    world = await openSignedInKit(
      {
        before({ method, path }) {
          lost = method === 'POST' && path === '/2/tweets' && posts++ === line.at;
          return lost && line.way === 'before' ? 'drop' : undefined;
        },
        after(_passing, answer) {
          if (lost) return line.way === 'late' ? 'late' : 'drop';
          return { ...answer, json: without(answer.json, line.hidden) };
        },
      },
      { config: { x_api: { request_timeout_seconds: 1 } } },
    );
    kit = world.kit;
  }
  afterEach(() => world.close());

  const send = async () => (await kit.call('x_post_thread', { tweets: TEXTS })).outcome;
  const retry = async () => {
    kit.clock.advance(60_000);
    return send();
  };

  it.each(POSITIONS)('finds part %i again when its answer is dropped', async (at) => {
    await open({ at, way: 'dropped', hidden: [] });
    expect(codeOf(await send())).toBe('thread_partial_failure');
    expect(await kit.posted()).toEqual(TEXTS.slice(0, at + 1));
    expect(dataOf(await retry())).toMatchObject({ tweet_count: 10 });
    expect(await kit.posted()).toEqual(TEXTS);
  });

  it.each(POSITIONS)('finds part %i again when its answer comes after the deadline', async (at) => {
    await open({ at, way: 'late', hidden: [] });
    expect(codeOf(await send())).toBe('thread_partial_failure');
    expect(dataOf(await retry())).toMatchObject({ tweet_count: 10 });
    expect(await kit.posted()).toEqual(TEXTS);
  });

  it.each(POSITIONS)('finds part %i by its conversation when X sends no references', async (at) => {
    await open({ at, way: 'dropped', hidden: ['referenced_tweets', 'referenced_posts'] });
    expect(codeOf(await send())).toBe('thread_partial_failure');
    expect(dataOf(await retry())).toMatchObject({ tweet_count: 10 });
    expect(await kit.posted()).toEqual(TEXTS);
  });

  const NOTHING_TOLD = ['referenced_tweets', 'referenced_posts', 'conversation_id'];

  it.each(POSITIONS)(
    'never posts part %i twice when X says nothing about what replies to what',
    async (at) => {
      await open({ at, way: 'dropped', hidden: NOTHING_TOLD });
      const first = await send();
      const again = await retry();
      if (at === 0) {
        // The first part replies to nothing: author, text and time decide.
        expect(dataOf(again)).toMatchObject({ tweet_count: 10 });
        expect(await kit.posted()).toEqual(TEXTS);
        return;
      }
      for (const outcome of [first, again]) {
        expect(outcome).toMatchObject({
          status: 'indeterminate',
          fault: { retryable: false, detail: { cause: 'thread_partial_failure', failed_at_index: at } },
        });
        const detail = 'fault' in outcome ? outcome.fault.detail : undefined;
        expect(isObject(detail) && detail.posted_tweet_ids).toHaveLength(at);
      }
      expect(await kit.posted()).toEqual(TEXTS.slice(0, at + 1));

      line.hidden = [];
      expect(dataOf(await retry())).toMatchObject({ tweet_count: 10 });
      expect(await kit.posted()).toEqual(TEXTS);
    },
  );

  it('sends a part again that X never got, even where X sends no references', async () => {
    await open({ at: 4, way: 'before', hidden: NOTHING_TOLD });
    expect(codeOf(await send())).toBe('thread_partial_failure');
    expect(await kit.posted()).toEqual(TEXTS.slice(0, 4));
    expect(dataOf(await retry())).toMatchObject({ tweet_count: 10 });
    expect(await kit.posted()).toEqual(TEXTS);
  });

  it('leaves a single reply undecided when X does not say what it replies to', async () => {
    await open({ at: 1, way: 'dropped', hidden: NOTHING_TOLD });
    const { id } = await kit.data('x_post_tweet', { text: 'A question about boats' });
    const args = { in_reply_to_id: String(id), text: 'And the answer to it' };
    const { outcome } = await kit.call('x_reply_to_tweet', args);
    expect(outcome.status).toBe('indeterminate');
    line.hidden = [];
    expect(await kit.kernel.recover()).toMatchObject({ settled: 1, open: 0 });
    expect(await kit.posted()).toEqual(['A question about boats', 'And the answer to it']);
  });
});

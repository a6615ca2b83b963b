import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openXPlace, type XPlace } from './support/place.ts';
import { startXWire, type XWire } from './support/wire.ts';

const POSITIONS = Array.from({ length: 10 }, (_, index) => index);
const SUBJECTS = [
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
];

/** Ten parts; no two threads have one in common, or X and our own limits would take them for repetitions. */
const threadOn = (word: string): string[] =>
  SUBJECTS.map((subject, index) => `${word}${subject} part${index}${word}`);

describe('a thread of ten through a real client of the built package', () => {
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

  const onX = async (tweets: readonly string[]) => {
    const { items } = await wire.sandbox.control('look', { collection: 'posts' });
    return (items as { id: string; text: string; in_reply_to?: string }[])
      .filter(({ text }) => tweets.includes(text))
      .sort((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
  };

  // A part that X does not show is looked for again after some seconds: three positions are enough to see that.
  const LOST = [0, 5, 9].map((at) => ['drop_before', at] as const);
  const KNOWN = POSITIONS.map((at) => ['drop_after', at] as const);

  it.each([...LOST, ...KNOWN])(
    'says what is posted when the connection breaks (%s) at part %i, and the identical call posts the rest once',
    async (kind, position) => {
      // A fresh X: twenty threads are more than its own limits allow.
      await wire.sandbox.reset();
      const tweets = threadOn(`${kind === 'drop_after' ? 'Known' : 'Lost'}${position}x${position}`);
      await wire.sandbox.control('fault', { kind, endpoint: 'create_tweet', skip: position });
      const broken = await place.call('x_post_thread', { tweets });
      const kept = kind === 'drop_after' ? position + 1 : position;
      expect(broken).toMatchObject({
        success: false,
        isError: true,
        error: { code: 'thread_partial_failure', retryable: true, detail: { failed_at_index: position } },
      });
      const posted = await onX(tweets);
      expect(posted.map(({ text }) => text)).toEqual(tweets.slice(0, kept));
      expect(broken.error?.detail?.posted_tweet_ids).toEqual(posted.map(({ id }) => id));

      const whole = await place.call('x_post_thread', { tweets });
      const all = await onX(tweets);
      expect(all.map(({ text }) => text)).toEqual(tweets);
      expect(whole).toMatchObject({
        success: true,
        data: { tweet_count: 10, thread_tweet_ids: all.map(({ id }) => id), root_tweet_id: all[0]?.id },
      });
      expect(all.map((post) => post.in_reply_to)).toEqual([
        undefined,
        ...all.slice(0, 9).map(({ id }) => id),
      ]);
    },
  );
});

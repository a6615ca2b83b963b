import { afterEach, describe, expect, it } from 'vitest';
import { codeOf, dataOf, openXKit, type XKit, type XKitOptions } from '../test/support/kit.ts';

const TEXTS = [
  'Ten things about boats',
  'They float, mostly',
  'The sea is large',
  'Ropes have names',
  'So do knots',
  'Rain is wet from below too',
  'An anchor holds only what it can reach',
  'Engines wait for the worst moment',
  'Charts lie about sand',
  'Home is where you tie up',
];

describe('a thread', () => {
  let kit: XKit;
  const open = async (options: XKitOptions = {}): Promise<void> => {
    kit = await openXKit(options);
  };
  afterEach(() => kit[Symbol.asyncDispose]());

  const send = (tweets: string[] = TEXTS) => kit.call('x_post_thread', { tweets });

  it('posts every part as a reply to the one before', async () => {
    await open();
    const data = dataOf((await send()).outcome);
    expect(data).toMatchObject({ tweet_count: 10 });
    expect(await kit.posted()).toEqual(TEXTS);
    const ids = data.thread_tweet_ids as string[];
    const last = await kit.data('get_tweet_by_id', { tweet_id: ids[9] ?? '' });
    expect(last.referenced_tweets).toEqual([{ type: 'replied_to', id: ids[8] }]);
  });

  it('checks every length before the first part is sent, and names the part', async () => {
    await open();
    const { outcome } = await send([...TEXTS.slice(0, 3), 'x'.repeat(281)]);
    expect(outcome).toMatchObject({ fault: { code: 'tweet_too_long', detail: { tweet_index: 3 } } });
    expect(await kit.posted()).toEqual([]);
  });

  const everyPart = TEXTS.map((_text, index) => index);
  const cases = [
    ...everyPart.map((index) => ['drop_after', index] as const),
    ...everyPart.map((index) => ['drop_before', index] as const),
    ...[0, 5].map((index) => ['server_error', index] as const),
    ...[1, 5].map((index) => ['rate_limited', index] as const),
  ];

  it.each(cases)(
    'interrupted by %s at part %i says what is posted, and the identical call posts the rest once',
    async (kind, index) => {
      await open();
      await kit.fault({ kind, endpoint: 'create_tweet', skip: index });
      const { outcome } = await send();
      const kept = kind === 'drop_after' ? index + 1 : index;
      expect(await kit.posted()).toEqual(TEXTS.slice(0, kept));
      expect(outcome).toMatchObject({
        status: 'failed',
        fault: { code: 'thread_partial_failure', retryable: true, detail: { failed_at_index: index } },
      });
      const detail = 'fault' in outcome ? outcome.fault.detail : undefined;
      expect(detail?.posted_tweet_ids).toHaveLength(kept);
      kit.clock.advance(901_000);
      expect(dataOf((await send()).outcome)).toMatchObject({ tweet_count: 10 });
      expect(await kit.posted()).toEqual(TEXTS);
    },
  );

  it('says simply why when X refuses its first part, and leaves nothing behind', async () => {
    await open({ config: { limits: { max_threads_per_week: 1 } } });
    await kit.fault({ kind: 'forbidden', endpoint: 'create_tweet' });
    expect(codeOf((await send()).outcome)).toBe('x_forbidden');
    expect((await send(['A different thread', 'takes the place'])).outcome.status).toBe('ok');
  });

  it('counts once however often it is resumed, and a finished thread is not resumed but refused as a repetition', async () => {
    await open({ config: { limits: { max_threads_per_week: 1 } } });
    await kit.fault({ kind: 'drop_before', endpoint: 'create_tweet', skip: 2 });
    await send();
    kit.clock.advance(6_000);
    await send();
    expect(await kit.posted()).toEqual(TEXTS);
    expect(codeOf((await send()).outcome)).toBe('validation_error');
    expect(codeOf((await send(['Another thread', 'in the same week'])).outcome)).toBe(
      'policy_denied_hard_rule',
    );
    kit.clock.advance(7 * 86_400_000 + 1000);
    expect((await send(['Another thread', 'a week later'])).outcome.status).toBe('ok');
  });

  it('is posted by one of two equal calls at the same time', async () => {
    await open();
    const results = await Promise.all([send(), send()]);
    const done = results.filter(({ outcome }) => outcome.status === 'ok');
    expect(done.length).toBe(1);
    expect(await kit.posted()).toEqual(TEXTS);
  });

  it('refuses more media lists than parts', async () => {
    await open();
    const { outcome } = await kit.call('x_post_thread', {
      tweets: ['a b', 'c d'],
      media_ids: [[], [], ['1']],
    });
    expect(codeOf(outcome)).toBe('validation_error');
  });
});

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTestStore, type TestStore } from '../../../test/support/engines.ts';
import { openTestKernel } from '../../../test/support/kernel.ts';
import type { JsonObject } from '../../contract/json.ts';
import { LOCAL_AGENT } from '../../contract/principal.ts';
import { compile } from './policy.fixture.ts';
import { createPolicyPort } from './port.ts';

const NOW = new Date('2026-03-02T10:30:00Z');
const HOUR = Date.parse('2026-03-02T10:00:00Z') / 1000;

describe('policy as tools and pages see it', () => {
  let store: TestStore;
  beforeEach(async () => {
    store = await openTestStore('sqlite');
  });
  afterEach(() => store.close());

  const portOf = async (written: JsonObject = {}) => {
    const policy = await compile({ template: 'none', ...written });
    return {
      policy,
      port: createPolicyPort(
        () => policy,
        store.database,
        () => NOW,
      ),
    };
  };

  it('says what a call would get, and why', async () => {
    const rules = [
      { id: 'no', action: 'deny', tools: ['create_code'], when: 'args.name == "a"', reason: 'not a' },
    ];
    const { port } = await portOf({ rules, require_approval_for: ['x_like_tweet'] });
    expect(await port.evaluate('create_code', { name: 'a' }, LOCAL_AGENT)).toEqual({
      action: 'deny',
      rule: 'no',
      reason: 'not a',
    });
    expect(await port.evaluate('create_code', { name: 'b' }, LOCAL_AGENT)).toMatchObject({ action: 'allow' });
    expect(await port.evaluate('x_like_tweet', {}, LOCAL_AGENT)).toMatchObject({ action: 'ask' });
    expect(await port.evaluate('no_such_tool', {}, LOCAL_AGENT)).toBeUndefined();
  });

  it('says that a pause stops what would run, while what asks waits all the same', async () => {
    const { kernel } = await openTestKernel(store.database, store.dataDir);
    const { port } = await portOf({ require_approval_for: ['x_like_tweet'] });
    await kernel.setPaused(true, { kind: 'person', id: 'ada' });
    expect(await port.evaluate('create_code', { name: 'a' }, LOCAL_AGENT)).toMatchObject({
      action: 'deny',
      rule: 'hard:paused',
    });
    expect(await port.evaluate('x_like_tweet', {}, LOCAL_AGENT)).toMatchObject({ action: 'ask' });
    expect(await port.evaluate('x_search_tweets', { query: 'a' }, LOCAL_AGENT)).toMatchObject({
      action: 'allow',
    });
  });

  it('shows the status of the policy, and each limit with what is used of its open window', async () => {
    const limits = [{ key: 'likes', dimension: 'tool', match: 'x_like_tweet', max: 4, period_seconds: 60 }];
    const { policy, port } = await portOf({ max_mutations_per_hour: 10, limits });
    expect(await port.status()).toEqual(policy.status());
    const count = (key: string, window_start: number, used: number) =>
      store.database.db.insertInto('counters').values({ key, window_start, used }).execute();
    await count('another', HOUR, 7);
    await count('max_mutations_per_hour', HOUR - 3600, 9);
    await count('max_mutations_per_hour', HOUR, 3);
    expect(await port.limits()).toEqual([
      {
        key: 'max_mutations_per_hour',
        dimension: 'global',
        match: '*',
        max: 10,
        used: 3,
        periodSeconds: 3600,
        periodStart: new Date('2026-03-02T10:00:00Z'),
        resetAt: new Date('2026-03-02T11:00:00Z'),
      },
      {
        key: 'likes',
        dimension: 'tool',
        match: 'x_like_tweet',
        max: 4,
        used: 0,
        periodSeconds: 60,
        periodStart: NOW,
        resetAt: new Date('2026-03-02T10:31:00Z'),
      },
    ]);
  });

  it('shows a window of a year, too', async () => {
    const year = 366 * 24 * 3600;
    const limits = [{ key: 'yearly', dimension: 'global', max: 4, period_seconds: year }];
    const { port } = await portOf({ max_mutations_per_hour: 0, limits });
    const start = Math.floor(NOW.getTime() / 1000 / year) * year;
    await store.database.db
      .insertInto('counters')
      .values({ key: 'yearly', window_start: start, used: 2 })
      .execute();
    expect((await port.limits()).find(({ key }) => key === 'yearly')?.used).toBe(2);
  });
});

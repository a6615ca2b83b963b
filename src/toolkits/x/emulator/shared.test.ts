import type { Kysely } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startChild } from '../../../../test/support/child.ts';
import { ENGINES, openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import { ExchangeStore, type XClientTables } from '../client/store.ts';
import { fakeClock } from '../test/support/sandbox.ts';
import { startSandbox } from './start.ts';
import type { SandboxTables } from './stored-state.ts';

describe.each(ENGINES)('the sandbox on a shared store (%s)', (engine) => {
  let store: TestStore;
  beforeEach(async () => {
    store = await openTestStore(engine);
  });
  afterEach(async () => {
    await store.close();
  });

  it('loses nothing and gives no id twice when several processes post simultaneously', async () => {
    const { now } = fakeClock();
    const children = [];
    for (const name of ['a', 'b', 'c']) {
      const child = await startChild('x-sandbox-poster', [store.url, name, '15', now().toISOString()]);
      await child.said('ready');
      children.push(child);
    }
    for (const child of children) child.send('go');
    expect(await Promise.all(children.map(({ ended }) => ended))).toEqual([0, 0, 0]);
    const ids = children.flatMap((child) => [...child.output().matchAll(/id (\d+)/g)].map(([, id]) => id));
    expect(new Set(ids).size).toBe(45);

    const sandbox = await startSandbox({ db: store.database.db as unknown as Kysely<SandboxTables>, now });
    const { items } = await sandbox.control('look', { collection: 'posts' });
    const posts = items as { id: string; text: string }[];
    const made = posts.filter(({ text }) => /^[abc] \d+$/.test(text));
    expect(new Set(made.map(({ id }) => id))).toEqual(new Set(ids));
    await sandbox.reset();
    const after = await sandbox.control('look', { collection: 'posts' });
    expect((after.items as unknown[]).length).toBe(posts.length - 45);
    await sandbox.close();
  });

  it('adds up usage and keeps the latest limit', async () => {
    const db = store.database.db as unknown as Kysely<XClientTables>;
    const lost: unknown[] = [];
    const counting = new ExchangeStore(db, 'x_api', (error) => lost.push(error));
    const at = new Date('2026-02-25T12:00:00Z');
    const rateLimit = (remaining: number) => ({
      limit: 15,
      remaining,
      resetAt: new Date('2026-02-25T12:15:00Z'),
    });
    for (const remaining of [14, 13]) {
      await counting.record({
        endpoint: 'me',
        method: 'GET',
        auth: 'user',
        ok: true,
        items: 1,
        costMicros: 10_000,
        rateLimit: rateLimit(remaining),
        at,
      });
    }
    await counting.record({
      endpoint: 'me',
      method: 'GET',
      auth: 'user',
      ok: false,
      items: 0,
      costMicros: 0,
      rateLimit: undefined,
      at,
    });
    expect(await counting.usage(at)).toEqual([
      { day: '2026-02-25', endpoint: 'me', method: 'GET', calls: 3, failures: 1, items: 2, costUsd: 0.02 },
    ]);
    expect(await counting.rateLimits()).toMatchObject([{ endpoint: 'me', remaining: 13, limit: 15 }]);
    expect(await new ExchangeStore(db, 'sandbox', () => {}).usage(at)).toEqual([]);
    expect(lost).toEqual([]);
  });
});

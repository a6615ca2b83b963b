import { performance } from 'node:perf_hooks';
import type { Kysely } from 'kysely';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import { type Exchange, ExchangeStore, type XClientTables } from './store.ts';

const AT = new Date('2026-02-25T12:00:00Z');
const RESET = new Date('2026-02-25T12:15:00Z');
const LIST = 'read_list';

describe.each(ENGINES)('limits of X that processes share on %s', (engine) => {
  let store: TestStore;
  let opened: ExchangeStore[] = [];
  beforeEach(async () => {
    opened = [];
    store = await openTestStore(engine);
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    for (const one of opened) await one.flush();
    await store.close();
  });

  /** One process, with the number of statements it sent. */
  const open = () => {
    const counted = { statements: 0 };
    const db = (store.database.db as unknown as Kysely<XClientTables>).withPlugin({
      transformQuery({ node }) {
        counted.statements += 1;
        return node;
      },
      transformResult: async ({ result }) => result,
    });
    const limits = new ExchangeStore(db, 'x', (error) => expect.fail(String(error)));
    opened.push(limits);
    return { counted, limits };
  };
  const exchange = (remaining: number, more: Partial<Exchange> = {}): Exchange => ({
    endpoint: LIST,
    method: 'GET',
    auth: 'user',
    ok: true,
    items: 0,
    costMicros: 0,
    rateLimit: { limit: 100, remaining, resetAt: RESET },
    at: AT,
    ...more,
  });
  const closed = ({ limits }: ReturnType<typeof open>, change = false) =>
    limits.closedUntil(LIST, 'user', AT, change);
  const stopClock = () => {
    const now = performance.now();
    return vi.spyOn(performance, 'now').mockReturnValue(now);
  };

  it('cost no statement per read while none is close', async () => {
    stopClock();
    const process = open();
    await process.limits.record(exchange(50));
    await process.limits.flush();
    process.counted.statements = 0;
    for (let read = 0; read < 50; read += 1) expect(await closed(process)).toBeUndefined();
    expect(process.counted.statements).toBe(1);
  });

  it('are looked up before every change', async () => {
    stopClock();
    const process = open();
    for (let change = 0; change < 3; change += 1) await closed(process, true);
    expect(process.counted.statements).toBe(3);
  });

  it('stop the next read of another process once a call returned with 429, however new its list is', async () => {
    const [one, other] = [open(), open()];
    expect(await closed(other)).toBeUndefined();
    const returned = one.limits.record(exchange(0, { limited: true, ok: false }));
    // The other reads all the time, so that its list is as new as can be when the call returns.
    let ended = false;
    void returned.then(() => {
      ended = true;
    });
    while (!ended) {
      await closed(other);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(await closed(other)).toEqual(RESET);
  });

  it('are looked up before every read of an endpoint that has little left, as this process saw it', async () => {
    stopClock();
    const [one, other] = [open(), open()];
    await other.limits.record(exchange(3));
    expect(await closed(other)).toBeUndefined();
    await one.limits.record(exchange(0, { method: 'POST' }));
    expect(await closed(other)).toEqual(RESET);
  });

  it('are looked up before every read of an endpoint that has little left, as another process saw it', async () => {
    stopClock();
    const [one, other] = [open(), open()];
    await one.limits.record(exchange(3, { method: 'POST' }));
    expect(await closed(other)).toBeUndefined();
    await one.limits.record(exchange(0, { method: 'POST' }));
    expect(await closed(other)).toEqual(RESET);
  });

  it('are forgotten after their reset', async () => {
    const [one, other] = [open(), open()];
    await one.limits.record(exchange(0, { limited: true }));
    expect(await closed(other)).toEqual(RESET);
    expect(await other.limits.closedUntil(LIST, 'user', RESET, false)).toBeUndefined();
  });
});

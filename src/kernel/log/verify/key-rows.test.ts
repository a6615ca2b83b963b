import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import { openTestKernel, PERSON, type TestKernel } from '../../../../test/support/kernel.ts';
import { isFirstUse } from '../../store/database.ts';
import type { IdempotencyTable } from '../../store/tables.ts';
import type { Entry } from '../entry.ts';
import { erasePayloads } from '../erase.ts';
import { KeyRowCheck } from './key-rows.ts';

describe.each(ENGINES)('the row of an idempotency key on %s', (engine) => {
  let store: TestStore;
  let test: TestKernel;
  let call: string;
  let settledCall: string;
  beforeAll(async () => {
    store = await openTestStore(engine);
    test = await openTestKernel(store.database, store.dataDir);
    call = (await test.call('ledger_write', { text: 'one' }, { idempotencyKey: 'a' })).callId;
    await test.call('ledger_write', { text: 'two', fail: 'before' }, { idempotencyKey: 'b' });
    const settled = await test.call(
      'ledger_write_blind',
      { text: 'three', fail: true },
      { idempotencyKey: 'c' },
    );
    settledCall = settled.callId;
    await test.kernel.settle(settledCall, true, PERSON);
    await test.call('ledger_write_blind', { text: 'four', fail: true }, { idempotencyKey: 'd' });
    await isFirstUse(store.database, 'nonce', new Date());
    await test.kernel.flush();
  });
  afterAll(() => store.close());

  const KEY = 'agent:local|ledger_write|a';
  const compare = async (newest?: Entry) => {
    const check = new KeyRowCheck();
    if (newest) check.take(0, newest);
    const entries = await store.database.db.selectFrom('audit_log').select(['seq', 'body']).execute();
    for (const { seq, body } of entries) check.take(seq, JSON.parse(body) as Entry);
    return (await check.compare(store.database)).map(({ message }) => message);
  };
  const whileSet = async (change: Partial<IdempotencyTable>): Promise<string[]> => {
    const { db } = store.database;
    const row = await db
      .selectFrom('idempotency')
      .selectAll()
      .where('scope_key', '=', KEY)
      .executeTakeFirstOrThrow();
    await db.updateTable('idempotency').set(change).where('scope_key', '=', KEY).execute();
    const found = await compare();
    await db.updateTable('idempotency').set(row).where('scope_key', '=', KEY).execute();
    return found;
  };

  it('agrees with the log however its call ended', async () => {
    expect(await compare()).toEqual([]);
  });

  it('agrees with the log while its call runs', async () => {
    const running = test.call('ledger_write', { text: 'five', hold: true }, { idempotencyKey: 'e' });
    const states = async () =>
      (await store.database.db.selectFrom('idempotency').select('state').execute()).map(({ state }) => state);
    await vi.waitFor(async () => expect(await states()).toContain('running'));
    expect(await compare()).toEqual([]);
    test.release();
    expect((await running).outcome.status).toBe('ok');
    await test.kernel.flush();
    expect(await states()).toEqual(expect.arrayContaining(['ok', 'indeterminate']));
    expect(await compare()).toEqual([]);
  });

  it('is named with the last entry of its call', async () => {
    const { db } = store.database;
    const keys = db.updateTable('idempotency').where('call_id', '=', settledCall);
    await keys.set({ state: 'indeterminate' }).execute();
    const { seq } = await db
      .selectFrom('audit_log')
      .select('seq')
      .where('call_id', '=', settledCall)
      .where('kind', '=', 'settled')
      .executeTakeFirstOrThrow();
    expect(await new KeyRowCheck().compare(store.database)).toEqual([
      {
        seq,
        message: `Idempotency key agent:local|ledger_write_blind|c says that call ${settledCall} is "indeterminate", but the log says "ok".`,
      },
    ]);
    await keys.set({ state: 'ok' }).execute();
  });

  it.each(['intent', 'outcome'] as const)(
    'is named when the %s entry of its call was changed',
    async (kind) => {
      const { db } = store.database;
      const entry = await db
        .selectFrom('audit_log')
        .select(['seq', 'body'])
        .where('call_id', '=', call)
        .where('kind', '=', kind)
        .executeTakeFirstOrThrow();
      const set = (body: string) =>
        db.updateTable('audit_log').set({ body }).where('seq', '=', entry.seq).execute();
      await set(entry.body.replace('agent:local', 'agent:other'));
      expect(await compare()).toEqual([
        `Idempotency key ${KEY} belongs to call ${call}, whose entry ${entry.seq} is invalid.`,
      ]);
      await set(entry.body);
      expect(await compare()).toEqual([]);
    },
  );

  it('is compared however many there are', async () => {
    const { db } = store.database;
    const names = Array.from({ length: 1001 }, (_, index) => `invented|${String(index).padStart(4, '0')}`);
    const row = { digest: '', state: 'ok', outcome: null, created_at: '', expires_at: null } as const;
    await db
      .insertInto('idempotency')
      .values(names.map((scope_key) => ({ ...row, scope_key, call_id: 'invented' })))
      .execute();
    const found = await compare();
    await db.deleteFrom('idempotency').where('call_id', '=', 'invented').execute();
    expect(found.sort()).toEqual(
      names.map((name) => `Idempotency key ${name} belongs to call invented, which is not in the log.`),
    );
  });

  it('is named when its answer, its state or its call was changed', async () => {
    const named = `Idempotency key ${KEY}`;
    for (const outcome of ['{"data":{"written":"x"},"notes":{},"status":"ok"}', null])
      expect(await whileSet({ outcome })).toEqual([
        `${named} stores a result that call ${call} did not return.`,
      ]);
    expect(await whileSet({ state: 'indeterminate' })).toEqual([
      `${named} says that call ${call} is "indeterminate", but the log says "ok".`,
    ]);
    expect(await whileSet({ call_id: 'invented' })).toEqual([
      `${named} belongs to call invented, which is not in the log.`,
      expect.stringMatching(`^The idempotency key of call ${call} is missing; the log says`),
    ]);
  });

  it('is named when its key, its arguments or its expiry was changed', async () => {
    const other = `${KEY}b`;
    const db = store.database.db;
    await db.updateTable('idempotency').set({ scope_key: other }).where('scope_key', '=', KEY).execute();
    expect(await compare()).toEqual([
      `Idempotency key ${other} is not the key or not for the arguments that call ${call} was made with.`,
    ]);
    await db.updateTable('idempotency').set({ scope_key: KEY }).where('scope_key', '=', other).execute();
    expect(await whileSet({ digest: 'other' })).toEqual([
      `Idempotency key ${KEY} is not the key or not for the arguments that call ${call} was made with.`,
    ]);
    expect(await whileSet({ expires_at: null })).toEqual([
      expect.stringMatching(/ expires at null, but the log says \d{4}-/),
    ]);
  });

  it('is named when a person settled its call and it answers something else', async () => {
    const key = 'agent:local|ledger_write_blind|c';
    const { db } = store.database;
    const row = db.updateTable('idempotency').where('scope_key', '=', key);
    const { outcome } = await db
      .selectFrom('idempotency')
      .select('outcome')
      .where('scope_key', '=', key)
      .executeTakeFirstOrThrow();
    await row.set({ outcome: '{"data":1,"notes":{},"status":"ok"}' }).execute();
    expect(await compare()).toEqual([expect.stringContaining(`${key} stores a result that call `)]);
    await row.set({ outcome }).execute();
  });

  it('is named when its result is invented while the outcome is unknown', async () => {
    const row = store.database.db.updateTable('idempotency').where('scope_key', 'like', '%|d');
    await row.set({ outcome: '{"data":1,"notes":{},"status":"ok"}' }).execute();
    expect(await compare()).toEqual([expect.stringContaining('stores a result that call ')]);
    await row.set({ outcome: null }).execute();
    expect(await compare()).toEqual([]);
  });

  it.each([
    ['answers', 'agent:local|ledger_write|a'],
    ['guards an unknown outcome', 'agent:local|ledger_write_blind|d'],
  ])('is named when a row that %s is deleted, until the log is newer than its end', async (_, key) => {
    const { db } = store.database;
    const row = await db
      .selectFrom('idempotency')
      .selectAll()
      .where('scope_key', '=', key)
      .executeTakeFirstOrThrow();
    await db.deleteFrom('idempotency').where('scope_key', '=', key).execute();
    expect(await compare()).toEqual([
      `The idempotency key of call ${row.call_id} is missing; the log says that the call holds it until ${row.expires_at}.`,
    ]);
    // A clock that jumped ahead and came back swept it; the log has the time by which it was over.
    const later = new Date(Date.parse(row.expires_at ?? '') + 1).toISOString();
    expect(await compare({ v: 1, kind: 'config', at: later })).toEqual([]);
    await db.insertInto('idempotency').values(row).execute();
    expect(await compare()).toEqual([]);
  });

  it('agrees once what it answered was erased, and is named when it then answers something', async () => {
    const { artifacts } = test.kernel;
    await erasePayloads(
      store.database,
      { calls: [call] },
      { artifacts, principal: 'person:ada', now: new Date() },
    );
    expect(await compare()).toEqual([]);
    expect(await whileSet({ outcome: '{"data":1,"notes":{},"status":"ok"}' })).toHaveLength(1);
  });
});

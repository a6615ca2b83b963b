import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import { openTestKernel, PERSON, type TestKernel } from '../../../../test/support/kernel.ts';
import { isFirstUse } from '../../store/database.ts';
import type { IdempotencyTable } from '../../store/tables.ts';
import { erasePayloads } from '../erase.ts';
import { KeyRowCheck } from './key-rows.ts';

describe.each(ENGINES)('the row of an idempotency key on %s', (engine) => {
  let store: TestStore;
  let test: TestKernel;
  let call: string;
  beforeAll(async () => {
    store = await openTestStore(engine);
    test = await openTestKernel(store.database, store.dataDir);
    call = (await test.call('ledger_write', { text: 'one' }, { idempotencyKey: 'a' })).callId;
    await test.call('ledger_write', { text: 'two', fail: 'before' }, { idempotencyKey: 'b' });
    const settled = await test.call(
      'ledger_write_blind',
      { text: 'three', fail: 'unknown' },
      { idempotencyKey: 'c' },
    );
    await test.kernel.settle(settled.callId, true, PERSON);
    await test.call('ledger_write_blind', { text: 'four', fail: 'unknown' }, { idempotencyKey: 'd' });
    await isFirstUse(store.database, 'nonce', new Date());
    await test.kernel.flush();
  });
  afterAll(() => store.close());

  const KEY = 'agent:local|ledger_write|a';
  const compare = async () => (await new KeyRowCheck().compare(store.database)).map(({ message }) => message);
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
    ]);
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

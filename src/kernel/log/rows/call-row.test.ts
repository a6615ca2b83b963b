import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fillStore } from '../../../../test/support/busy-log.ts';
import { ENGINES, openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import type { TestKernel } from '../../../../test/support/kernel.ts';
import { checkProof, type Proof } from '../../../web/ui/proof.ts';
import { createAuditPort } from '../port.ts';
import { CheckpointWriter } from '../signing/checkpoint-writer.ts';

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

describe.each(ENGINES)('what is shown about a call on %s', (engine) => {
  let store: TestStore;
  let test: TestKernel;
  beforeAll(async () => {
    store = await openTestStore(engine);
    test = await fillStore(store.database, store.dataDir);
  });
  afterAll(() => store.close());

  const port = () => {
    const { database, dataDir } = store;
    const writer = new CheckpointWriter({ database, dataDir, log: quiet, intervalMs: 60_000 });
    return createAuditPort(database, writer, () => test.kernel.flush());
  };
  const verified = async (call: string) => {
    const proof = (await port().proof(call)) as unknown as Proof;
    const differences = await port().differences(call);
    return checkProof(proof, { keys: [proof.publicKey], evidenceHash: null, differences });
  };

  it('is verified for every call as the kernel left it, however it ended', async () => {
    const calls = await test.kernel.telemetry.calls({ limit: 500 });
    expect(calls.length).toBeGreaterThan(15);
    for (const { callId } of calls) expect(await port().differences(callId)).toEqual([]);
    expect((await verified(calls[0]?.callId ?? '')).ok).toBe(true);
  });

  it('is not verified once the row was edited, and says what differs', async () => {
    const { callId } = await test.call('ledger_read', { echo: 'x' });
    expect((await verified(callId)).ok).toBe(true);
    const edit = store.database.db.updateTable('calls').where('call_id', '=', callId);
    await edit.set({ principal: 'person:eve', status: 'failed' }).execute();
    const { ok, steps } = await verified(callId);
    expect(ok).toBe(false);
    expect(steps.filter((step) => step.ok === false).map(({ text }) => text)).toEqual([
      'What is stored about this call says principal is "person:eve", its entries say "agent:local"',
      'What is stored about this call says status is "failed", its entries say "ok"',
    ]);
  });

  it('is not verified for a row without entries', async () => {
    const row = await store.database.db.selectFrom('calls').selectAll().limit(1).executeTakeFirstOrThrow();
    await store.database.db
      .insertInto('calls')
      .values({ ...row, call_id: 'invented' })
      .execute();
    expect(await port().differences('invented')).toEqual(['has a row, but no entry']);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fillStore } from '../../../../test/support/busy-log.ts';
import { ENGINES, openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import { PERSON, type TestKernel } from '../../../../test/support/kernel.ts';
import { checkProof } from '../../../web/ui/proof.ts';
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
    const proof = await port().proof(call);
    if (!proof) throw new Error(`No proof of ${call}.`);
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
      'What is stored about this call says principal is "person:eve", but its entries say "agent:local"',
      'What is stored about this call says status is "failed", but its entries say "ok"',
    ]);
  });

  it.each(['args', 'result'])('is not verified once its stored %s were edited', async (kind) => {
    const { callId } = await test.call('ledger_write_blind', { text: 'said' }, { principal: PERSON });
    expect((await verified(callId)).ok).toBe(true);
    const edit = () =>
      store.database.db.updateTable('audit_payloads').where('call_id', '=', callId).where('kind', '=', kind);
    await edit().set({ body: '{"text":"forged"}' }).execute();
    const what = kind === 'args' ? 'an arguments payload' : 'a result payload';
    const text = `What is stored about this call has ${what} that does not match the hash in the entry: body or salt was changed`;
    const { ok, steps } = await verified(callId);
    expect(ok).toBe(false);
    expect(steps.filter((step) => step.ok === false)).toEqual([{ text, ok: false }]);
    await edit().set({ body: null, salt: '', erased_at: '2026-01-01T00:00:00.000Z' }).execute();
    expect((await verified(callId)).ok).toBe(true);
    await store.database.db.deleteFrom('audit_payloads').where('call_id', '=', callId).execute();
    expect(await port().differences(callId)).toEqual([
      'has an arguments payload that is not stored',
      'has a result payload that is not stored',
    ]);
  });

  it('is not verified for stored values that no entry mentions, or with an entry that was changed', async () => {
    const { callId } = await test.call('ledger_read', { echo: 'y' });
    await test.kernel.flush();
    const { db } = store.database;
    const entry = db.updateTable('audit_log').where('call_id', '=', callId);
    const { body } = await db
      .selectFrom('audit_log')
      .select('body')
      .where('call_id', '=', callId)
      .executeTakeFirstOrThrow();
    const { args: _args, ...rest } = JSON.parse(body) as Record<string, unknown>;
    await entry.set({ body: JSON.stringify(rest) }).execute();
    expect(await port().differences(callId)).toEqual([
      'has an entry that was changed',
      'has an arguments payload that no entry mentions',
    ]);
  });

  const WORDS = 'has a title or content that differs from the entries of its approval';
  const approved = () =>
    store.database.db
      .selectFrom('calls')
      .innerJoin('approvals', 'approvals.id', 'calls.approval_id')
      .select(['calls.call_id', 'approvals.id'])
      .where('calls.status', '=', 'ok')
      .where('approvals.summary', 'like', '%edited twice%')
      .executeTakeFirstOrThrow();

  it.each(['summary', 'gist', 'environment', 'risks', 'reason'] as const)(
    'is not verified once the %s of its approval was edited',
    async (column) => {
      const { call_id, id } = await approved();
      const { db } = store.database;
      const before = await db.selectFrom('approvals').select(column).where('id', '=', id).execute();
      const edit = db.updateTable('approvals').where('id', '=', id);
      await edit.set({ [column]: '["Like a kitten: edited twice"]' }).execute();
      expect(await port().differences(call_id)).toEqual([WORDS]);
      await edit.set(before[0] ?? {}).execute();
      expect(await port().differences(call_id)).toEqual([]);
    },
  );

  it('is not verified once the stored presentation of its approval was edited, but when it was erased', async () => {
    const { call_id, id } = await approved();
    const { db } = store.database;
    const edit = db.updateTable('approval_previews').where('approval_id', '=', id);
    await edit.set({ body: '{"presentation":{"done":"Liked a kitten"}}' }).execute();
    expect(await port().differences(call_id)).toEqual([WORDS]);
    await db.deleteFrom('approval_previews').where('approval_id', '=', id).execute();
    expect(await port().differences(call_id)).toEqual([WORDS]);
    const approvals = db.updateTable('approvals').where('id', '=', id);
    await approvals.set({ summary: '(erased)', gist: null }).execute();
    expect(await port().differences(call_id)).toEqual([]);
  });

  it('is not verified for a routed call that is linked to the approval of another', async () => {
    const { db } = store.database;
    const routed = db.selectFrom('calls').select(['call_id', 'approval_id']).where('status', '=', 'routed');
    const [one, two] = await routed.orderBy('call_id').limit(2).execute();
    const callId = one?.call_id ?? '';
    const link = (approval_id: number | null | undefined) =>
      db.updateTable('calls').set({ approval_id }).where('call_id', '=', callId).execute();
    await link(two?.approval_id);
    expect(await port().differences(callId)).toEqual([
      `says approval_id is "${two?.approval_id}", which was requested for another call`,
    ]);
    await link(one?.approval_id);
    expect(await port().differences(callId)).toEqual([]);
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

import type { Updateable } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTestStore, type TestStore } from '../../../test/support/engines.ts';
import { AGENT, OTHER, openTestKernel, PERSON, type TestKernel } from '../../../test/support/kernel.ts';
import type { JsonObject } from '../../contract/json.ts';
import { describeDamaged, isDamaged } from '../../contract/ports.ts';
import type { ApprovalsTable } from '../store/tables.ts';

/** One value for each column that is not free text. */
const DAMAGES = {
  kind: 'calls',
  state: 'waiting',
  args: '{"text":',
  binding: '[]',
  requester: 'mallory',
  risks: '[1]',
  context: 'null',
  environment: 'mars',
  created_at: 'yesterday',
  expires_at: 'never',
  decided_at: '2026-13-01',
  decided_by: 'ada',
  outcome: 'ok',
} as const satisfies Updateable<ApprovalsTable>;

describe('an approval that cannot be read', () => {
  let store: TestStore;
  let test: TestKernel;
  beforeEach(async () => {
    store = await openTestStore('sqlite');
    test = await openTestKernel(store.database, store.dataDir, {
      policy: { require_approval_for: ['ledger_write'] },
    });
  });
  afterEach(() => store.close());

  const ask = async (text: string): Promise<number> => {
    const { outcome } = await test.call('ledger_write', { text });
    if (outcome.status !== 'routed') throw new Error(`It was ${outcome.status}.`);
    return outcome.approvalId;
  };
  const damage = (id: number, set: Updateable<ApprovalsTable>) =>
    store.database.db.updateTable('approvals').set(set).where('id', '=', id).execute();
  const unreadable = (id: number) => ({
    code: 'db_error',
    message: describeDamaged({ id }),
    retryable: false,
  });

  it.each(Object.entries(DAMAGES))(
    'is found by its damaged %s, and never approved',
    async (column, value) => {
      const [id, other] = [await ask('damaged'), await ask('fine')];
      await damage(id, { [column]: value });
      const { approvals } = test.kernel;
      const listed = await approvals.page({ fresh: true });
      expect(listed.map((one) => (isDamaged(one) ? one.damaged : one.id))).toEqual([other, column]);
      expect((await approvals.list({})).map((one) => one.id)).toEqual([other]);
      await expect(approvals.get(id)).rejects.toMatchObject({ ...unreadable(id), detail: { id, column } });
      await expect(approvals.approve(id, PERSON)).rejects.toMatchObject(unreadable(id));
      await expect(approvals.edit(id, PERSON, { text: 'x' })).rejects.toMatchObject(unreadable(id));
      expect((await approvals.approve(other, PERSON)).outcome?.status).toBe('ok');
      expect(await test.lines()).toEqual(['fine']);
    },
  );

  it('authorizes nothing where it was approved before', async () => {
    const { approvals } = test.kernel;
    const args = { text: 'permitted' };
    const proposal = { args, kind: 'permit', requester: AGENT, reason: 'please' } as const;
    for (const tool of ['ledger_write', 'ledger_permitted']) {
      const permit = await approvals.propose({ ...proposal, tool });
      await approvals.approve(permit.id, PERSON);
      await damage(permit.id, { outcome: '{' });
      const named: JsonObject = tool === 'ledger_permitted' ? { approval_id: String(permit.id) } : {};
      const { outcome } = await test.call(tool, { ...args, ...named });
      expect(outcome).toMatchObject(
        tool === 'ledger_permitted' ? { fault: unreadable(permit.id) } : { status: 'routed' },
      );
    }
    expect(await test.lines()).toEqual([]);
  });

  it('can be rejected by a person, with its audit entry', async () => {
    const id = await ask('damaged');
    await damage(id, { args: '{', expires_at: 'never' });
    const { approvals } = test.kernel;
    await expect(approvals.reject(id, OTHER)).rejects.toMatchObject({
      code: 'db_error',
      message: expect.stringContaining('only a person may reject it'),
    });
    expect(await approvals.reject(id, PERSON, { reason: 'no' })).toMatchObject({ id, state: 'rejected' });
    await expect(approvals.reject(id, PERSON)).rejects.toMatchObject({
      message: expect.stringContaining('its state is rejected'),
    });
    const entries = await store.database.db
      .selectFrom('audit_log')
      .select('body')
      .where('kind', '=', 'approval')
      .orderBy('seq', 'desc')
      .execute();
    expect(entries[0]?.body).toContain('"status":"rejected"');
    expect(entries).toHaveLength(2);
  });

  it('is rejected alone, with the words and the name of the person', async () => {
    const [id, other] = [await ask('damaged'), await ask('fine')];
    await damage(id, { args: '{' });
    const { approvals } = test.kernel;
    const rejected = await approvals.reject(id, PERSON, { reason: 'no', feedback: 'Ask again.' });
    const rows = await store.database.db.selectFrom('approvals').selectAll().orderBy('id').execute();
    expect(rows).toMatchObject([
      {
        id,
        state: 'rejected',
        decided_by: 'person:ada',
        decided_at: expect.stringMatching(/^20.*Z$/),
        decision_reason: 'no',
        feedback: 'Ask again.',
      },
      { id: other, state: 'pending', version: 1, decided_by: null },
    ]);
    expect(rejected).toMatchObject({ version: rows[0]?.version, damaged: 'args' });
  });

  it('is listed with its run', async () => {
    const runs: (string | undefined)[] = ['r1', undefined];
    for (const run_id of runs) await test.call('ledger_write', { text: 'x', ...(run_id && { run_id }) });
    await store.database.db.updateTable('approvals').set({ args: '{' }).execute();
    const listed = await test.kernel.approvals.page({ fresh: true });
    expect(listed.map(({ runId }) => runId)).toEqual(runs.reverse());
  });

  it('is not rejected where the audit entry would name a damaged requester', async () => {
    const id = await ask('damaged');
    await damage(id, { requester: 'mallory' });
    await expect(test.kernel.approvals.reject(id, PERSON)).rejects.toMatchObject({
      code: 'db_error',
      message: `Approval ${id} cannot be read and was not rejected: its requester is damaged, and the audit entry would name it. Run \`countersign audit verify\`.`,
    });
    expect(await test.kernel.approvals.count({ states: ['pending'] })).toBe(1);
  });

  it.each(['{', '{}', '{"presentation":1}'])(
    'for its presentation %s is listed, and is refused and closed when a person opens it',
    async (body) => {
      const id = await ask('damaged');
      await store.database.db.updateTable('approval_previews').set({ body }).execute();
      const { approvals } = test.kernel;
      const [listed] = await approvals.list({ fresh: true });
      if (!listed) throw new Error('not listed');
      await expect(approvals.present(listed)).rejects.toMatchObject({ code: 'approval_invalid' });
      await expect(approvals.approve(id, PERSON)).rejects.toThrow();
      expect(await approvals.list({ states: ['pending', 'approved'] })).toEqual([]);
      expect(await test.lines()).toEqual([]);
    },
  );

  it('does not keep its agent from asking again', async () => {
    const id = await ask('again');
    await damage(id, { context: '{' });
    expect(await ask('again')).toBe(id + 1);
    expect((await test.kernel.approvals.list({ requesters: [AGENT] })).map((one) => one.id)).toEqual([
      id + 1,
    ]);
  });
});

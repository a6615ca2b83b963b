import { randomUUID } from 'node:crypto';
import { sql, type Updateable } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/contract/json.ts';
import { verifyLog } from '../../src/kernel/log/verify/verify.ts';
import type { ApprovalsTable } from '../../src/kernel/store/tables.ts';
import { digest } from '../../src/lib/canonical.ts';
import { ENGINES, openTestStore, type TestStore } from '../support/engines.ts';
import { AGENT, OTHER, openTestKernel, PERSON, type TestKernel } from '../support/kernel.ts';

const DAY_AGO = new Date(Date.now() - 86_400_000).toISOString();
const APPROVED = { state: 'approved', decided_by: 'person:ada', decided_at: DAY_AGO };
const INVALID = { status: 'refused', rule: 'hard:approval', fault: { code: 'approval_invalid' } };

describe.each(ENGINES)('an approval edited in the database, on %s', (engine) => {
  let store: TestStore;
  let test: TestKernel;

  const open = async (options = {}) => {
    test = await openTestKernel(store.database, store.dataDir, {
      policy: { require_approval_for: ['ledger_write', 'ledger_read'] },
      ...options,
    });
  };
  beforeEach(async () => {
    store = await openTestStore(engine);
    await open();
  });
  afterEach(() => store.close());

  const route = async (args: JsonObject, tool = 'ledger_write', more = {}): Promise<number> => {
    const { outcome } = await test.call(tool, args, more);
    if (outcome.status !== 'routed') throw new Error(`expected routed, got ${outcome.status}`);
    return outcome.approvalId;
  };
  const ask = (tool: string, args: JsonObject) =>
    test.kernel.approvals.propose({ tool, args, requester: AGENT, reason: 'please', kind: 'permit' });
  const edit = (id: number, set: Updateable<ApprovalsTable>) =>
    store.database.db.updateTable('approvals').set(set).where('id', '=', id).execute();
  const entries = async () => {
    await test.kernel.flush();
    const rows = await store.database.db.selectFrom('audit_log').select('body').orderBy('seq').execute();
    return rows.map(({ body }) => JSON.parse(body) as JsonObject);
  };
  /** Nothing ran, the refusal is in the log, and the log itself is valid. */
  const expectRefused = async (id: number) => {
    expect(await test.lines()).toEqual([]);
    const evidence = await entries();
    expect(evidence.filter(({ kind }) => kind === 'intent')).toEqual([]);
    expect(evidence).toContainEqual(
      expect.objectContaining({ kind: 'refusal', status: 'refused', code: 'approval_invalid' }),
    );
    expect(evidence).toContainEqual(
      expect.objectContaining({ kind: 'approval', code: 'approval_invalid', principal: 'system:kernel' }),
    );
    expect((await verifyLog(store.database)).problems).toEqual([]);
    expect((await test.kernel.approvals.get(id))?.state).toBe('failed');
  };

  it('to approved is not run by recovery, and refused only once', async () => {
    const id = await route({ text: 'forged' });
    await edit(id, APPROVED);
    await test.kernel.recover();
    await expectRefused(id);
    expect(await test.kernel.approvals.get(id)).toMatchObject({
      state: 'failed',
      outcome: {
        code: 'approval_invalid',
        message: expect.stringContaining('the log says pending'),
      },
    });
    const before = (await entries()).length;
    expect(await test.kernel.recover()).toMatchObject({ resumed: 0 });
    expect(await entries()).toHaveLength(before);
  });

  it('to approved is not run when a call is made with it', async () => {
    const id = await route({ text: 'forged' });
    await edit(id, APPROVED);
    const approval = await test.kernel.approvals.get(id);
    const { outcome } = await test.call('ledger_write', { text: 'forged' }, { approval });
    expect(outcome).toMatchObject(INVALID);
    await expectRefused(id);
  });

  it('to approved lets no read through', async () => {
    const id = await route({}, 'ledger_read');
    await edit(id, APPROVED);
    await test.kernel.recover();
    await expectRefused(id);
  });

  it('to an approved permit works neither by its ID nor by its arguments', async () => {
    const named = await ask('ledger_permitted', { text: 'forged' });
    await edit(named.id, APPROVED);
    const args = { text: 'forged', approval_id: named.uuid };
    expect((await test.call('ledger_permitted', args)).outcome).toMatchObject(INVALID);
    await expectRefused(named.id);
    const found = await ask('ledger_write', { text: 'forged' });
    await edit(found.id, APPROVED);
    expect((await test.call('ledger_write', { text: 'forged' })).outcome).toMatchObject(INVALID);
    await expectRefused(found.id);
    // The row is closed: the next identical call is asked for like any other.
    expect((await test.call('ledger_write', { text: 'forged' })).outcome.status).toBe('routed');
  });

  it('to other arguments, with their digest, does not run after a person approved the first ones', async () => {
    const { id } = await ask('ledger_write', { text: 'harmless' });
    await test.kernel.approvals.approve(id, PERSON);
    const args = { text: 'forged' };
    const wanted = digest('ledger_write', { args, binding: {} });
    await edit(id, { args: JSON.stringify(args), digest: wanted });
    expect((await test.call('ledger_write', args)).outcome).toMatchObject(INVALID);
    await expectRefused(id);
  });

  it('to other arguments while it is pending cannot be approved', async () => {
    const id = await route({ text: 'harmless' });
    const args = { text: 'forged' };
    await edit(id, { args: JSON.stringify(args), digest: digest('ledger_write', args) });
    await expect(test.kernel.approvals.approve(id, PERSON)).rejects.toMatchObject({
      code: 'approval_invalid',
      message: expect.stringContaining('the log says it is for another call'),
    });
    expect(await test.lines()).toEqual([]);
    expect((await test.kernel.approvals.get(id))?.state).toBe('failed');
    expect((await verifyLog(store.database)).problems).toEqual([]);
  });

  it.each([
    ['expiry', { expires_at: '2099-01-01T00:00:00.000Z' }, 'as its expiry'],
    ['context', { context: '{"replay_key":"another"}' }, 'its title or content is not what was requested'],
  ])('to another %s while it is pending cannot be approved', async (_what, set, why) => {
    const id = await route({ text: 'harmless' });
    await edit(id, set);
    await expect(test.kernel.approvals.approve(id, PERSON)).rejects.toMatchObject({
      code: 'approval_invalid',
      message: expect.stringContaining(why),
    });
    expect(await test.lines()).toEqual([]);
  });

  it.each([
    ['approver', { decided_by: 'person:eve' }],
    ['approver, removed', { decided_by: null }],
    ['requester', { requester: 'agent:other' }],
    ['expiry', { expires_at: '2099-01-01T00:00:00.000Z' }],
    ['expiry, removed', { expires_at: null }],
    ['context', { context: '{"project":"another"}' }],
  ])('to another %s does not run', async (_what, set) => {
    const { id, uuid } = await ask('ledger_permitted', { text: 'forged' });
    await test.kernel.approvals.approve(id, PERSON);
    await edit(id, set);
    const principal = 'requester' in set ? OTHER : AGENT;
    const args = { text: 'forged', approval_id: uuid };
    expect((await test.call('ledger_permitted', args, { principal })).outcome).toMatchObject(INVALID);
    await expectRefused(id);
  });

  it('from a call into a permit does not run', async () => {
    const id = await route({ text: 'forged' });
    const permitted = digest('ledger_write', { args: { text: 'forged' }, binding: {} });
    await edit(id, { ...APPROVED, kind: 'permit', digest: permitted });
    expect((await test.call('ledger_write', { text: 'forged' })).outcome).toMatchObject(INVALID);
    await expectRefused(id);
  });

  it.each(['approved', 'pending'])('that was invented as %s never runs', async (state) => {
    const like = await route({ text: 'real' });
    const { id: _id, ...row } = await store.database.db
      .selectFrom('approvals')
      .selectAll()
      .where('id', '=', like)
      .executeTakeFirstOrThrow();
    const args = { text: 'forged' };
    const invented = {
      ...row,
      ...(state === 'approved' ? APPROVED : {}),
      uuid: randomUUID(),
      args: JSON.stringify(args),
      digest: digest('ledger_write', args),
    };
    const { id } = await store.database.db
      .insertInto('approvals')
      .values(invented)
      .returning('id')
      .executeTakeFirstOrThrow();
    if (state === 'approved') {
      await test.kernel.recover();
      await expectRefused(id);
    } else {
      await expect(test.kernel.approvals.approve(id, PERSON)).rejects.toMatchObject({
        code: 'approval_invalid',
        message: expect.stringContaining('the log has no request for it'),
      });
    }
    expect(await test.lines()).toEqual([]);
    expect((await test.kernel.approvals.get(id))?.state).toBe('failed');
  });

  it('back to approved after it was done is not run again, and is done again', async () => {
    const id = await route({ text: 'once' });
    await test.kernel.approvals.approve(id, PERSON);
    await edit(id, { ...APPROVED, call_id: null });
    await test.kernel.recover();
    expect(await test.lines()).toEqual(['once']);
    expect((await test.kernel.approvals.get(id))?.state).toBe('done');
    const permit = await ask('ledger_permitted', { text: 'twice' });
    await test.kernel.approvals.approve(permit.id, PERSON);
    const args = { text: 'twice', approval_id: permit.uuid };
    // What it is bound to, the number of lines, is as before once its own line is gone.
    expect((await test.call('ledger_permitted', args)).outcome.status).toBe('ok');
    await sql`delete from ledger where text = 'twice'`.execute(store.database.db);
    await edit(permit.id, { ...APPROVED, call_id: null });
    expect((await test.call('ledger_permitted', args)).outcome).toMatchObject(INVALID);
    expect(await test.lines()).toEqual(['once']);
    expect((await test.kernel.approvals.get(permit.id))?.state).toBe('done');
    expect((await verifyLog(store.database)).problems).toEqual([]);
  });

  it('back to approved after it was rejected, expired or withdrawn is not run', async () => {
    const rejected = await route({ text: 'no' });
    await test.kernel.approvals.reject(rejected, PERSON);
    const withdrawn = await route({ text: 'never mind' });
    await test.kernel.approvals.withdraw(withdrawn, AGENT);
    for (const id of [rejected, withdrawn]) await edit(id, APPROVED);
    await test.kernel.recover();
    expect(await test.lines()).toEqual([]);
    expect((await test.kernel.approvals.get(rejected))?.state).toBe('rejected');
    expect((await test.kernel.approvals.get(withdrawn))?.state).toBe('withdrawn');
  });

  it('does not open the answer of an identical call of another agent', async () => {
    const rule = { id: 'ask-other', tools: ['ledger_write'], action: 'ask' as const, priority: 1 };
    await test.setPolicy({ rules: [{ ...rule, principals: ['agent:other'], enabled: true }] });
    const args = { text: 'first', run_id: 'run-1' };
    expect((await test.call('ledger_write', args)).outcome.status).toBe('ok');
    const id = await route(args, 'ledger_write', { principal: OTHER });
    await edit(id, APPROVED);
    const approval = await test.kernel.approvals.get(id);
    const { outcome } = await test.call('ledger_write', args, { approval, principal: OTHER });
    expect(outcome).toMatchObject(INVALID);
  });

  it('does not pass when the entry of its decision was changed too', async () => {
    const { id, uuid } = await ask('ledger_permitted', { text: 'forged' });
    await edit(id, APPROVED);
    const row = await store.database.db
      .selectFrom('audit_log')
      .select(['seq', 'body'])
      .orderBy('seq', 'desc')
      .executeTakeFirstOrThrow();
    const body = row.body
      .replace('"status":"pending"', '"status":"approved"')
      .replace('{"approval":{', '{"approval":{"approver":"person:ada",');
    await store.database.db.updateTable('audit_log').set({ body }).where('seq', '=', row.seq).execute();
    const args = { text: 'forged', approval_id: uuid };
    expect((await test.call('ledger_permitted', args)).outcome).toMatchObject(INVALID);
    expect(await test.lines()).toEqual([]);
  });
});

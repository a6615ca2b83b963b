import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from '../../../test/support/engines.ts';
import { openTestKernel, PERSON, type TestKernel } from '../../../test/support/kernel.ts';
import { readStory } from './story.ts';

describe.each(ENGINES)('the story of a call on %s', (engine) => {
  let store: TestStore;
  let test: TestKernel;
  let at = Date.parse('2026-03-01T10:00:00Z');
  beforeEach(async () => {
    store = await openTestStore(engine);
    test = await openTestKernel(store.database, store.dataDir, {
      policy: { require_approval_for: ['ledger_write'] },
      now: () => {
        at += 1000;
        return new Date(at);
      },
    });
  });
  afterEach(() => store.close());

  it('goes from asking over editing and deciding to the outcome, from either of its two calls', async () => {
    const asked = await test.call('ledger_write', { text: 'hello' });
    if (asked.outcome.status !== 'routed') throw new Error('not asked');
    const { approvals } = test.kernel;
    await approvals.edit(asked.outcome.approvalId, PERSON, { text: 'HELLO' });
    const { approval } = await approvals.approve(asked.outcome.approvalId, PERSON);
    await test.kernel.flush();
    const story = await readStory(store.database, approval.callId ?? '');
    expect(story).toMatchObject({ title: 'Write “HELLO” to the ledger (local)', valid: true });
    expect(story?.steps.map(({ kind, text }) => `${kind}: ${text}`)).toEqual([
      'asked: local asked',
      'evaluated: Policy decided: ask',
      'edited: ada edited the arguments',
      'decided: ada approved',
      'began: Intent written to the audit log before anything was sent',
      'ended: Done',
    ]);
    expect((await readStory(store.database, asked.callId))?.steps).toEqual(story?.steps);
    expect(story?.steps[2]?.change).toEqual({ before: { text: 'hello' }, after: { text: 'HELLO' } });
    const resolve = (name: string) => test.inventory.resolve(name);
    const undo = await test.call('ledger_erase', { text: 'HELLO' }, { principal: PERSON });
    if (undo.outcome.status !== 'routed') throw new Error('not asked');
    await approvals.approve(undo.outcome.approvalId, PERSON);
    const undone = await readStory(store.database, asked.callId, resolve);
    expect(undone?.steps.at(-1)).toMatchObject({
      kind: 'undone',
      text: 'ada undid it',
      entry: { valid: true },
    });
    // Arguments that are not those of the entry are not shown as what was edited.
    await store.database.db.updateTable('approval_edits').set({ new_args: '{"text":"forged"}' }).execute();
    const forged = await readStory(store.database, asked.callId);
    expect(forged?.steps[2]).toMatchObject({ kind: 'edited', change: null });
  });

  it('takes its title from the entries where the row or the approval was edited', async () => {
    const asked = await test.call('ledger_write', { text: 'hello' });
    if (asked.outcome.status !== 'routed') throw new Error('not asked');
    const { approval } = await test.kernel.approvals.approve(asked.outcome.approvalId, PERSON);
    const { db } = store.database;
    await db.updateTable('calls').set({ tool: 'ledger_read' }).execute();
    await db.updateTable('approvals').set({ summary: 'Like a kitten' }).execute();
    for (const id of [asked.callId, approval.callId ?? ''])
      expect(await readStory(store.database, id)).toMatchObject({ title: 'ledger_write', valid: true });
    const read = await test.call('ledger_read', {});
    await test.kernel.flush();
    const linked = db.updateTable('calls').where('call_id', '=', read.callId);
    await linked.set({ tool: 'ledger_erase', approval_id: approval.id }).execute();
    expect(await readStory(store.database, read.callId)).toMatchObject({
      title: 'ledger_read',
      approval_id: null,
      entries: 1,
    });
  });

  it('is empty and not valid for a row without entries, whatever approval it names', async () => {
    const asked = await test.call('ledger_write', { text: 'hello' });
    const { db } = store.database;
    const row = await db.selectFrom('calls').selectAll().executeTakeFirstOrThrow();
    const invented = { ...row, call_id: 'invented', tool: 'ledger_erase' };
    expect(row).toMatchObject({ call_id: asked.callId, approval_id: expect.any(Number) });
    await db.insertInto('calls').values(invented).execute();
    expect(await readStory(store.database, 'invented')).toEqual({
      call_id: 'invented',
      title: 'invented',
      approval_id: null,
      steps: [],
      entries: 0,
      valid: false,
    });
    // It does not join the story of another call either.
    const other = await readStory(store.database, asked.callId);
    expect(new Set(other?.steps.map(({ call_id }) => call_id))).toEqual(new Set([null, asked.callId]));
  });

  it('names an entry that was changed, and a standing approval that answered', async () => {
    await test.kernel.standing.add(
      {
        agent: 'agent:local',
        tool: 'ledger_write',
        predicates: [{ arg: 'text', op: 'any' }],
        until: new Date(at + 3_600_000).toISOString(),
        uses: 1,
      },
      PERSON,
    );
    const { callId } = await test.call('ledger_write', { text: 'x' });
    const story = await readStory(store.database, callId);
    expect(story?.steps.map(({ text }) => text)).toEqual([
      'local asked',
      'Policy decided: ask',
      'A standing approval answered',
      'Intent written to the audit log before anything was sent',
      'Done',
    ]);
    const last = story?.steps.at(-1)?.entry.hash ?? '';
    const { body } = await store.database.db
      .selectFrom('audit_log')
      .select('body')
      .where('hash', '=', last)
      .executeTakeFirstOrThrow();
    await store.database.db
      .updateTable('audit_log')
      .set({ body: body.replace('"status":"ok"', '"status":"failed"') })
      .where('hash', '=', last)
      .execute();
    const changed = await readStory(store.database, callId);
    expect(changed?.valid).toBe(false);
    expect(changed?.steps.at(-1)).toMatchObject({ text: 'Failed', entry: { valid: false } });
    expect(await readStory(store.database, 'none')).toBeUndefined();
  });

  it('has the words of the person who rejected it only as they were given', async () => {
    const asked = await test.call('ledger_write', { text: 'hello' });
    if (asked.outcome.status !== 'routed') throw new Error('not asked');
    await test.kernel.approvals.reject(asked.outcome.approvalId, PERSON, { reason: 'Not now' });
    await test.kernel.flush();
    const said = async () => (await readStory(store.database, asked.callId))?.steps.at(-1);
    expect(await said()).toMatchObject({ text: 'ada rejected', detail: 'Not now' });
    await store.database.db.updateTable('approvals').set({ feedback: 'Use the other tool' }).execute();
    expect(await said()).toMatchObject({ text: 'ada rejected', detail: null });
  });
});

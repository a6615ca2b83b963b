import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openTestStore, type TestStore } from '../../../test/support/engines.ts';
import { ToolError } from '../../contract/errors.ts';
import type { Approval } from '../../contract/ports.ts';
import { LOCAL_AGENT } from '../../contract/principal.ts';
import { digest } from '../../lib/canonical.ts';
import { toolNamed } from '../call/steps.fixture.ts';
import { ADA, type DecisionOptions, minutesLater, openDecisions } from './approvals.fixture.ts';
import { findPresentation } from './presentations.ts';

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore('sqlite');
});
afterAll(() => store.close());
beforeEach(async () => {
  for (const table of ['approvals', 'approval_edits', 'approval_previews'] as const)
    await store.database.db.deleteFrom(table).execute();
});

const open = (options?: DecisionOptions) => openDecisions(store.database, options);
const editsOf = ({ id }: Approval) =>
  store.database.db.selectFrom('approval_edits').selectAll().where('approval_id', '=', id).execute();

describe('an edit', () => {
  it('replaces the arguments, what is shown and who must sign, and keeps the history', async () => {
    const test = open({ signersFor: async ({ args }) => (args.text === 'edited' ? 2 : 0) });
    const asked = await test.ask({ risks: ['Odd'] });
    test.setClock(minutesLater(3));
    const args = { text: 'edited', dry_run: false };
    const edited = await test.approvals.edit(asked.id, ADA, args);
    expect(edited.args).toEqual({ text: 'edited' });
    expect(edited).toMatchObject({
      state: 'pending',
      version: 2,
      digest: digest('ledger_write', { text: 'edited' }),
      summary: expect.stringContaining('edited'),
      gist: 'edited',
      signers: 2,
      risks: expect.arrayContaining(['Odd']),
    });
    expect(await editsOf(asked)).toEqual([
      {
        approval_id: asked.id,
        edited_at: minutesLater(3).toISOString(),
        editor: 'person:ada',
        old_args: '{"text":"hello"}',
        new_args: '{"text":"edited"}',
        old_digest: asked.digest,
        new_digest: edited.digest,
      },
    ]);
    const { body } = await store.database.db
      .selectFrom('audit_log')
      .select('body')
      .orderBy('seq', 'desc')
      .executeTakeFirstOrThrow();
    expect(JSON.parse(body)).toMatchObject({
      kind: 'edit',
      principal: 'person:ada',
      digest: edited.digest,
      extra: { before: asked.digest },
    });
  });

  it('keeps the words of the requester and of the rule', async () => {
    const { approvals, queue, bound } = open();
    const args = { text: 'hello' };
    const own = digest('ledger_write', args);
    const call = { bound, args, digest: own, askedDigest: own, principal: LOCAL_AGENT };
    const outcome = await queue.route(
      { ...call, reason: undefined, runId: undefined, replayKey: undefined },
      { reason: 'the rule asks', rule: 'r' },
    );
    if (outcome.status !== 'routed') throw new Error(outcome.status);
    await approvals.edit(outcome.approvalId, ADA, { text: 'edited' });
    expect(await findPresentation(store.database.db, outcome.approvalId)).toMatchObject({
      said: null,
      asked: 'the rule asks',
      added: [],
    });
  });

  it('of a row from before presentations were stored has its reason as those words', async () => {
    const { approvals, ask } = open();
    for (const body of [undefined, { base_commit: 'c', files: [] }]) {
      const { id } = await ask({ risks: ['Odd'] });
      const { db } = store.database;
      await db.deleteFrom('approval_previews').where('approval_id', '=', id).execute();
      if (body)
        await db
          .insertInto('approval_previews')
          .values({ approval_id: id, body: JSON.stringify(body) })
          .execute();
      await approvals.edit(id, ADA, { text: 'edited' });
      expect(await findPresentation(db, id)).toMatchObject({ said: 'please', asked: 'please', added: [] });
    }
  });

  it('is for people, and for rows that are still pending', async () => {
    const { approvals, ask, read } = open();
    const asked = await ask();
    await expect(approvals.edit(asked.id, LOCAL_AGENT, { text: 'x' })).rejects.toMatchObject({
      code: 'policy_denied_hard_rule',
    });
    await approvals.reject(asked.id, ADA);
    await expect(approvals.edit(asked.id, ADA, { text: 'x' })).rejects.toMatchObject({
      code: 'approval_state',
    });
    expect(await read(asked)).toMatchObject({ args: { text: 'hello' }, version: 2 });
    expect(await editsOf(asked)).toEqual([]);
  });

  it('is refused for a permit, a missing tool and invalid arguments', async () => {
    const { approvals, ask } = open();
    const permit = await ask({ kind: 'permit' });
    await expect(approvals.edit(permit.id, ADA, { text: 'x' })).rejects.toMatchObject({
      code: 'approval_state',
      message: expect.stringContaining(`countersign approvals withdraw ${permit.id}`),
    });
    const { id } = await ask();
    await expect(approvals.edit(id, ADA, { text: '' })).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringMatching(/^Invalid arguments for ledger_write: text: /),
    });
    const without = open({ resolve: async () => undefined });
    await expect(without.approvals.edit(id, ADA, { text: 'x' })).rejects.toMatchObject({ code: 'not_found' });
    const issues = Array.from({ length: 12 }, (_, at) => ({ path: at === 0 ? '' : `a${at}`, message: 'no' }));
    const input = { json: {}, parse: () => ({ ok: false as const, issues }) };
    const strict = open({ tool: toolNamed('ledger_write', { input }) });
    await expect(strict.approvals.edit(id, ADA, {})).rejects.toMatchObject({
      message: `Invalid arguments for ledger_write: arguments: no; ${issues
        .slice(1, 10)
        .map(({ path }) => `${path}: no`)
        .join('; ')}.`,
    });
  });

  it('is refused where the tool would still complete it, or refuses it', async () => {
    const { id } = await open().ask();
    const incomplete = toolNamed('ledger_write', { prepare: () => ({ complete: async () => ({}) }) });
    await expect(open({ tool: incomplete }).approvals.edit(id, ADA, { text: 'x' })).rejects.toMatchObject({
      code: 'validation_error',
    });
    const seen: unknown[] = [];
    const check = (...all: unknown[]) => {
      seen.push(...all);
      throw new ToolError('invalid_input', 'Not this.');
    };
    const checked = open({ tool: toolNamed('ledger_write', { check }) });
    await expect(checked.approvals.edit(id, ADA, { text: 'x' })).rejects.toThrow('Not this.');
    expect(seen).toEqual([{ text: 'x' }, 'services', LOCAL_AGENT]);
    const unchecked = open({ tool: toolNamed('ledger_write', { check: undefined }) });
    expect(await unchecked.approvals.edit(id, ADA, { text: 'x' })).toMatchObject({ version: 2 });
  });
});

describe('what a person is shown', () => {
  it('is nothing where only part of it is stored', async () => {
    const { id } = await open().ask();
    const { db } = store.database;
    for (const body of ['{"presentation":{}}', '{"presentation":1,"added":[]}', '{"base_commit":"c"}']) {
      await db.updateTable('approval_previews').set({ body }).where('approval_id', '=', id).execute();
      await expect(findPresentation(db, id)).rejects.toMatchObject({
        code: 'db_error',
        detail: { id, column: 'presentation' },
      });
    }
  });

  const limit = { key: 'k', used: 1, of: 2, period_seconds: 60 };

  it('includes the limit, how it is usually decided, and whether it can be remembered', async () => {
    const { approvals, ask } = open({
      limitsOf: async ({ tool }, { requester }) => [{ ...limit, key: `${tool.name} ${requester.id}` }],
    });
    await approvals.reject((await ask()).id, ADA);
    const shown = await approvals.present({ ...(await ask()), rule: 'mine' });
    expect(shown).toMatchObject({
      limits: [{ ...limit, key: 'ledger_write local' }],
      usual: { approved: 0, of: 1 },
      needs_signature: false,
      remember: { possible: true, why: null },
    });
  });

  it('counts no decision on the call of another agent, nor one whose entry was changed', async () => {
    const { approvals, ask } = open();
    const { db } = store.database;
    const asked = await ask();
    const theirs = await ask({ requester: { kind: 'agent', id: 'other' } });
    await approvals.reject(theirs.id, ADA);
    const edit = db.updateTable('approvals').where('id', '=', theirs.id);
    await edit.set({ requester: 'agent:local' }).execute();
    expect(await approvals.present(asked)).toMatchObject({ usual: null });
    const mine = await ask();
    await approvals.reject(mine.id, ADA);
    expect(await approvals.present(asked)).toMatchObject({ usual: { approved: 0, of: 1 } });
    const entries = db.updateTable('audit_log').where('body', 'like', `%${mine.uuid}%`);
    await entries.set({ hash: '0'.repeat(64) }).execute();
    expect(await approvals.present(asked)).toMatchObject({ usual: null });
  });

  it('is nothing when it cannot be compared with the log, even if the row has changed since', async () => {
    const { approvals, ask } = open();
    const asked = await ask();
    const { db } = store.database;
    let hasFailed = false;
    // A plugin holds its connection until it answers, so the reader has its own.
    const reader = await store.again();
    const failing = reader.db.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        if (hasFailed || !result.rows.some((row) => Object.hasOwn(row, 'hash'))) return result;
        hasFailed = true;
        await db.updateTable('approvals').set({ version: 2 }).where('id', '=', asked.id).execute();
        throw new Error('the disk is full');
      },
    });
    const { approvals: unable } = openDecisions({ ...store.database, db: failing });
    await expect(unable.present(asked)).rejects.toThrow('the disk is full');
    await expect(approvals.present(asked)).resolves.toMatchObject({ needs_signature: false });
  });

  it('says that a signature is needed, while it is pending', async () => {
    const { approvals, ask, read } = open({ signersFor: async () => 1 });
    const asked = await ask();
    expect(await approvals.present(asked)).toMatchObject({
      needs_signature: true,
      remember: { possible: false, why: expect.stringContaining('passkey') },
    });
    await approvals.reject(asked.id, ADA);
    expect(await approvals.present(await read(asked))).toMatchObject({
      needs_signature: false,
      remember: { why: 'Suggestions are decided one by one.' },
    });
  });

  it('has no limit where the tool is gone', async () => {
    const asked = await open().ask();
    const { approvals } = open({ resolve: async () => undefined, limitsOf: async () => [limit] });
    expect(await approvals.present(asked)).toMatchObject({ limits: [], needs_signature: true });
  });
});

describe('an approval that is looked at', () => {
  it('is given to those who may approve it, and not decided', async () => {
    const { approvals, ask, read, ran } = open();
    const asked = await ask();
    expect(await approvals.requireApprovable(asked.id, ADA, { version: 1 })).toEqual(asked);
    await expect(approvals.requireApprovable(asked.id, ADA, { version: 2 })).rejects.toMatchObject({
      code: 'approval_state',
    });
    expect([await read(asked), ran]).toEqual([asked, []]);
  });

  it('is shown to an agent as its toolkit says', async () => {
    const { approvals, ask } = open({ toolkit: { redactForAgent: async () => '(hidden)' } });
    const asked = await ask();
    expect(await approvals.tell(asked, LOCAL_AGENT)).toMatchObject({ id: asked.id, reason: '(hidden)' });
    expect(await approvals.tell(asked, ADA)).toEqual(asked);
  });
});

describe('a list', () => {
  it('has no approval that is pending past its time', async () => {
    const { approvals, ask, setClock, read } = open();
    const asked = await ask();
    setClock(minutesLater(60));
    expect(await approvals.list({ states: ['done'] })).toEqual([]);
    expect(await approvals.count({ states: ['done'] })).toBe(0);
    expect(await read(asked)).toMatchObject({ state: 'pending' });
    expect(await approvals.list({ states: ['pending'] })).toEqual([]);
    expect(await read(asked)).toMatchObject({ state: 'expired' });
  });

  it('and its count sweep without a filter too', async () => {
    const { approvals, ask, setClock } = open();
    await ask();
    setClock(minutesLater(60));
    expect(await approvals.count({})).toBe(1);
    expect(await approvals.count({ states: ['expired'] })).toBe(1);
  });

  it('shows agents what they may decide, where they may', async () => {
    const scout = { kind: 'agent', id: 'scout' } as const;
    const shownTo = { kind: 'agent', id: 'other' } as const;
    await open().ask({ requester: scout });
    for (const agentsMayApprove of [false, true]) {
      const { approvals } = open({ agentsMayApprove });
      expect(await approvals.list({ shownTo })).toHaveLength(agentsMayApprove ? 1 : 0);
      expect(await approvals.count({ shownTo })).toBe(agentsMayApprove ? 1 : 0);
    }
  });

  it('fails where the presentations cannot be read from the database', async () => {
    const other = await openTestStore('sqlite');
    const { approvals, ask } = openDecisions(other.database);
    await ask();
    await sql`alter table approval_previews rename to other_previews`.execute(other.database.db);
    await expect(approvals.list({ fresh: true })).rejects.toThrow('approval_previews');
    await other.close();
  });

  it('is fresh only for those who ask for it', async () => {
    const asked = await open().ask();
    const present = () => ({ title: 'Now', act: 'write' }) as const;
    const { approvals } = open({ tool: toolNamed('ledger_write', { present }) });
    expect((await approvals.list({})).map(({ summary }) => summary)).toEqual([asked.summary]);
    const [fresh] = await approvals.list({ fresh: true });
    expect(fresh?.summary).toMatch(/^Now/);
  });
});

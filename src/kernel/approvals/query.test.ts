import type { Insertable } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestStore, type TestStore } from '../../../test/support/engines.ts';
import type { ApprovalFilter } from '../../contract/ports.ts';
import { LOCAL_AGENT, type Principal, principalName } from '../../contract/principal.ts';
import type { EntryInput } from '../log/entry.ts';
import type { ApprovalsTable } from '../store/tables.ts';
import { ADA, AT, appendToLog, minutesLater, rowOf } from './approvals.fixture.ts';
import {
  type ApprovalQuery,
  approvalEdits,
  countApprovals,
  countFacets,
  countGroups,
  findApproval,
  idsOf,
  listApprovals,
  usualDecisions,
} from './query.ts';
import { toApproval } from './row.ts';

const agent = (id: string): Principal => ({ kind: 'agent', id });
const CLOCK: Principal = { kind: 'system', id: 'clock' };

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore('sqlite');
});
afterAll(() => store.close());

const db = () => store.database.db;
const insert = (more: Partial<Insertable<ApprovalsTable>>) =>
  db().insertInto('approvals').values(rowOf(more)).returningAll().executeTakeFirstOrThrow();

/** Replaces all rows; each is known by its reason. */
const fill = async (rows: Readonly<Record<string, Partial<Insertable<ApprovalsTable>>>>): Promise<void> => {
  await db().deleteFrom('approvals').execute();
  for (const [reason, row] of Object.entries(rows)) await insert({ reason, ...row });
};
const found = async (filter: ApprovalQuery): Promise<string[]> =>
  (await listApprovals(db(), filter)).map(({ reason }) => reason);

describe('a stored approval', () => {
  it('is read with everything it says', async () => {
    const row = await insert({
      kind: 'permit',
      state: 'done',
      binding: '{"lines":3}',
      requester_label: 'Editor',
      gist: 'hello',
      environment: 'live',
      signers: 2,
      risks: '["Moves money"]',
      context: '{"ordered_by":"person:ada"}',
      run_id: 'run-1',
      group_id: 'group-1',
      expires_at: minutesLater(1).toISOString(),
      decided_at: minutesLater(2).toISOString(),
      decided_by: 'person:ada',
      decision_reason: 'fine',
      feedback: 'softer',
      call_id: 'call-1',
      outcome: '{"status":"ok"}',
      version: 4,
    });
    expect(toApproval(row)).toEqual({
      id: row.id,
      uuid: row.uuid,
      kind: 'permit',
      state: 'done',
      tool: 'ledger_write',
      toolkit: 'ledger',
      effect: 'change',
      args: { text: 'hello' },
      digest: row.digest,
      binding: { lines: 3 },
      requester: { ...LOCAL_AGENT, label: 'Editor', orderedBy: 'person:ada' },
      reason: 'please',
      rule: 'ask',
      summary: 'Write “hello” to the ledger',
      gist: 'hello',
      environment: 'live',
      signers: 2,
      risks: ['Moves money'],
      context: { ordered_by: 'person:ada' },
      runId: 'run-1',
      groupId: 'group-1',
      createdAt: AT,
      expiresAt: minutesLater(1),
      decidedAt: minutesLater(2),
      decidedBy: ADA,
      decisionReason: 'fine',
      feedback: 'softer',
      callId: 'call-1',
      outcome: { status: 'ok' },
      version: 4,
    });
  });

  it('has no value for what was not stored', async () => {
    const approval = toApproval(await insert({ context: '{"ordered_by":7}' }));
    expect(approval.requester).toEqual(LOCAL_AGENT);
    const { binding, gist, environment, runId, groupId, expiresAt, decidedAt, decidedBy } = approval;
    const { decisionReason, feedback, callId, outcome } = approval;
    const missing = [binding, gist, environment, runId, groupId, expiresAt, decidedAt, decidedBy];
    expect([...missing, decisionReason, feedback, callId, outcome]).toEqual(Array(12).fill(undefined));
  });

  it.each(['requester', 'decided_by'])('is refused when its %s is not a principal', async (column) => {
    const row = await insert({ [column]: 'mallory' });
    expect(() => toApproval(row)).toThrow(`Approval ${row.id} cannot be read.`);
  });

  it('is found by its number, as digits too, and by its UUID', async () => {
    const { id, uuid } = await insert({});
    for (const name of [id, String(id), uuid]) expect(await findApproval(db(), name)).toMatchObject({ id });
    expect(await findApproval(db(), 'none')).toBeUndefined();
  });

  it('is not looked for by a number that no row can have', async () => {
    await db().deleteFrom('approvals').where('id', '>', 2_000_000_000).execute();
    await insert({ id: 2_147_483_647, reason: 'last' });
    await insert({ id: 2_147_483_648, reason: 'beyond' });
    expect(await findApproval(db(), 2_147_483_647)).toMatchObject({ reason: 'last' });
    expect(await findApproval(db(), '2147483648')).toBeUndefined();
    // A UUID may begin or end like a number.
    for (const uuid of ['7-uuid', 'uuid-7', '12345678901']) {
      await insert({ uuid, reason: uuid });
      expect(await findApproval(db(), uuid)).toMatchObject({ reason: uuid });
    }
  });
});

describe('a filter', () => {
  const MINE = {
    state: 'approved',
    toolkit: 'x',
    tool: 'x_post',
    group_id: 'g',
    environment: 'live',
    effect: 'destroy',
    signers: 1,
    run_id: 'r',
    kind: 'permit',
    digest: 'd',
    requester: 'agent:scout',
    gist: 'A 100% Sure_thing \\ here, Größe 7',
  };
  const [earlier, later] = [minutesLater(-1).toISOString(), minutesLater(1).toISOString()];
  beforeAll(() =>
    fill({
      mine: { ...MINE, created_at: AT.toISOString(), decided_at: AT.toISOString() },
      early: { created_at: earlier, decided_at: earlier },
      late: { created_at: later },
    }),
  );

  it.each<[string, ApprovalFilter]>([
    ['state', { states: ['approved'] }],
    ['toolkit', { toolkit: 'x' }],
    ['toolkits', { toolkits: ['x'] }],
    ['tool', { tools: ['x_post'] }],
    ['group', { groupId: 'g' }],
    ['environment', { environments: ['live'] }],
    ['effect', { effects: ['destroy'] }],
    ['signature', { signed: true }],
    ['run', { runId: 'r' }],
    ['kind', { kind: 'permit' }],
    ['digest', { digest: 'd' }],
    ['requester', { requesters: [agent('scout')] }],
    ['time of the decision', { decidedSince: AT }],
    ['text, whatever its case', { text: 'sure_THING' }],
    ['text beyond ASCII', { text: 'größe 7' }],
    ['percent sign', { text: '100%' }],
    ['backslash', { text: '\\' }],
    ['text of the tool', { text: 'x_po' }],
    ['text of the requester', { text: 'scout' }],
    ['text of the reason', { text: 'mine' }],
  ])('by %s finds what has it', async (_by, filter) => {
    expect(await found(filter)).toEqual(['mine']);
    expect(await countApprovals(db(), filter)).toBe(1);
  });

  it('takes the signs of a pattern for text', async () => {
    for (const text of ['1%0', 'sure-thing', 'p_ease', 'a%h']) expect(await found({ text })).toEqual([]);
    expect(await found({ text: 'write “hello” to' })).toHaveLength(3);
    expect(await found({ text: '"text":"hello"' })).toHaveLength(3);
  });

  it('by time includes its beginning and not its end', async () => {
    expect(await found({ askedSince: AT })).toEqual(['late', 'mine']);
    expect(await found({ askedBefore: AT })).toEqual(['early']);
  });

  it('by number bounds the list', async () => {
    const [, second = 0] = (await listApprovals(db(), { order: 'oldest' })).map(({ id }) => id);
    expect(await found({ afterId: second })).toEqual(['late']);
    expect(await found({ upToId: second })).toEqual(['early', 'mine']);
    expect(await found({ upToId: 0 })).toEqual([]);
    expect(await found({ afterId: 0 })).toHaveLength(3);
  });

  it('with an empty list finds nothing, and without one everything', async () => {
    expect(await found({ states: [] })).toEqual([]);
    expect(await found({})).toEqual(['late', 'early', 'mine']);
    expect(await found({ limit: 1 })).toEqual(['late']);
    expect(await found({ limit: 2, offset: 1 })).toEqual(['early', 'mine']);
  });

  it('gives the numbers of what it matches, lowest first and up to a limit', async () => {
    const all = (await listApprovals(db(), { order: 'oldest' })).map(({ id }) => id);
    const ids = async (most: number) => (await idsOf(db(), {}, most).execute()).map(({ id }) => id);
    expect(await ids(9)).toEqual(all);
    expect(await ids(2)).toEqual(all.slice(0, 2));
  });
});

describe('the order of a list', () => {
  beforeAll(() =>
    fill({
      rest: { requester: 'agent:b', run_id: 'r1' },
      live: { requester: 'agent:b', environment: 'live' },
      risky: { requester: 'agent:a', risks: '["Cannot be undone"]', run_id: 'r2' },
      money: { requester: 'agent:a', risks: '["Moves money"]', run_id: 'r1' },
      destroys: { requester: 'agent:a', effect: 'destroy' },
      signed: { requester: 'agent:b', signers: 1, run_id: 'r2' },
    }),
  );

  it.each<[ApprovalFilter['order'], string[]]>([
    [undefined, ['signed', 'destroys', 'money', 'risky', 'live', 'rest']],
    ['newest', ['signed', 'destroys', 'money', 'risky', 'live', 'rest']],
    ['oldest', ['rest', 'live', 'risky', 'money', 'destroys', 'signed']],
    ['danger', ['signed', 'destroys', 'money', 'risky', 'live', 'rest']],
    ['requester', ['destroys', 'money', 'risky', 'signed', 'live', 'rest']],
    ['run', ['signed', 'risky', 'money', 'rest', 'destroys', 'live']],
  ])('is by %s', async (order, expected) => {
    expect(await found({ order })).toEqual(expected);
  });

  it('puts what is dangerous first even if it is older', async () => {
    const [oldest] = await listApprovals(db(), { order: 'oldest' });
    await db()
      .updateTable('approvals')
      .set({ signers: 3 })
      .where('id', '=', oldest?.id ?? 0)
      .execute();
    expect((await found({ order: 'danger' })).slice(0, 2)).toEqual(['signed', 'rest']);
    expect((await found({ order: 'requester' })).slice(3)).toEqual(['signed', 'rest', 'live']);
    await db()
      .updateTable('approvals')
      .set({ signers: 0 })
      .where('id', '=', oldest?.id ?? 0)
      .execute();
  });

  it('has the same groups as the counts of its headings', async () => {
    const groups = (group: 'risk' | 'agent' | 'run') => countGroups(db(), {}, group);
    expect(await groups('risk')).toEqual([
      { value: '1', count: 2 },
      { value: '0', count: 1 },
      { value: '2', count: 1 },
      { value: '3', count: 1 },
      { value: '4', count: 1 },
    ]);
    expect(await groups('agent')).toEqual([
      { value: 'agent:a', count: 3 },
      { value: 'agent:b', count: 3 },
    ]);
    expect(await groups('run')).toEqual([
      { value: 'r1', count: 2 },
      { value: 'r2', count: 2 },
    ]);
    expect(await countGroups(db(), { effects: ['destroy'] }, 'agent')).toEqual([
      { value: 'agent:a', count: 1 },
    ]);
  });

  it('counts each facet within the filter, and its own values without', async () => {
    const facets = await countFacets(db(), { requesters: [agent('a')] });
    expect(facets.requester).toHaveLength(2);
    expect(facets.effect).toEqual([
      { value: 'change', count: 2 },
      { value: 'destroy', count: 1 },
    ]);
    expect(facets.signature).toEqual([]);
    expect(facets.environment).toEqual([]);
    expect((await countFacets(db(), {})).signature).toEqual([{ value: 'required', count: 1 }]);
    const widened = await countFacets(db(), {
      tools: ['none'],
      toolkits: ['none'],
      environments: ['live'],
      effects: ['none'],
      runId: 'none',
    });
    expect(widened).toEqual({
      signature: [],
      requester: [],
      tool: [],
      toolkit: [],
      environment: [],
      effect: [],
      run_id: [],
    });
    expect((await countFacets(db(), { runId: 'r1' })).run_id).toHaveLength(2);
    expect((await countFacets(db(), { tools: ['none'] })).tool).toEqual([
      { value: 'ledger_write', count: 6 },
    ]);
    expect((await countFacets(db(), { toolkits: ['none'] })).toolkit).toEqual([
      { value: 'ledger', count: 6 },
    ]);
    expect((await countFacets(db(), { environments: ['local'] })).environment).toEqual([
      { value: 'live', count: 1 },
    ]);
    expect((await countFacets(db(), { effects: ['read'] })).effect).toHaveLength(2);
  });
});

describe('what a reader is shown', () => {
  const NAMES = ['agent:local', 'agent:scout', 'agent:other', 'agent:assistant', 'system:clock'];
  beforeAll(() =>
    fill(
      Object.fromEntries(
        [...NAMES, 'system:scheduler', 'person:ada'].map((requester) => [requester, { requester }]),
      ),
    ),
  );
  const shown = async (reader: Principal, agentsMayApprove: boolean) =>
    (await found({ shownTo: reader, agentsMayApprove, order: 'oldest' })).sort();

  it('is everything for people and the system', async () => {
    for (const reader of [ADA, CLOCK]) expect(await shown(reader, false)).toHaveLength(7);
  });

  it('is its own for an agent, and the jobs of the system for one without a name', async () => {
    expect(await shown(agent('scout'), false)).toEqual(['agent:scout']);
    expect(await shown(LOCAL_AGENT, false)).toEqual(['agent:local', 'system:clock', 'system:scheduler']);
  });

  it('is also what an agent may decide, where agents may', async () => {
    const scout = await shown(agent('scout'), true);
    expect(scout).toEqual(['agent:other', 'agent:scout', 'person:ada', 'system:clock']);
    const local = ['agent:local', 'person:ada', 'system:clock', 'system:scheduler'];
    expect(await shown(LOCAL_AGENT, true)).toEqual(local);
  });
});

describe('how an approval came about', () => {
  it('lists the edits of this approval, oldest first', async () => {
    const edit = (approval_id: number, minutes: number) => ({
      approval_id,
      edited_at: minutesLater(minutes).toISOString(),
      editor: 'person:ada',
      old_args: '{}',
      new_args: '{}',
      old_digest: 'a',
      new_digest: 'b',
    });
    await db()
      .insertInto('approval_edits')
      .values([edit(1, 2), edit(1, 1), edit(2, 0)])
      .execute();
    expect((await approvalEdits(db(), 1)).map(({ edited_at }) => edited_at)).toEqual([
      minutesLater(1).toISOString(),
      minutesLater(2).toISOString(),
    ]);
  });

  it('counts how the last calls of the same tool by the same requester were decided', async () => {
    const done = { state: 'done' };
    await fill({
      asked: {},
      again: { state: 'pending' },
      done,
      rejected: { state: 'rejected' },
      running: { state: 'executing' },
      expired: { state: 'expired' },
      'another tool': { ...done, tool: 'ledger_erase' },
      'another agent': { ...done, requester: 'agent:other' },
      forged: done,
      refused: { state: 'failed' },
    });
    const all = await listApprovals(db(), { order: 'oldest' });
    const said = (reason: string, status: string, more: Partial<EntryInput> = {}): EntryInput[] =>
      all
        .filter((one) => one.reason === reason)
        .map(({ uuid, digest, tool, requester }) => ({
          kind: 'approval',
          at: minutesLater(1).toISOString(),
          tool,
          status,
          approval: { uuid, digest, requester: principalName(requester) },
          ...more,
        }));
    await appendToLog(store.database, [
      ...['done', 'running', 'another tool', 'another agent'].flatMap((one) => said(one, 'approved')),
      ...said('rejected', 'rejected'),
      ...said('forged', 'pending'),
      ...said('forged', 'approved', { tool: 'ledger_read' }),
      ...said('refused', 'rejected', { code: 'approval_invalid' }),
    ]);
    const usual = async (reason: string) => {
      const approval = all.find((one) => one.reason === reason);
      return approval && usualDecisions(store.database, approval);
    };
    expect(await usual('asked')).toEqual({ approved: 2, of: 3 });
    expect(await usual('rejected')).toEqual({ approved: 2, of: 2 });
    expect(await usual('another tool')).toBeNull();
  });
});

import type { Updateable } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ApprovalsTable } from '../../kernel/store/tables.ts';
import type {
  ExplainData,
  MatrixData,
  RecommendationsData,
  ReplayReply,
} from '../../kernel/views/policy-shapes.ts';
import type { AgentDetail, AgentsData } from '../../kernel/views/shapes.ts';
import { openWebWorld, type WebWorld } from './api.fixture.ts';

describe('policy through the web API', () => {
  let world: WebWorld;
  beforeEach(async () => {
    world = await openWebWorld();
  });
  afterEach(() => world.close());

  const get = async <T>(path: string): Promise<T> => (await world.get(path)).body as T;
  const post = async <T>(path: string, body: unknown): Promise<T> =>
    (await world.send('POST', path, body)).body as T;
  const approve = async (id: number): Promise<void> => {
    const { version } = (await world.get(`/inbox/${id}`)).body as { version: number };
    expect((await world.send('POST', `/inbox/${id}/approve`, { version })).status).toBe(200);
  };

  it('replays a draft rule on past calls and names those that a person rejected, without running any', async () => {
    const kept = await world.ask('weekly report');
    await approve(kept);
    const refused = await world.ask('cold message');
    await world.send('POST', `/inbox/${refused}/reject`, { reason: 'no cold messages' });
    await world.call('ledger_read', {});
    const before = await world.lines();
    const rule = { id: 'r', tools: ['ledger_write'], priority: 1, action: 'allow' };
    // A list asks in addition to the rules, and an allow exempts from it.
    const replay = (await post<ReplayReply>('/policy/replay', { rule })).replay;
    if (!replay) throw new Error('not replayed');
    expect(replay).toMatchObject({
      looked_at: 3,
      no_longer_ask: 2,
      newly_ask: 0,
      still_ask: 0,
      lets_through_rejected: 1,
      unknown: 0,
      more: 0,
    });
    expect(
      replay.changes.map(({ title, before: was, after, decided }) => [title, was, after, decided]),
    ).toEqual([
      ['Write “cold message” to the ledger (local)', 'ask', 'allow', 'rejected'],
      ['Write “weekly report” to the ledger (local)', 'ask', 'allow', 'approved'],
    ]);
    for (const { call_id } of replay.changes)
      expect((await world.get(`/activity/${call_id}`)).status).toBe(200);
    expect(await world.lines()).toEqual(before);
    const when = `args.text.contains("report")`;
    expect(await post('/policy/replay', { rule: { ...rule, when } })).toMatchObject({
      replay: { no_longer_ask: 1, still_ask: 1, lets_through_rejected: 0 },
    });
    expect((await get<{ calls: object[] }>('/activity')).calls).toHaveLength(4);
  });

  it('attaches what is wrong with a rule to the field it is about', async () => {
    const rule = { id: 'r', tools: ['ledger_wrote'], when: 'args.txt == "a"', action: 'deny' };
    const issue = {
      rule: 'r',
      field: 'tools',
      message: expect.stringContaining("did you mean 'ledger_write'"),
    };
    const replay = (draft: object) => world.send('POST', '/policy/replay', { rule: draft });
    expect(await replay(rule)).toMatchObject({ status: 200, body: { issues: [issue], replay: null } });
    expect(await world.send('PUT', '/policy', { rules: [rule] })).toMatchObject({
      status: 400,
      body: { detail: { issues: [issue] } },
    });
    expect(await replay({ ...rule, tools: ['ledger_write'] })).toMatchObject({
      body: { issues: [{ rule: 'r', field: 'when', message: expect.stringContaining("'text'") }] },
    });
    expect(await replay({ ...rule, action: 'maybe' })).toMatchObject({
      body: { issues: [{ field: 'action' }] },
    });
  });

  it('explains a pasted call as it is, and with a draft rule', async () => {
    const asked = { tool: 'ledger_write', args: { text: 'hello' } };
    expect(await post<ExplainData>('/policy/explain', asked)).toMatchObject({
      action: 'ask',
      rule: 'list:require_approval_for',
    });
    const rule = { id: 'closed', tools: ['ledger_write'], when: 'args.text == "hello"', action: 'deny' };
    expect(await post('/policy/explain', { ...asked, rule })).toMatchObject({
      action: 'deny',
      rule: 'closed',
    });
    expect(await post('/policy/explain', { ...asked, tool: 'ledger.write' })).toMatchObject({
      action: 'ask',
    });
    expect(await world.send('POST', '/policy/explain', { tool: 'ledger_write', args: {} })).toMatchObject({
      status: 400,
      body: { detail: { issues: [{ field: 'text' }] } },
    });
    expect(await world.send('POST', '/policy/explain', { tool: 'ledger_wrote' })).toMatchObject({
      status: 404,
      body: { error: expect.stringContaining('Did you mean ledger_write?') },
    });
    await world.send('POST', '/agents/local/pause');
    expect(await post('/policy/explain', asked)).toMatchObject({ action: 'deny', rule: 'hard:agent_paused' });
    const { rows } = await get<MatrixData>('/policy/matrix');
    expect(new Set(rows.map((row) => row.rule))).toEqual(new Set(['hard:agent_paused']));
  });

  it('says in the matrix that agents cannot call what no profile offers', async () => {
    const rowFor = async (who: string) =>
      (await get<MatrixData>(`/policy/matrix?principal=${who}`)).rows.find(
        ({ tool }) => tool === 'dev_pr_merge',
      );
    expect(await rowFor('agent:local')).toMatchObject({ offered: false });
    expect(await rowFor('person:ada')).toMatchObject({ offered: true });
  });

  it('says in the matrix what depends on the arguments', async () => {
    const rule = { id: 'some', tools: ['ledger_write'], when: 'args.text == "a"', action: 'deny' };
    await world.send('PUT', '/policy', { rules: [rule] });
    const { rows } = await get<MatrixData>('/policy/matrix');
    expect(rows.find(({ tool }) => tool === 'ledger_write')).toMatchObject({
      action: 'deny',
      depends: { rules: ['some'], loosest: 'ask' },
    });
  });

  it('recommends what was always approved or always rejected, with its evidence', async () => {
    for (let n = 0; n < 9; n += 1) await approve(await world.ask(`report ${n}`));
    expect(await get<RecommendationsData>('/policy/recommendations')).toEqual({
      recommendations: [],
      looked_at: 9,
    });
    await approve(await world.ask('report 9'));
    const { recommendations } = await get<RecommendationsData>('/policy/recommendations');
    expect(recommendations).toMatchObject([
      {
        kind: 'standing',
        agent: 'agent:local',
        tool: 'ledger_write',
        evidence: { asked: 10, approved: 10, edited: 0, rejected: 0 },
        draft: { predicates: [{ arg: 'text', op: 'links_only', hosts: [] }] },
      },
    ]);
    const [{ draft } = { draft: null }] = recommendations;
    expect((await world.send('POST', '/standing', { draft })).status).toBe(201);
    expect((await world.call('ledger_write', { text: 'the eleventh' })).outcome.status).toBe('ok');
    expect(await get('/policy/recommendations')).toMatchObject({ recommendations: [] });
  });

  it.each<[string, Updateable<ApprovalsTable>]>([
    ['was rejected and is said to be done', { state: 'done' }],
    ['has another title', { summary: 'Write “report” to the ledger (local)' }],
    ['has arguments that cannot be read', { args: '{' }],
    ['was decided by someone else', { decided_by: 'person:mallory' }],
  ])('recommends nothing by decisions of which one %s', async (what, forged) => {
    for (let n = 0; n < 10; n += 1) await approve(await world.ask(`report ${n}`));
    const id = await world.ask('report 10');
    if (what.startsWith('was rejected')) await world.send('POST', `/inbox/${id}/reject`, {});
    else await approve(id);
    const all = what.startsWith('was rejected') ? 0 : 1;
    expect((await get<RecommendationsData>('/policy/recommendations')).recommendations).toHaveLength(all);
    await world.app.database.db.updateTable('approvals').set(forged).where('id', '=', id).execute();
    expect(await get('/policy/recommendations')).toEqual({ recommendations: [], looked_at: 11 });
  });

  it('never recommends anything for a destructive tool', async () => {
    for (let n = 0; n < 12; n += 1) {
      const { outcome } = await world.call('ledger_erase', { text: `line ${n}` });
      if (outcome.status === 'routed') await approve(outcome.approvalId);
    }
    expect(await get('/policy/recommendations')).toEqual({ recommendations: [], looked_at: 12 });
  });

  it('shows an agent with its history, what it may do alone and why it was rejected', async () => {
    await approve(await world.ask('yes'));
    const no = await world.ask('no');
    await world.send('POST', `/inbox/${no}/reject`, { feedback: 'count first' });
    await world.send('POST', '/agents', { name: 'robin' });
    const { agents, days } = await get<AgentsData>('/agents/overview');
    expect(agents.map(({ name, token_since }) => [name, token_since !== null])).toEqual([
      ['local', false],
      ['robin', true],
    ]);
    expect(agents[0]?.days).toHaveLength(days);
    expect(agents[0]?.days.at(-1)).toBe(3);
    expect(agents[0]?.decisions).toEqual({ asked: 2, approved: 1, edited: 0, rejected: 1, pending: 0 });
    const local = await get<AgentDetail>('/agents/local/overview');
    expect(local.last.map(({ title, state, reason }) => [title, state, reason])).toEqual([
      ['Write “no” to the ledger (local)', 'rejected', 'count first'],
      ['Write “yes” to the ledger (local)', 'done', null],
    ]);
    const alone = local.alone.flatMap(({ tools }) => tools.map(({ tool }) => tool));
    expect(alone).toContain('ledger_write_blind');
    expect(alone).not.toContain('ledger_write');
    expect(alone).not.toContain('ledger_erase');
    expect((await world.get('/agents/nobody/overview')).status).toBe(404);
  });
});

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { renderAuditTrail } from '../audit/report.ts';
import type { AuditTrail } from '../audit/trail.ts';
import { ADA, openResearchWorld, openWithProject } from '../test/support/kernel.ts';
import { INTERVIEW } from '../test/support/qualcoder.ts';
import { trailShape } from '../views.ts';

let world: Awaited<ReturnType<typeof openWithProject>>;
beforeEach(async () => {
  world = await openWithProject({}, 16);
});
afterEach(() => world.close());

const asAda = { principal: ADA };

describe('the page', () => {
  it('shows the project with what waits and who coded', async () => {
    await world.data('suggest_new_code', { name: 'N', rationale: 'r' });
    expect(await world.view('project')).toMatchObject({
      project_open: true,
      project_name: 'study-v16',
      memo: 'What we ask.\n#####\nmy own doubts',
      coder: 'ada',
      coding_count: 3,
      pending_count: 1,
      coders: [
        { name: 'ada', count: 2, kind: 'person' },
        { name: 'bob', count: 1, kind: 'person' },
      ],
      open_in_qualcoder_by: null,
      recent: [{ path: world.path }],
    });
    const empty = await openResearchWorld();
    expect(await empty.view('project')).toEqual({ project_open: false, recent: [] });
    await empty.close();
  });

  it('shows a page of a source with what lies on it, in original names and with whole memos', async () => {
    const start = INTERVIEW.indexOf('I worry');
    await world.data('suggest_code_application', {
      source_id: 1,
      code_id: 2,
      start_pos: start,
      end_pos: start + 5,
    });
    const page = await world.view<{
      content: string;
      segments: object[];
      suggestions: object[];
      annotations: object[];
    }>('source', {
      source_id: '1',
      start_pos: String(start - 3),
      max_length: '30',
    });
    expect(page.content).toBe(INTERVIEW.slice(start - 3, start + 27));
    expect(page).toMatchObject({
      memo: 'first talk\n#####\nreal name inside',
      has_more: true,
      total_length: INTERVIEW.length,
    });
    expect(page.segments).toMatchObject([
      { id: 7, color: '#FF6B6B', code_name: 'Anxiety' },
      { id: 8, color: '#ff0000' },
    ]);
    expect(page.suggestions).toMatchObject([
      { code_id: 2, code_name: 'Coping', start_pos: start, end_pos: start + 5 },
    ]);
    expect(page.annotations).toEqual([]);
    const all = await world.view('marks', { source_id: 1 });
    expect(all).not.toHaveProperty('content');
    expect(all).toMatchObject({ suggestions: page.suggestions, annotations: [{ memo: 'who asks' }] });
    expect(await world.view('source', { source_id: 1 })).toMatchObject({
      annotations: [{ memo: 'who asks', start_pos: 0 }],
    });
    expect(await world.view('source', { source_id: 3 })).toMatchObject({
      content: '',
      total_length: 0,
      type: 'image',
    });
    await expect(world.view('source', { source_id: 'x' })).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(world.view('source', { source_id: 99 })).rejects.toMatchObject({ code: 'source_not_found' });
  });

  it('shows the code tree with categories and sub-codes', async () => {
    const { store } = await (await world.services()).projects.current();
    await store.write({ callId: 'c', tool: 't', owner: 'ada', principal: 'person:ada' }, (writer) =>
      writer.addCode({ name: 'Fear of flying', parentId: 1 }),
    );
    expect(await world.view('codes')).toMatchObject({
      categories: [
        {
          name: 'Feelings',
          codes: [],
          categories: [
            {
              name: 'Bad ones',
              codes: [
                { name: 'Anxiety', children: [{ name: 'Fear of flying', children: [] }] },
                { name: 'Anxious' },
              ],
            },
          ],
        },
      ],
      codes: [{ name: 'Coping' }],
    });
    expect(await world.view('code', { code_id: 1 })).toMatchObject({
      name: 'Anxiety',
      total: 1,
      segments: [{ id: 7, source_name: 'interview1.txt', selected_text: 'I worry about money' }],
    });
  });

  it('shows suggestions with their passage, changes with undo numbers, and what is kept from agents', async () => {
    const start = INTERVIEW.indexOf('I worry');
    await world.data('suggest_code_application', {
      source_id: 1,
      code_id: 2,
      start_pos: start,
      end_pos: start + 7,
    });
    expect(await world.view('suggestions')).toMatchObject([
      {
        kind: 'coding',
        passage: {
          text: 'I worry',
          source_name: 'interview1.txt',
          before: expect.stringMatching(/Badly\. $/),
        },
      },
    ]);
    const asked = { code_id: 2, source_id: 1, start_pos: start, end_pos: start + 7 };
    expect(await world.view('passage', asked)).toMatchObject({
      text: 'I worry',
      code_name: expect.any(String),
      code_color: expect.stringMatching(/^#/),
    });
    expect(await world.view('passage', { ...asked, project: 'another' })).toBeNull();
    await world.data('create_code', { name: 'New' });
    expect(await world.view('changes')).toMatchObject([
      {
        tool: 'create_code',
        state: 'applied',
        summary: '1 code added',
        about: ['New'],
        owner: 'AI: claude-code',
      },
    ]);
    await world.data('set_source_access', { source_id: 2, off_limits: true }, asAda);
    await world.data('set_pseudonym', { original: 'Ada', pseudonym: 'P1' }, asAda);
    expect(await world.view('privacy')).toEqual({
      off_limits: [{ id: 2, name: 'scan.pdf' }],
      pseudonyms: [{ original: 'Ada', pseudonym: 'P1' }],
    });
    expect(await world.view('sources')).toMatchObject([
      { off_limits: false },
      { id: 2, off_limits: true },
      {},
      {},
    ]);
  });

  it('shows agreement between people and agents, and how codes are used', async () => {
    const start = INTERVIEW.indexOf('I worry');
    await world.data('batch_apply_codes', {
      operations: [{ code_id: 1, source_id: 1, start_position: start, end_position: start + 19 }],
    });
    const rows =
      await world.view<{ between: string; coders: string[]; code: { name: string } | null }[]>('agreement');
    expect(
      rows.find((row) => row.between === 'people_and_agents' && row.code?.name === 'Anxiety')?.coders,
    ).toContain('AI: claude-code');
    const tables = await world.view<{ frequencies: object[]; case_matrix: object; co_occurrence: object[] }>(
      'statistics',
    );
    expect(tables.frequencies).toMatchObject([
      { code: { name: 'Anxiety' }, segments: 2 },
      { segments: 1 },
      { segments: 1 },
    ]);
    expect(tables.case_matrix).toMatchObject({
      cases: [{ id: 1, name: 'Participant A' }],
      segments: [[2], [1], [1]],
    });
    expect(tables.co_occurrence).toMatchObject([
      { first: { name: 'Anxiety' }, second: { name: 'Anxious' }, exact: 2 },
    ]);
  });
});

describe('the audit trail', () => {
  it('reports who did what, from log, queue and journal, and reads as a methods section', async () => {
    await world.data('read_source_content', { source_id: 1 });
    await world.data('read_source_content', { source_id: 2 });
    const one = await world.data<{ suggestion_id: string }>('suggest_new_code', {
      name: 'A',
      rationale: 'r',
    });
    const two = await world.data<{ suggestion_id: string }>('suggest_code_application', {
      source_id: 1,
      code_id: 1,
      start_pos: 0,
      end_pos: 4,
    });
    await world.data('approve_coding_suggestion', { suggestion_id: two.suggestion_id }, asAda);
    await world.data(
      'reject_coding_suggestion',
      { suggestion_id: one.suggestion_id, reason: 'too | broad' },
      asAda,
    );
    await world.data('batch_apply_codes', {
      operations: [{ code_id: 2, source_id: 1, start_position: 0, end_position: 4 }],
    });
    await world.data('create_code', { name: 'B' });
    await world.data('undo_change', {}, asAda);
    await world.data('set_source_access', { source_id: 2, off_limits: true }, asAda);
    // Not suggested but asked for: it is destructive, so it waited for a person too.
    const asked = await world.call('remove_coding', { segment_id: 7 });
    await world.call('delete_code', { code_id: 1, delete_segments: true });
    if (asked.status === 'routed') await world.kernel.approvals.approve(asked.approvalId, asAda.principal);
    await world.kernel.flush();

    const trail = await world.view<AuditTrail>('audit_trail');
    expect(trailShape.parse(trail)).toEqual(trail);
    const agent = trail.actors.find(({ kind }) => kind === 'agent');
    expect(agent).toMatchObject({ principal: 'agent:local', suggestions: 2, sources_read: 2 });
    expect(trail.actors.find(({ kind }) => kind === 'person')).toMatchObject({
      principal: 'person:ada',
      decisions: 3,
    });
    expect(trail.suggestions).toEqual([
      { kind: 'new codes', total: 1, approved: 0, rejected: 1, pending: 0, failed: 0 },
      { kind: 'codings', total: 1, approved: 1, rejected: 0, pending: 0, failed: 0 },
    ]);
    expect(trail.agent_codings).toEqual({ approved: 1, unapproved: 1, unknown: 0 });
    expect(trail.changes).toEqual({ applied: 3, undone: 1 });
    expect(trail.asked_first).toEqual({ total: 2, approved: 1, rejected: 0, pending: 1, failed: 0 });
    expect(trail.codings_by_coder).toContainEqual({ coder: 'AI: claude-code', kind: 'agent', count: 2 });

    const text = renderAuditTrail(trail, 'Countersign 0.1.0');
    expect(text).toContain('# Use of AI agents in the analysis of “study-v16”');
    expect(text).toContain('1 AI agent and 1 person worked on it through Countersign 0.1.0');
    expect(text).toContain(
      'Agents filed 2 suggestions; people approved 1 (50 %), rejected 1 and left 0 undecided.',
    );
    expect(text).toContain('1 was approved by a person and 1 was applied under a rule that did not require');
    expect(text).toMatch(/\. On \d{4}-\d\d-\d\d, 1 AI agent/);
    expect(text).toContain('| Sources opened |');
    expect(text).toContain('Searches count as reads and cover every source');
    expect(text).toContain(
      'In addition, agents requested 2 changes that require approval: 1 was approved, 0 were rejected, 1 is undecided.',
    );
    expect(text).toContain('1 source was closed to agents.');
    expect(text).toContain('too \\| broad');
    expect(text).toContain('a checkpoint');
  });

  it('of one project leaves out what happened while another was open', async () => {
    await world.data('read_source_content', { source_id: 1 });
    await new Promise((resolve) => setTimeout(resolve, 5));
    await world.data('create_project', { path: `${world.dir}/other` }, asAda);
    await world.data('list_codes');
    await world.kernel.flush();
    const trail = await world.view<AuditTrail>('audit_trail');
    expect(trail.actors.find(({ kind }) => kind === 'agent')?.reads).toBe(1);
  });
});

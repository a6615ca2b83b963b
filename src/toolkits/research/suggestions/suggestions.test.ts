import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SqliteFile } from '../project/schema.ts';
import { ADA, CLAUDE, openResearchWorld, openWithProject } from '../test/support/kernel.ts';
import { INTERVIEW } from '../test/support/qualcoder.ts';

let world: Awaited<ReturnType<typeof openWithProject>>;
beforeEach(async () => {
  world = await openWithProject();
});
afterEach(() => world.close());

const asAda = { principal: ADA };
const worry = INTERVIEW.indexOf('I worry');

describe('a suggested code', () => {
  it('waits, survives a restart, and is created when the researcher approves it', async () => {
    const filed = await world.data<{ suggestion_id: string }>('suggest_new_code', {
      name: 'Sleep',
      rationale: 'Comes up in every talk',
      confidence: 29,
      description: 'Sleeping well or badly',
    });
    expect(filed).toEqual({
      status: 'pending_approval',
      requires_approval: true,
      suggestion_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'Sleep',
      color: '#808080',
      rationale: 'Comes up in every talk',
      confidence: 29,
    });
    const other = await openResearchWorld({ dir: world.dir });
    expect(await other.data('list_pending_suggestions')).toMatchObject({
      count: 1,
      suggestions: [
        { ...filed, status: 'pending', suggested_by: 'agent:local', requires_approval: undefined },
      ].map(({ requires_approval, ...rest }) => rest),
    });
    expect(
      await other.data('approve_suggestion', { suggestion_id: filed.suggestion_id }, asAda),
    ).toMatchObject({
      status: 'created',
      code_id: 6,
      name: 'Sleep',
    });
    await other.close();
    expect(await world.data('get_code', { code_id: 6 })).toMatchObject({
      memo: 'Sleeping well or badly',
      owner: 'AI: claude-code',
    });
    expect(await world.fault('approve_suggestion', { suggestion_id: filed.suggestion_id }, asAda)).toBe(
      'approval_state',
    );
    expect(await world.fault('suggest_new_code', { name: 'sleep', rationale: 'again' })).toBe('conflict');
  });

  it('is not for the agent itself to approve', async () => {
    const { suggestion_id } = await world.data<{ suggestion_id: string }>('suggest_new_code', {
      name: 'A',
      rationale: 'b',
    });
    expect(await world.fault('approve_suggestion', { suggestion_id })).toBe('policy_denied_hard_rule');
    const asked = await world.call('approve_suggestion', { suggestion_id }, { consent: 'can-ask' });
    expect(asked).toMatchObject({
      status: 'needs_person',
      question: expect.stringContaining('New code "A"'),
    });
    if (asked.status !== 'needs_person') throw new Error('The researcher was not asked.');
    const answered = await world.call(
      'approve_suggestion',
      { suggestion_id },
      { consent: { person: ADA, about: asked.about } },
    );
    expect(answered).toMatchObject({ status: 'ok', data: { status: 'created' } });
  });

  it('that was rejected is remembered, with reason and feedback, when it is made again', async () => {
    const first = await world.data<{ suggestion_id: string }>('suggest_new_code', {
      name: 'Money',
      rationale: 'x',
    });
    await world.data(
      'reject_coding_suggestion',
      { suggestion_id: first.suggestion_id, reason: 'too broad', feedback: 'split it' },
      asAda,
    );
    expect(await world.data('list_pending_suggestions')).toMatchObject({ count: 0 });
    const again = await world.data<{ suggestion_id: string }>('suggest_new_code', {
      name: ' money ',
      rationale: 'other words',
      color: '#111111',
    });
    expect(again).toMatchObject({
      status: 'pending_approval',
      previously_rejected: { suggestion_id: first.suggestion_id, reason: 'too broad', feedback: 'split it' },
    });
    const [waiting] = await world.view<{ risks: string[] }[]>('suggestions');
    expect(waiting?.risks[0]).toMatch(/rejected by person:ada on \d{4}-\d\d-\d\d: too broad/);
    expect(await world.data('suggest_new_code', { name: 'MONEY', rationale: 'z' })).toMatchObject({
      suggestion_id: again.suggestion_id,
      already_pending: true,
    });
  });
});

describe('a suggested coding', () => {
  const idea = {
    source_id: 1,
    code_id: 2,
    start_pos: worry,
    end_pos: worry + 19,
    rationale: 'she copes',
    confidence: 85,
  };

  it('becomes a segment that says who suggested and who approved it', async () => {
    const filed = await world.data<{ suggestion_id: string }>('suggest_code_application', {
      ...idea,
      include_text: true,
    });
    expect(filed).toMatchObject({ ...idea, status: 'pending_approval', text_excerpt: 'I worry about money' });
    expect(await world.data('list_pending_coding_suggestions', { source_id: 2 })).toMatchObject({ count: 0 });
    expect(await world.data('list_pending_coding_suggestions', { source_id: 1 })).toMatchObject({
      count: 1,
      suggestions: [
        { suggestion_id: filed.suggestion_id, code_name: 'Coping', confidence: 85, rationale: 'she copes' },
      ],
    });
    const done = await world.data<{ segment_id: number }>(
      'approve_coding_suggestion',
      { suggestion_id: filed.suggestion_id },
      asAda,
    );
    expect(done).toMatchObject({ status: 'applied', segment_id: 10 });
    const segments = await world.data<{ id: number }[]>('list_segments_for_source', { source_id: 1 });
    expect(segments.find(({ id }) => id === done.segment_id)).toMatchObject({
      code_id: 2,
      selected_text: 'I worry about money',
      memo: 'she copes',
      owner: 'AI: claude-code',
      made_by: { principal: 'agent:local', approved_by: 'person:ada', confidence: 85 },
    });
  });

  it('is checked when it is made', async () => {
    expect(await world.fault('suggest_code_application', { ...idea, end_pos: 10_000 })).toBe(
      'invalid_position',
    );
    expect(await world.fault('suggest_code_application', { ...idea, code_id: 99 })).toBe('code_not_found');
    expect(await world.fault('suggest_code_application', { ...idea, source_id: 99 })).toBe(
      'source_not_found',
    );
  });

  it('is not applied when other words stand there by the time it is approved', async () => {
    const { suggestion_id } = await world.data<{ suggestion_id: string }>('suggest_code_application', idea);
    const db = new SqliteFile(world.file);
    db.run('UPDATE source SET fulltext = ? WHERE id = 1', `X${INTERVIEW}`);
    db.close();
    expect(await world.fault('approve_coding_suggestion', { suggestion_id }, asAda)).toBe('conflict');
    expect(await world.view('suggestions', { state: 'failed' })).toHaveLength(1);
  });

  it('can be moved by the researcher before it is approved', async () => {
    const { suggestion_id } = await world.data<{ suggestion_id: string }>('suggest_code_application', idea);
    const waiting = await world.kernel.approvals.get(suggestion_id);
    await world.kernel.approvals.edit(suggestion_id, ADA, { ...waiting?.args, end_pos: worry + 7 });
    const { segment_id } = await world.data<{ segment_id: number }>(
      'approve_coding_suggestion',
      { suggestion_id },
      asAda,
    );
    const segments = await world.data<{ id: number }[]>('list_segments_for_source', { source_id: 1 });
    expect(segments.find(({ id }) => id === segment_id)).toMatchObject({ selected_text: 'I worry' });
  });

  it('keeps the reason and feedback of its rejection and cannot be approved afterwards', async () => {
    const { suggestion_id } = await world.data<{ suggestion_id: string }>('suggest_code_application', idea);
    expect(await world.fault('reject_coding_suggestion', { suggestion_id })).toBe('policy_denied_hard_rule');
    expect(
      await world.data(
        'reject_coding_suggestion',
        { suggestion_id, reason: 'no', feedback: 'look again' },
        asAda,
      ),
    ).toEqual({
      status: 'rejected',
      suggestion_id,
      reason: 'no',
      feedback: 'look again',
    });
    expect(await world.fault('approve_coding_suggestion', { suggestion_id }, asAda)).toBe('approval_state');
    expect(await world.fault('reject_coding_suggestion', { suggestion_id: 'nope' }, asAda)).toBe('not_found');
  });
});

describe('a suggestion while QualCoder has the project open', () => {
  it('keeps waiting instead of being used up', async () => {
    const { suggestion_id } = await world.data<{ suggestion_id: string }>('suggest_new_code', {
      name: 'Later',
      rationale: 'r',
    });
    const lock = join(world.path, 'project_in_use.lock');
    writeFileSync(lock, `grace\n${Date.now() / 1000}`);
    expect(await world.fault('approve_suggestion', { suggestion_id }, asAda)).toBe('busy');
    expect(await world.data('get_project_context')).toMatchObject({ open_in_qualcoder_by: 'grace' });
    rmSync(lock);
    expect(await world.data('approve_suggestion', { suggestion_id }, asAda)).toMatchObject({
      status: 'created',
    });
  });
});

describe('a suggested merge', () => {
  it('moves what was coded and keeps both memos once approved', async () => {
    const filed = await world.data<{ merge_suggestion_id: string }>('suggest_merge_codes', {
      source_code_id: 5,
      target_code_id: 1,
      rationale: 'the same',
    });
    expect(filed).toMatchObject({ merge_source_id: 5, merge_target_id: 1, status: 'pending_approval' });
    expect(await world.data('list_pending_suggestions')).toMatchObject({
      count: 0,
      merge_suggestions: [{ suggestion_id: filed.merge_suggestion_id, merge_source_id: 5 }],
    });
    expect(
      await world.fault('approve_coding_suggestion', { suggestion_id: filed.merge_suggestion_id }, asAda),
    ).toBe('validation_error');
    expect(
      await world.data('approve_merge', { merge_suggestion_id: filed.merge_suggestion_id }, asAda),
    ).toEqual({
      status: 'merged',
      merged_from: 5,
      merged_into: 1,
      segments_moved: 0,
      duplicates_joined: 1,
    });
    expect(await world.fault('get_code', { code_id: 5 })).toBe('code_not_found');
    expect(
      await world.fault('approve_merge', { merge_suggestion_id: filed.merge_suggestion_id }, asAda),
    ).toBe('approval_state');
    expect(
      await world.fault('suggest_merge_codes', { source_code_id: 1, target_code_id: 1, rationale: '' }),
    ).toBe('code_not_found');
    expect(
      await world.fault('suggest_merge_codes', { source_code_id: 9, target_code_id: 1, rationale: '' }),
    ).toBe('code_not_found');
  });
});

describe('suggested metadata', () => {
  it('becomes attributes of the file once approved', async () => {
    const filed = await world.data<{ suggestion_id: string }>('suggest_source_metadata', {
      source_id: 1,
      language: 'en',
      topics: ['sleep', 'money'],
    });
    expect(filed).toMatchObject({
      source_name: 'interview1.txt',
      suggested: { language: 'en', topics: ['sleep', 'money'] },
    });
    await world.data('approve_suggestion', { suggestion_id: filed.suggestion_id }, asAda);
    const { store } = await (await world.services()).projects.current();
    const own = store.attributes().filter(({ scope, targetId }) => scope === 'file' && targetId === 1);
    expect(own.map(({ name, value }) => [name, value])).toEqual([
      ['Place', 'Oslo'],
      ['Language', 'en'],
      ['Topics', 'sleep; money'],
    ]);
    expect(store.attributes().filter(({ name }) => name === 'Language')).toHaveLength(4);
    expect(await world.fault('suggest_source_metadata', { source_id: 1 })).toBe('validation_error');
  });
});

describe('a batch', () => {
  it('reports its true status while it is decided piece by piece', async () => {
    const segments = [0, 20, 40].map((start) => ({ source_id: 1, start_pos: start, end_pos: start + 10 }));
    const batch = await world.data<{ batch_id: string; suggestion_ids: string[] }>('suggest_batch_coding', {
      code_id: 1,
      segments,
      rationale: 'all three',
    });
    const status = () => world.data('get_suggestion_batch_status', { batch_id: batch.batch_id });
    expect(batch).toMatchObject({ status: 'pending_approval', requires_approval: true, segment_count: 3 });
    expect(await status()).toMatchObject({
      status: 'pending_review',
      total_count: 3,
      pending_count: 3,
      reviewed_count: 0,
    });
    const [first = '', second = ''] = batch.suggestion_ids;
    await world.data('reject_coding_suggestion', { suggestion_id: first }, asAda);
    await world.data('approve_coding_suggestion', { suggestion_id: second }, asAda);
    expect(await status()).toMatchObject({
      status: 'pending_review',
      pending_count: 1,
      reviewed_count: 2,
      applied_count: 1,
      rejected_count: 1,
    });
    expect(await world.data('approve_batch_coding', { batch_id: batch.batch_id }, asAda)).toEqual({
      status: 'applied',
      batch_id: batch.batch_id,
      applied_count: 1,
      failed_count: 0,
      errors: null,
    });
    expect(await status()).toMatchObject({ status: 'reviewed', pending_count: 0, applied_count: 2 });
    expect(await world.fault('approve_batch_coding', { batch_id: batch.batch_id }, asAda)).toBe(
      'approval_state',
    );
    expect(await world.fault('get_suggestion_batch_status', { batch_id: 'x' })).toBe('not_found');
  });

  it('files nothing when one of its positions is wrong', async () => {
    const segments = [
      { source_id: 1, start_pos: 0, end_pos: 5 },
      { source_id: 1, start_pos: 0, end_pos: 9999 },
    ];
    expect(await world.fault('suggest_batch_coding', { code_id: 1, segments, rationale: 'r' })).toBe(
      'invalid_position',
    );
    expect(await world.data('list_pending_coding_suggestions')).toMatchObject({ count: 0 });
  });

  it('says which items could not be applied', async () => {
    const segments = [0, 20].map((start) => ({ source_id: 1, start_pos: start, end_pos: start + 10 }));
    const { batch_id } = await world.data<{ batch_id: string }>('suggest_batch_coding', {
      code_id: 5,
      segments,
      rationale: 'r',
    });
    const gone = await world.call('delete_code', { code_id: 5, delete_segments: true });
    if (gone.status === 'routed') await world.kernel.approvals.approve(gone.approvalUuid, ADA);
    const done = await world.data<{ errors: object[] }>('approve_batch_coding', { batch_id }, asAda);
    expect(done).toMatchObject({ status: 'failed', applied_count: 0, failed_count: 2 });
    expect(done.errors[0]).toMatchObject({ error_code: 'CODE_NOT_FOUND' });
  });
});

describe('suggestions and projects', () => {
  it('stay with the project they were made for', async () => {
    const { suggestion_id } = await world.data<{ suggestion_id: string }>('suggest_new_code', {
      name: 'Here',
      rationale: 'r',
    });
    await world.data('create_project', { path: `${world.dir}/other` }, asAda);
    expect(await world.data('list_pending_suggestions')).toMatchObject({ count: 0 });
    expect(await world.fault('approve_suggestion', { suggestion_id }, asAda)).toBe('conflict');
    expect(await world.data('list_codes')).toEqual([]);
  });

  it('hold for calls that policy sent to the researcher too', async () => {
    const asked = await world.call('merge_codes', { source_code_id: 5, target_code_id: 1 });
    if (asked.status !== 'routed') throw new Error('not asked');
    await new Promise((resolve) => setTimeout(resolve, 5));
    await world.data('create_project', { path: `${world.dir}/other` }, asAda);
    await expect(world.kernel.approvals.approve(asked.approvalUuid, ADA)).rejects.toThrow('study-v14.qda');
    expect(await world.kernel.approvals.get(asked.approvalUuid)).toMatchObject({ state: 'pending' });
  });

  it('are made by other agents under their own names', async () => {
    const other = { ...CLAUDE, id: 'reviewer', label: undefined };
    const filed = await world.data<{ suggestion_id: string }>(
      'suggest_new_code',
      { name: 'N', rationale: 'r' },
      { principal: other },
    );
    await world.data('approve_suggestion', { suggestion_id: filed.suggestion_id }, asAda);
    expect(await world.data('get_code', { code_id: 6 })).toMatchObject({ owner: 'AI: reviewer' });
  });
});

describe('pending suggestions shown to an agent', () => {
  type Listed = { suggestions: object[]; metadata_suggestions: object[] };

  it('leaves out metadata of a source that was put off limits since', async () => {
    const topics = { source_id: 1, topics: ['asylum case'] };
    await world.data('suggest_source_metadata', topics, asAda);
    expect((await world.data<Listed>('list_pending_suggestions')).metadata_suggestions).toHaveLength(1);
    await world.data('set_source_access', { source_id: 1, off_limits: true }, asAda);
    expect((await world.data<Listed>('list_pending_suggestions')).metadata_suggestions).toEqual([]);
    expect(
      (await world.data<Listed>('list_pending_suggestions', {}, asAda)).metadata_suggestions,
    ).toMatchObject([{ source_id: 1, summary: expect.stringContaining('asylum case') }]);
  });

  it('lacks the private part of a memo that the researcher edited into it', async () => {
    const { suggestion_id } = await world.data<{ suggestion_id: string }>('suggest_new_code', {
      name: 'Fear',
      rationale: 'r',
      description: 'about fear',
    });
    const memo = 'about fear\n#####\nMrs Smith is lying';
    await world.kernel.approvals.edit(suggestion_id, ADA, { name: 'Fear', color: '#808080', memo });
    expect((await world.data<Listed>('list_pending_suggestions')).suggestions).toMatchObject([
      { name: 'Fear', description: 'about fear' },
    ]);
    expect((await world.data<Listed>('list_pending_suggestions', {}, asAda)).suggestions).toMatchObject([
      { description: memo },
    ]);
  });

  it('lacks the private part also in the answer to the approval it carried to the researcher', async () => {
    const memo = 'about fear\n#####\nMrs Smith is lying';
    const { suggestion_id } = await world.data<{ suggestion_id: string }>(
      'suggest_new_code',
      { name: 'Fear', rationale: 'r', description: memo },
      asAda,
    );
    const asked = await world.call('approve_suggestion', { suggestion_id }, { consent: 'can-ask' });
    if (asked.status !== 'needs_person') throw new Error('The researcher was not asked.');
    const consent = { person: ADA, about: asked.about };
    expect(await world.call('approve_suggestion', { suggestion_id }, { consent })).toMatchObject({
      status: 'ok',
      data: { status: 'created', name: 'Fear', memo: 'about fear' },
    });
  });

  it('replaces names that the researcher wrote, or that got their pseudonym later', async () => {
    await world.data(
      'suggest_new_code',
      { name: 'Maria Lopez and fear', rationale: 'Maria Lopez says so', description: 'on Maria Lopez' },
      asAda,
    );
    await world.data(
      'suggest_code_application',
      {
        source_id: 1,
        code_id: 2,
        start_pos: 0,
        end_pos: 5,
        rationale: 'so says Maria Lopez',
        confidence: 50,
      },
      asAda,
    );
    await world.data('set_pseudonym', { original: 'Maria Lopez', pseudonym: 'P1' }, asAda);
    expect((await world.data<Listed>('list_pending_suggestions')).suggestions).toMatchObject([
      { name: 'P1 and fear', rationale: 'P1 says so', description: 'on P1' },
    ]);
    expect((await world.data<Listed>('list_pending_coding_suggestions')).suggestions).toMatchObject([
      { rationale: 'so says P1' },
    ]);
    expect((await world.data<Listed>('list_pending_suggestions', {}, asAda)).suggestions).toMatchObject([
      { name: 'Maria Lopez and fear', description: 'on Maria Lopez' },
    ]);
  });
});

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { outcomeData } from '../../../contract/outcome.ts';
import { ADA, openWithProject } from '../test/support/kernel.ts';
import { dumpDatabase, INTERVIEW } from '../test/support/qualcoder.ts';

let world: Awaited<ReturnType<typeof openWithProject>>;
beforeEach(async () => {
  world = await openWithProject();
});
afterEach(() => world.close());

describe('batch_apply_codes', () => {
  it('stores the memo of each operation, and refuses one with a private part', async () => {
    const place = { code_id: 2, source_id: 1, start_position: 0, end_position: 11 };
    const other = { ...place, start_position: 12, end_position: 20 };
    const { results } = await world.data<{ results: { segment_id: number }[] }>('batch_apply_codes', {
      operations: [{ ...place, memo: 'Asks.' }, other],
    });
    const { store } = await (await world.services()).projects.current();
    expect(results.map(({ segment_id }) => store.coding(segment_id)?.memo)).toEqual(['Asks.', '']);
    const before = dumpDatabase(world.file);
    const hidden = { ...place, start_position: 30, end_position: 34, memo: 'open\n#####\nhidden' };
    const outcome = await world.call('batch_apply_codes', { operations: [hidden] });
    expect(JSON.stringify(outcomeData(outcome))).toMatch(/validation_error|VALIDATION_ERROR/);
    expect(dumpDatabase(world.file)).toEqual(before);
  });

  it('gives each operation its own answer, also when all of them fail', async () => {
    const bad = [
      { code_id: 99, source_id: 1, start_position: 0, end_position: 5 },
      { code_id: 1, source_id: 99, start_position: 0, end_position: 5 },
      { code_id: 1, source_id: 1, start_position: 0, end_position: 99_999 },
      { code_id: 1, source_id: 1, start_position: 5, end_position: 5 },
    ];
    const codes = ['CODE_NOT_FOUND', 'SOURCE_NOT_FOUND', 'INVALID_POSITION', 'INVALID_POSITION'];
    const before = dumpDatabase(world.file);
    const failed = await world.data<{ results: { error_code: string }[] }>('batch_apply_codes', {
      operations: bad,
    });
    expect(failed).toMatchObject({ total: 4, succeeded: 0, failed: 4, all_succeeded: false });
    expect(failed.results.map(({ error_code }) => error_code)).toEqual(codes);
    expect(dumpDatabase(world.file)).toEqual(before);

    const good = { code_id: 1, source_id: 1, start_position: 0, end_position: 11 };
    const mixed = await world.data<{ results: object[] }>('batch_apply_codes', {
      operations: [{ ...good, source_id: 99 }, good, good],
    });
    expect(mixed).toMatchObject({ total: 3, succeeded: 2, failed: 1 });
    expect(mixed.results).toMatchObject([
      { index: 0, success: false, segment_id: null },
      { index: 1, success: true, error: null, error_code: null },
      { index: 2, success: true, already_coded: true },
    ]);
    expect(await world.fault('batch_apply_codes', { operations: [] })).toBe('validation_error');
    expect(await world.fault('batch_apply_codes', { operations: [{ ...good, importance: 4 }] })).toBe(
      'invalid_input',
    );
  });
});

describe('codes', () => {
  it('are created, changed, merged and deleted, and each step can be undone', async () => {
    const before = dumpDatabase(world.file);
    const made = await world.data<{ code_id: number }>('create_code', {
      name: ' Hope ',
      color: '#0f0',
      memo: 'light',
      category_id: 1,
    });
    expect(made).toEqual({ code_id: 6, name: 'Hope', color: '#00ff00', memo: 'light', category_id: 1 });
    expect(await world.fault('create_code', { name: 'hope' })).toBe('conflict');
    expect(await world.fault('create_code', { name: '' })).toBe('validation_error');
    expect(await world.fault('create_code', { name: 'X', color: 'red' })).toBe('validation_error');
    expect(await world.fault('create_code', { name: 'X', category_id: 99 })).toBe('not_found');
    expect(await world.data('update_code', { code_id: 6, name: 'Hopes', color: '#123456' })).toMatchObject({
      name: 'Hopes',
      color: '#123456',
      memo: 'light',
      category_id: 1,
    });
    expect(await world.fault('update_code', { code_id: 6, name: 'ANXIETY' })).toBe('conflict');
    expect(await world.fault('update_code', { code_id: 6 })).toBe('validation_error');
    expect(await world.fault('update_code', { code_id: 66, name: 'z' })).toBe('code_not_found');
    for (let n = 0; n < 2; n += 1) await world.data('undo_change', {}, { principal: ADA });
    expect(dumpDatabase(world.file)).toEqual(before);
  });

  it('keep the private part of their memo when an agent rewrites the rest', async () => {
    await world.data('update_code', { code_id: 5, memo: 'new words' });
    const store = (await (await world.services()).projects.current()).store;
    expect(store.code(5)?.memo).toBe('new words\n#####\nprivate');
    expect(await world.fault('update_code', { code_id: 5, memo: 'a #####b' })).toBe('validation_error');
  });

  it('are deleted or merged only after the researcher agreed', async () => {
    const asked = await world.call('delete_code', { code_id: 5, delete_segments: true });
    expect(asked.status).toBe('routed');
    if (asked.status !== 'routed') return;
    const { outcome } = await world.kernel.approvals.approve(asked.approvalUuid, ADA);
    expect(outcome).toMatchObject({
      status: 'ok',
      data: { deleted: true, segments_removed: 1, name: 'Anxious' },
    });
    // What could not succeed is refused before the researcher is asked.
    expect(await world.fault('delete_code', { code_id: 1 })).toBe('conflict');
  });
});

describe('remove_coding and add_source', () => {
  it('take a coding away after approval and bring it back by undo', async () => {
    const before = dumpDatabase(world.file);
    const asked = await world.call('remove_coding', { segment_id: 7 });
    if (asked.status !== 'routed') throw new Error('not asked');
    const { outcome, approval } = await world.kernel.approvals.approve(asked.approvalUuid, ADA);
    expect(outcome).toMatchObject({ data: { deleted: true, segment_id: 7, code_id: 1, source_id: 1 } });
    await world.data('undo_change', { call_id: approval.callId ?? '' }, { principal: ADA });
    expect(dumpDatabase(world.file)).toEqual(before);
  });

  it('add text that can be read immediately', async () => {
    const added = await world.data<{ source_id: number }>('add_source', {
      name: 'note.txt',
      content: '\ufeffOne\r\ntwo 😀',
      origin: 'https://example.org/a',
      memo: 'from the web',
    });
    expect(added).toMatchObject({
      name: 'note.txt',
      type: 'text',
      status: 'imported',
      file_size: 12,
      total_length: 9,
    });
    expect(await world.data('read_source_content', { source_id: added.source_id })).toMatchObject({
      content: 'One\ntwo 😀',
      total_length: 9,
    });
    expect(await world.data('list_sources')).toMatchObject({
      sources: { 4: { memo: 'from the web\nOrigin: https://example.org/a' } },
    });
    expect(await world.fault('add_source', { name: 'note.txt', content: 'x' })).toBe('conflict');
    expect(await world.fault('add_source', { name: 'empty', content: ' ' })).toBe('validation_error');
  });
});

describe('auto coding', () => {
  it('codes every match of a pattern, its sentence or its paragraph, after a preview that changes nothing', async () => {
    const before = dumpDatabase(world.file);
    const seen = await world.data('auto_code_pattern', { code_id: 2, pattern: 'ada', preview: true });
    expect(seen).toMatchObject({ preview: true, match_count: 2, applied_count: 0 });
    expect(dumpDatabase(world.file)).toEqual(before);
    expect(
      await world.data('auto_code_pattern', { code_id: 2, pattern: 'ada', case_sensitive: true }),
    ).toMatchObject({ match_count: 0 });
    const done = await world.data<{ segments: { text: string }[] }>('auto_code_pattern', {
      code_id: 2,
      pattern: String.raw`\bhelp\w*`,
      match: 'regex',
      unit: 'paragraph',
    });
    expect(done).toMatchObject({ match_count: 2, applied_count: 2, existing_count: 0 });
    expect(done.segments.map(({ text }) => text)).toEqual([
      'Interviewer: And who helps?',
      'Ada: My sister helps me.',
    ]);
    expect(await world.fault('auto_code_pattern', { code_id: 2, pattern: '(', match: 'regex' })).toBe(
      'validation_error',
    );
    expect(await world.fault('auto_code_pattern', { code_id: 99, pattern: 'x' })).toBe('code_not_found');
  });

  it('stops a regular expression that runs away', async () => {
    await world.data('add_source', { name: 'long', content: `${'a'.repeat(40)}!` });
    expect(await world.fault('auto_code_pattern', { code_id: 1, pattern: '(a+)+$', match: 'regex' })).toBe(
      'validation_error',
    );
  });

  it('codes whole turns of speakers, with a code for each', async () => {
    const looked = await world.data<{ segments: { code_id: number | null }[] }>('auto_code_speaker', {
      source_id: 1,
      preview: true,
    });
    // The codes are not there yet, and no number stands for them.
    expect(new Set(looked.segments.map(({ code_id }) => code_id))).toEqual(new Set([null]));
    const withCode = await world.data<{ segments: object[] }>('auto_code_speaker', {
      source_id: 1,
      speaker: 'Ada',
      code_id: 1,
      preview: true,
    });
    expect(withCode.segments[0]).toMatchObject({ code_id: 1 });
    const done = await world.data<{ speakers: object[]; segments: { text: string }[] }>('auto_code_speaker', {
      source_id: 1,
    });
    expect(done.speakers).toEqual([
      { name: 'Interviewer', turns: 2, code_id: expect.any(Number) },
      { name: 'Ada', turns: 2, code_id: expect.any(Number) },
    ]);
    expect(done.segments.map(({ text }) => text)).toEqual([
      'How do you sleep?',
      'Badly. I worry about money all the time.',
      'And who helps?',
      'My sister helps me.',
    ]);
    const again = await world.data('auto_code_speaker', { source_id: 1, speaker: 'ada' });
    expect(again).toMatchObject({ applied_count: 0, existing_count: 2 });
    expect(await world.fault('auto_code_speaker', { source_id: 1, speaker: 'Bob' })).toBe('not_found');
    expect(await world.fault('auto_code_speaker', { source_id: 1, code_id: 1 })).toBe('validation_error');
    expect(await world.data('auto_code_speaker', { source_id: 1, code_id: 1, speaker: 'Ada' })).toMatchObject(
      { applied_count: 2 },
    );
  });
});

describe('open pages', () => {
  it('are notified of every change that happened, and of no other', async () => {
    await world.fault('create_code', { name: '' });
    await world.data('create_code', { name: 'Seen' });
    await expect
      .poll(async () =>
        (await world.kernel.events.since(0)).filter(({ topic }) => topic === 'research.changed'),
      )
      .toMatchObject([{ data: { tool: 'create_code' } }]);
  });
});

describe('undo', () => {
  it('belongs to people and undoes what one call did', async () => {
    expect(await world.fault('undo_change')).toBe('policy_denied_hard_rule');
    expect(await world.fault('undo_change', {}, { principal: ADA })).toBe('not_found');
    await world.data('batch_apply_codes', {
      operations: [0, 1, 2].map((at) => ({
        code_id: 1,
        source_id: 1,
        start_position: at,
        end_position: at + 5,
      })),
    });
    const [change] = await world.view<{ change_id: number; summary: string }[]>('changes');
    expect(change?.summary).toBe('3 codings added');
    expect(
      await world.data('undo_change', { change_id: change?.change_id ?? 0 }, { principal: ADA }),
    ).toMatchObject({
      undone: { state: 'undone', summary: '3 codings added' },
    });
    expect(INTERVIEW.length).toBeGreaterThan(0);
  });
});

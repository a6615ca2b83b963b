import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonSchema } from '../../../contract/json.ts';
import { ADA, openResearchWorld, openWithProject } from '../test/support/kernel.ts';
import { INTERVIEW } from '../test/support/qualcoder.ts';
import { toolkit } from '../toolkit.ts';

let world: Awaited<ReturnType<typeof openWithProject>>;
beforeEach(async () => {
  world = await openWithProject();
});
afterEach(() => world.close());

describe('the project', () => {
  it('is described with its sources and cases, without the private part of its memo', async () => {
    expect(await world.data('get_project_context')).toEqual({
      project_open: true,
      project_name: 'study-v14',
      project_path: world.path,
      format_version: 'v14',
      memo: 'What we ask.',
      source_count: 4,
      sources: [
        { id: 1, name: 'interview1.txt', type: 'text', status: 'coded' },
        { id: 2, name: 'scan.pdf', type: 'pdf', status: 'imported' },
        { id: 3, name: 'photo.jpg', type: 'image', status: 'coded' },
        { id: 4, name: 'talk.mp3', type: 'audio', status: 'coded' },
      ],
      code_count: 3,
      case_count: 1,
      cases: [{ id: 1, name: 'Participant A', description: 'a case' }],
    });
  });

  it('is simply not open before a person opens one, and every other tool says so', async () => {
    const empty = await openResearchWorld();
    try {
      expect(await empty.data('get_project_context')).toEqual({ project_open: false });
      for (const [tool, args] of [
        ['list_codes', {}],
        ['list_sources', {}],
        ['read_source_content', { source_id: 1 }],
        ['get_code', { code_id: 1 }],
        ['create_code', { name: 'x' }],
        ['suggest_new_code', { name: 'x', rationale: 'y' }],
        ['auto_code_pattern', { code_id: 1, pattern: 'x' }],
      ] as const) {
        expect([tool, await empty.fault(tool, args)]).toEqual([tool, 'no_project']);
      }
    } finally {
      await empty.close();
    }
  });

  it('comes from the configuration until a person opens or closes one, for every process alike', async () => {
    const configured = await openResearchWorld({ dir: world.dir, config: { project: world.path } });
    expect(await configured.data('get_project_context')).toMatchObject({ project_open: true });
    await world.data('close_project', {}, { principal: ADA });
    expect(await configured.data('get_project_context')).toEqual({ project_open: false });
    await configured.data('open_project', { path: world.path }, { principal: ADA });
    expect(await world.data('get_project_context')).toMatchObject({ project_open: true });
    await configured.close();
  });

  it('is opened, created and closed by people only', async () => {
    expect(await world.fault('open_project', { path: world.path })).toBe('policy_denied_hard_rule');
    expect(await world.fault('close_project')).toBe('policy_denied_hard_rule');
    expect(await world.fault('create_project', { path: join(world.dir, 'new') })).toBe(
      'policy_denied_hard_rule',
    );
    const made = await world.data('create_project', { path: join(world.dir, 'new') }, { principal: ADA });
    expect(made).toEqual({
      project_name: 'new',
      project_path: join(world.dir, 'new.qda'),
      format_version: 'v14',
    });
    expect(await world.data('list_codes')).toEqual([]);
  });
});

describe('sources', () => {
  it('are listed with what is known of them and can be filtered by type', async () => {
    const all = await world.data<{ count: number; sources: object[] }>('list_sources');
    expect(all.count).toBe(4);
    expect(all.sources[0]).toEqual({
      id: 1,
      name: 'interview1.txt',
      type: 'text',
      status: 'coded',
      file_path: '/docs/interview1.txt',
      memo: 'first talk',
      file_size: INTERVIEW.length,
      origin: null,
      code_count: 3,
      owner: 'ada',
      created_at: '2024-03-05 11:12:13',
    });
    expect(await world.data('list_sources', { source_type: 'pdf' })).toMatchObject({
      count: 1,
      sources: [{ id: 2 }],
    });
    expect(await world.fault('list_sources', { source_type: 'film' })).toBe('validation_error');
  });

  it('are read page by page, each page beginning where the last one ended', async () => {
    let text = '';
    let start = 0;
    for (;;) {
      const page = await world.data<{
        content: string;
        end_pos: number;
        has_more: boolean;
        total_length: number;
      }>('read_source_content', { source_id: 1, start_pos: start, max_length: 50 });
      text += page.content;
      expect(page.total_length).toBe(INTERVIEW.length);
      start = page.end_pos;
      if (!page.has_more) break;
    }
    expect(text).toBe(INTERVIEW);
  });

  it('take ids in quotes, and say what is wrong with others', async () => {
    expect(await world.data('read_source_content', { source_id: '1', end_pos: 11 })).toMatchObject({
      source_id: 1,
      source_name: 'interview1.txt',
      content: 'Interviewer',
      start_pos: 0,
      end_pos: 11,
      has_more: true,
    });
    expect(await world.fault('read_source_content', { source_id: 99 })).toBe('source_not_found');
    expect(await world.fault('read_source_content', { source_id: 3 })).toBe('invalid_position');
    expect(await world.fault('read_source_content', { source_id: 1, start_pos: -1 })).toBe(
      'invalid_position',
    );
    expect(await world.fault('read_source_content', { source_id: 1, start_pos: 9, end_pos: 3 })).toBe(
      'invalid_position',
    );
    expect(await world.fault('read_source_content', { source_id: 1, page: 2 })).toBe('invalid_input');
  });

  it('show how much of them is not coded yet', async () => {
    const found = await world.data<{ uncoded_ranges: { start_pos: number; end_pos: number }[] }>(
      'analyze_uncoded_text',
      { source_id: 1 },
    );
    const worry = INTERVIEW.indexOf('I worry');
    const sister = INTERVIEW.indexOf('My sister');
    expect(found).toEqual({
      source_id: 1,
      total_length: INTERVIEW.length,
      coded_length: 38,
      uncoded_percentage: Math.floor(((INTERVIEW.length - 38) * 100) / INTERVIEW.length),
      segment_count: 3,
      uncoded_ranges: [
        { start_pos: 0, end_pos: worry, length: worry },
        { start_pos: worry + 19, end_pos: sister, length: sister - worry - 19 },
        { start_pos: sister + 19, end_pos: INTERVIEW.length, length: INTERVIEW.length - sister - 19 },
      ],
    });
  });
});

describe('codes and segments', () => {
  it('are listed with their counts and without private memos', async () => {
    const codes = await world.data<object[]>('list_codes');
    expect(codes).toHaveLength(3);
    expect(codes[0]).toEqual({
      id: 1,
      name: 'Anxiety',
      color: '#FF6B6B',
      segment_count: 2,
      memo: 'worry, fear',
      category_id: 2,
      category_name: 'Bad ones',
      parent_code_id: null,
      owner: 'ada',
      created_at: '2024-03-05 11:12:13',
    });
    expect(await world.data('get_code', { code_id: 5 })).toMatchObject({
      name: 'Anxious',
      memo: 'being anxious',
    });
    expect(await world.fault('get_code', { code_id: 77 })).toBe('code_not_found');
  });

  it('say for every segment whether Countersign or QualCoder made it', async () => {
    const applied = await world.data<{ results: { segment_id: number }[] }>('batch_apply_codes', {
      operations: [
        { code_id: 2, source_id: 1, start_position: 0, end_position: 11, importance: 2, memo: 'who' },
      ],
    });
    const segments = await world.data<{ id: number; made_by: object | null }[]>('list_segments_for_source', {
      source_id: 1,
    });
    expect(segments).toHaveLength(4);
    expect(segments[0]).toMatchObject({
      id: applied.results[0]?.segment_id,
      code_id: 2,
      code_name: 'Coping',
      start_position: 0,
      end_position: 11,
      selected_text: 'Interviewer',
      memo: 'who',
      importance: 1,
      owner: 'AI: claude-code',
      anchored: true,
      made_by: { principal: 'agent:local', approved_by: null, method: null, confidence: null },
    });
    expect(segments.slice(1).map(({ made_by }) => made_by)).toEqual([null, null, null]);
    expect(await world.fault('list_segments_for_source', { source_id: 9 })).toBe('source_not_found');
  });
});

describe('navigate_to_segment', () => {
  it('notifies open pages, and says that it was shown only where one has the project open', async () => {
    const place = { source_id: 1, start_pos: 5, end_pos: 9 };
    expect(await world.data('navigate_to_segment', place)).toMatchObject({
      navigated_to: { ...place, highlight: true },
      shown: false,
    });
    const page = await world.kernel.events.present();
    await world.kernel.events.look(page, 'research:another project');
    expect(await world.data('navigate_to_segment', place)).toMatchObject({
      shown: false,
      message: expect.stringContaining('offers'),
    });
    const events = await world.kernel.events.since(0);
    const told = events.filter(({ topic }) => topic === 'research.navigate').at(-1)?.data;
    await world.kernel.events.look(page, `research:${told?.project}`);
    expect(await world.data('navigate_to_segment', { ...place, highlight: false })).toMatchObject({
      shown: true,
    });
    expect(told).toMatchObject({ ...place, highlight: true });
    expect(await world.fault('navigate_to_segment', { ...place, end_pos: 9999 })).toBe('invalid_position');
  });
});

const CONTRACT = 'test/data/documents/research-tools.json';
/** In addition to those of the document. */
const OWN = [
  'list_segments_for_code',
  'search_segments',
  'list_cases',
  'list_attributes',
  'compare_groups',
  'find_quote',
  'code_quote',
  'reanchor_segments',
  'update_coding',
  'list_memos',
  'update_memo',
  'add_annotation',
  'list_journal',
  'add_journal_entry',
  'summarize_segments',
  'export_codebook',
  'suggest_themes',
];

describe('the listing', () => {
  it('has the documented tools with the documented arguments, and its own', () => {
    const { tools } = JSON.parse(readFileSync(CONTRACT, 'utf8')) as {
      tools: { name: string; kind: string; inputSchema: JsonSchema }[];
    };
    const listed = toolkit.tools.filter(({ profiles }) => profiles.length > 0);
    const names = [...tools.map(({ name }) => name), ...OWN];
    expect(listed.map(({ name }) => name).sort()).toEqual(names.sort());
    for (const { name, kind, inputSchema } of tools) {
      const tool = toolkit.tools.find((item) => item.name === name);
      expect([name, tool?.effect]).toEqual([name, kind]);
      expect([name, plain(tool?.input.json ?? {})]).toEqual([name, plain(inputSchema)]);
    }
  });
});

/** Without what does not change what a caller may send. */
function plain(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(plain);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { $schema, additionalProperties, ...rest } = schema as JsonSchema;
  const kept = Object.entries(rest).filter(
    ([key, value]) =>
      !(key === 'required' && (value as unknown[]).length === 0) &&
      // As a word of the schema it is a text; a parameter of this name has a schema.
      !(key === 'description' && typeof value === 'string'),
  );
  return Object.fromEntries(kept.map(([key, value]) => [key, plain(value)]));
}

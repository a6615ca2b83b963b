import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import Database from 'libsql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type App, openApp } from '../../../app/app.ts';
import { createServed } from '../../../app/serving.ts';
import type { JsonObject } from '../../../contract/json.ts';
import { serveOnHttp } from '../../../transports/http.ts';
import { makeStudy, NOTES, STUDY, STUDY_TEXT } from './support/study.ts';

interface Envelope {
  readonly success: boolean;
  readonly data?: JsonObject;
  readonly error?: string;
  readonly error_code?: string;
  readonly suggestion_id?: string;
}

const UUID = expect.stringMatching(/^[0-9a-f-]{36}$/);

describe('all tools of toolkit research, through a real client on a QualCoder project', () => {
  let app: App;
  let home: string;
  let client: Client;
  let url: string;
  let file: string;
  let path: string;
  let closeAll: () => Promise<void>;
  const asked: string[] = [];
  const succeeded = new Set<string>();

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'countersign-research-'));
    writeFileSync(join(home, 'config.toml'), 'toolkits = ["research"]\n[log]\nlevel = "error"\n');
    ({ path, file } = makeStudy(home));
    app = await openApp({ env: { COUNTERSIGN_HOME: home, HOME: home } });
    const served = await createServed(app, { toolkits: ['research'], profile: 'write', discovery: false });
    const listening = await serveOnHttp(served, { host: '127.0.0.1', port: 0 });
    url = `http://localhost:${listening.port}`;
    client = new Client({ name: 'e2e', version: '1.0.0' }, { capabilities: { elicitation: { form: {} } } });
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      asked.push(params.message);
      return { action: 'accept', content: { confirm: true } };
    });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
    await client.listTools();
    closeAll = async () => {
      await client.close();
      await listening.close();
      await app.close();
      rmSync(home, { recursive: true, force: true });
    };
  });
  afterAll(() => closeAll());

  const call = async (name: string, args: JsonObject = {}): Promise<Envelope> => {
    // The client checks structured content against the listed output schema and throws when it does not match.
    const { structuredContent } = await client.callTool({ name, arguments: args });
    return structuredContent as unknown as Envelope;
  };
  /** The data of a call that must succeed. */
  const data = async <T = JsonObject>(name: string, args: JsonObject = {}): Promise<T> => {
    const reply = await call(name, args);
    expect(reply.success, `${name}: ${reply.error_code} ${reply.error}`).toBe(true);
    succeeded.add(name);
    return reply.data as T;
  };
  /** A call that must wait for the researcher, who then agrees. */
  const agreed = async (name: string, args: JsonObject): Promise<unknown> => {
    const reply = await call(name, args);
    expect(reply, name).toMatchObject({
      success: false,
      error_code: 'APPROVAL_REQUIRED',
      suggestion_id: UUID,
    });
    const { outcome } = await app.kernel.approvals.approve(reply.suggestion_id ?? '', app.person);
    expect(outcome, name).toMatchObject({ status: 'ok' });
    succeeded.add(name);
    return outcome?.status === 'ok' ? outcome.data : undefined;
  };
  const post = async (to: string, body: JsonObject): Promise<Envelope> => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${url}${to}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return (await response.json()) as Envelope;
  };
  const asPerson = async (tool: string, args: JsonObject): Promise<void> => {
    const bound = await app.inventory.resolve(tool);
    if (!bound) throw new Error(`No tool ${tool}`);
    const { outcome } = await app.kernel.invoke({ bound, args, principal: app.person, transport: 'test' });
    expect(outcome, tool).toMatchObject({ status: 'ok' });
  };
  /** What another program finds in the project's own file. */
  const inFile = (sql: string, ...values: (string | number)[]): unknown[] => {
    const db = new Database(file, { readonly: true });
    try {
      return db.prepare(sql).all(...values);
    } finally {
      db.close();
    }
  };

  it('say that no project is open, as the document words it', async () => {
    expect(await data('get_project_context')).toEqual({ project_open: false });
    const refusal = {
      success: false,
      error: 'No project open',
      error_code: 'NO_PROJECT',
      hint: expect.stringContaining('countersign research open'),
    };
    expect(await call('list_codes')).toEqual(refusal);
    expect(await post('/tools/list_codes', { arguments: {} })).toEqual(refusal);
    expect(await call('delete_code', { code_id: 1, delete_segments: true })).toEqual(refusal);
    expect(await call('merge_codes', { source_code_id: 1, target_code_id: 2 })).toEqual(refusal);
    expect(await call('remove_coding', { segment_id: 1 })).toEqual(refusal);
  });

  it('create the suggested code "Anxiety" in an empty project once the researcher agrees', async () => {
    const empty = join(home, 'empty.qda');
    await asPerson('create_project', { path: empty });
    const filed = await data('suggest_new_code', {
      name: 'Anxiety',
      rationale: 'Participants describe worry',
      color: '#FF6B6B',
      confidence: 85,
    });
    expect(filed).toMatchObject({
      status: 'pending_approval',
      requires_approval: true,
      suggestion_id: UUID,
      name: 'Anxiety',
      confidence: 85,
    });
    expect(await data('list_pending_suggestions')).toMatchObject({
      count: 1,
      suggestions: [{ suggestion_id: filed.suggestion_id, name: 'Anxiety', status: 'pending' }],
    });
    const before = asked.length;
    expect(await data('approve_suggestion', { suggestion_id: String(filed.suggestion_id) })).toMatchObject({
      status: 'created',
      name: 'Anxiety',
    });
    expect(asked.slice(before)).toEqual([expect.stringContaining('Anxiety')]);
    const db = new Database(join(empty, 'data.qda'), { readonly: true });
    const codes = db.prepare('SELECT name, lower(color) AS color, owner FROM code_name').all();
    db.close();
    expect(codes).toEqual([{ name: 'Anxiety', color: '#ff6b6b', owner: expect.stringMatching(/^AI: /) }]);
  });

  it('describe the project of the document', async () => {
    await asPerson('open_project', { path });
    const context = await data<{ sources: JsonObject[]; cases: JsonObject[] }>('get_project_context');
    expect(context).toMatchObject({
      project_open: true,
      project_name: 'My Research',
      project_path: path,
      source_count: STUDY.sources,
      case_count: STUDY.cases,
    });
    expect(context.sources[0]).toMatchObject({ id: 1, name: 'interview1.txt', type: 'text' });
    expect(context.cases[0]).toMatchObject({ id: 1, name: 'Participant A' });
    expect(await data('list_sources', { source_type: 'text' })).toMatchObject({
      count: 2,
      sources: [{ id: 1 }, { id: 5, name: 'notes.txt' }],
    });
    expect(await data('read_source_content', { source_id: 1, max_length: 5000 })).toEqual({
      source_id: 1,
      source_name: 'interview1.txt',
      content: STUDY_TEXT.slice(0, 5000),
      start_pos: 0,
      end_pos: 5000,
      total_length: 15_000,
      has_more: true,
    });
    const place = { source_id: 1, start_pos: 100, end_pos: 250 };
    expect(await data('navigate_to_segment', place)).toMatchObject({
      navigated_to: { ...place, highlight: true },
      shown: false,
    });
  });

  it('list codes and segments with the counts of the document', async () => {
    const codes = await data<unknown>('list_codes');
    expect(codes).toHaveLength(STUDY.codes);
    expect(codes).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id: 1, name: 'Anxiety', color: '#FF6B6B', segment_count: 12 }),
        expect.objectContaining({ id: 2, name: 'Coping', color: '#4ECDC4', segment_count: 8 }),
      ]),
    );
    expect(await data('get_code', { code_id: 1 })).toMatchObject({ id: 1, name: 'Anxiety' });
    const segments = await data<unknown>('list_segments_for_source', { source_id: 1 });
    expect(segments).toHaveLength(21);
  });

  it('find Anxiety and Anxious at threshold 0.8, and merge them once the researcher agrees', async () => {
    const found = await data<{ candidates: JsonObject[] }>('detect_duplicate_codes', { threshold: 0.8 });
    expect(found).toMatchObject({ requires_approval: true, codes_analyzed: STUDY.codes });
    expect(found.candidates).toHaveLength(1);
    expect(found.candidates[0]).toMatchObject({
      code_a_id: 1,
      code_a_name: 'Anxiety',
      code_b_id: 5,
      code_b_name: 'Anxious',
      code_a_segments: 12,
      code_b_segments: 3,
    });
    expect(Number(found.candidates[0]?.similarity)).toBeGreaterThanOrEqual(80);
    const merge = await data('suggest_merge_codes', {
      source_code_id: 5,
      target_code_id: 1,
      rationale: 'Two words for one thing',
    });
    expect(merge).toMatchObject({ status: 'pending_approval', requires_approval: true });
    const merge_suggestion_id = String(merge.merge_suggestion_id);
    expect(inFile('SELECT name FROM code_name WHERE cid = 5')).toHaveLength(1);
    // A merge is destructive, so no dialog decides it; the researcher makes the same call.
    expect(await call('approve_merge', { merge_suggestion_id })).toMatchObject({
      success: false,
      error: expect.stringContaining('a dialog in the client decides only'),
    });
    const bound = await app.inventory.resolve('approve_merge');
    if (!bound) throw new Error('approve_merge is missing.');
    const args = { merge_suggestion_id };
    const { outcome } = await app.kernel.invoke({ bound, args, principal: app.person, transport: 'cli' });
    expect(outcome).toMatchObject({
      status: 'ok',
      data: { status: 'merged', merged_from: 5, merged_into: 1 },
    });
    succeeded.add('approve_merge');
    expect(inFile('SELECT name FROM code_name WHERE cid = 5')).toEqual([]);
    expect(inFile('SELECT ctid FROM code_text WHERE cid = 5')).toEqual([]);
    expect(inFile('SELECT ctid FROM code_text WHERE ctid = 7 AND cid = 1')).toHaveLength(1);
  });

  it('write suggested metadata as attributes of the source once the researcher agrees', async () => {
    const suggested = { language: 'en', topics: ['work', 'sleep'], organization_suggestion: 'interviews' };
    const filed = await data('suggest_source_metadata', { source_id: 1, ...suggested });
    expect(filed).toMatchObject({
      source_id: 1,
      suggested,
      status: 'pending_approval',
      requires_approval: true,
    });
    await data('approve_suggestion', { suggestion_id: String(filed.suggestion_id) });
    const values = inFile(
      "SELECT value FROM attribute WHERE id = 1 AND attr_type = 'file' AND value <> 'Oslo'",
    );
    expect(values).toEqual(expect.arrayContaining([{ value: 'en' }, { value: 'interviews' }]));
  });

  it('turn the suggested coding of the document into a segment, or remember why not', async () => {
    const idea = { source_id: 1, code_id: 3, start_pos: 100, end_pos: 250, confidence: 85 };
    const filed = await data('suggest_code_application', { ...idea, rationale: 'She names who helps' });
    expect(filed).toMatchObject({
      ...idea,
      status: 'pending_approval',
      requires_approval: true,
      suggestion_id: UUID,
    });
    const suggestion_id = String(filed.suggestion_id);
    expect(await data('list_pending_coding_suggestions', { source_id: 1 })).toMatchObject({
      count: 1,
      suggestions: [{ suggestion_id, source_id: 1, code_id: 3, code_name: 'Support' }],
    });
    const { segment_id } = await data('approve_coding_suggestion', { suggestion_id });
    expect(
      inFile('SELECT cid, pos0, pos1, seltext, memo FROM code_text WHERE ctid = ?', Number(segment_id)),
    ).toEqual([
      { cid: 3, pos0: 100, pos1: 250, seltext: STUDY_TEXT.slice(100, 250), memo: 'She names who helps' },
    ]);

    const other = await data('suggest_code_application', { ...idea, code_id: 4 });
    const reason = { reason: 'Too wide', feedback: 'One sentence at a time' };
    const rejected = { suggestion_id: String(other.suggestion_id), ...reason };
    expect(await data('reject_coding_suggestion', rejected)).toMatchObject({ status: 'rejected', ...reason });
    expect(inFile('SELECT ctid FROM code_text WHERE cid = 4')).toEqual([]);
    expect(await data('suggest_code_application', { ...idea, code_id: 4 })).toMatchObject({
      previously_rejected: { suggestion_id: other.suggestion_id, ...reason },
    });
  });

  it('read the text on this machine and suggest codes with their reasons', async () => {
    const uncoded = await data<{ uncoded_ranges: JsonObject[] }>('analyze_uncoded_text', { source_id: 5 });
    expect(uncoded).toMatchObject({
      source_id: 5,
      total_length: NOTES.length,
      coded_length: 0,
      segment_count: 0,
    });
    const content = await data<{ patterns: { phrase: string }[] }>('analyze_content_for_codes', {
      source_id: 5,
    });
    expect(content.patterns.map(({ phrase }) => phrase)).toContain('waiting list');

    const range = { source_id: 1, start_pos: 100, end_pos: 200 };
    const fitting = await data<{ suggestions: JsonObject[] }>('suggest_codes_for_range', range);
    expect(fitting).toMatchObject({ ...range, suggestion_batch_id: UUID });
    expect(fitting.suggestions).toContainEqual(
      expect.objectContaining({
        code_id: expect.any(Number),
        code_name: expect.any(String),
        confidence: expect.any(Number),
        rationale: expect.stringMatching(/\S/),
      }),
    );

    const similar = await data<{ matches: JsonObject[] }>('find_similar_content', {
      search_text: 'worrying about money',
      code_id: 1,
    });
    const [best] = similar.matches.filter(({ source_id }) => source_id === 5);
    expect(NOTES.slice(Number(best?.start_pos), Number(best?.end_pos))).toBe(best?.text);
    expect(best?.text).toContain('worried about money');
  });

  it('apply whole batches of suggestions once the researcher agrees, and say how each batch stands', async () => {
    const found = await data<{ batch_id: string; suggestions: JsonObject[] }>('auto_suggest_codes', {
      source_id: 5,
      min_confidence: 30,
    });
    expect(found.suggestions.map(({ code_name }) => code_name)).toContain('Anxiety');
    const { batch_id } = found;
    const total_count = found.suggestions.length;
    expect(await data('get_suggestion_batch_status', { batch_id })).toMatchObject({
      batch_id,
      status: 'pending_review',
      total_count,
    });
    const before = asked.length;
    expect(await data('approve_batch_coding', { batch_id })).toMatchObject({ applied_count: total_count });
    expect(asked).toHaveLength(before + 1);
    expect(await data('get_suggestion_batch_status', { batch_id })).toMatchObject({ status: 'applied' });
    const coded = inFile('SELECT pos0, pos1, seltext FROM code_text WHERE fid = 5') as {
      pos0: number;
      pos1: number;
      seltext: string;
    }[];
    expect(coded).toHaveLength(total_count);
    for (const { pos0, pos1, seltext } of coded) expect(seltext).toBe(NOTES.slice(pos0, pos1));

    const batch = await data('suggest_batch_coding', {
      code_id: 13,
      segments: [0, 10].map((start_pos) => ({ source_id: 5, start_pos, end_pos: start_pos + 8 })),
      rationale: 'Both speak of food',
    });
    expect(batch).toMatchObject({ status: 'pending_approval', requires_approval: true, segment_count: 2 });
    await data('approve_batch_coding', { batch_id: String(batch.batch_id) });
    expect(inFile('SELECT pos0 FROM code_text WHERE cid = 13 AND fid = 5 ORDER BY pos0')).toEqual([
      { pos0: 0 },
      { pos0: 10 },
    ]);
  });

  it('change codes, sources and codings, and destroy only what the researcher agreed to', async () => {
    const made = await data('create_code', { name: 'Hope', color: '#00ff00' });
    const code_id = Number(made.code_id);
    expect(await data('update_code', { code_id, name: 'Hopes' })).toMatchObject({
      code_id,
      name: 'Hopes',
    });
    const added = await data('add_source', {
      name: 'talk.txt',
      content: 'Ben: I hope.\nEve: I hope too.\nBen: Good.\nEve: Yes.\n',
    });
    const source_id = Number(added.source_id);
    const pattern = { code_id, pattern: 'hope', source_ids: [source_id] };
    expect(await data('auto_code_pattern', pattern)).toMatchObject({ match_count: 2, applied_count: 2 });
    const speakers = await data<{ speakers: JsonObject[] }>('auto_code_speaker', { source_id });
    expect(speakers.speakers).toMatchObject([{ name: 'Ben', turns: 2 }, { name: 'Eve' }]);
    const seen =
      'SELECT seltext FROM code_text JOIN code_name USING (cid) WHERE code_name.name = ? ORDER BY pos0';
    expect(inFile(seen, 'Hopes')).toEqual([{ seltext: 'hope' }, { seltext: 'hope' }]);
    expect(inFile(seen, 'Ben')).toEqual([{ seltext: 'I hope.' }, { seltext: 'Good.' }]);

    const [first] = inFile('SELECT ctid FROM code_text WHERE cid = ? ORDER BY ctid', code_id) as {
      ctid: number;
    }[];
    expect(await agreed('remove_coding', { segment_id: first?.ctid ?? 0 })).toMatchObject({ deleted: true });
    expect(inFile(seen, 'Hopes')).toHaveLength(1);
    const ben = Number(speakers.speakers[0]?.code_id);
    expect(await agreed('merge_codes', { source_code_id: ben, target_code_id: code_id })).toMatchObject({
      segments_moved: 2,
    });
    expect(inFile(seen, 'Hopes')).toHaveLength(3);
    await agreed('delete_code', { code_id, delete_segments: true });
    expect(inFile('SELECT cid FROM code_name WHERE cid = ?', code_id)).toEqual([]);
    expect(inFile('SELECT ctid FROM code_text WHERE cid = ?', code_id)).toEqual([]);
  });

  it('give each operation of a batch its own answer', async () => {
    const operation = { code_id: 6, source_id: 1, start_position: 0, end_position: 11 };
    const applied = await data('batch_apply_codes', {
      operations: [
        operation,
        { ...operation, code_id: 7, importance: 3 },
        { ...operation, code_id: 8, memo: 'who' },
      ],
    });
    expect(applied).toMatchObject({ total: 3, succeeded: 3, failed: 0, all_succeeded: true });
    expect(applied.results).toMatchObject(
      [0, 1, 2].map((index) => ({ index, success: true, segment_id: expect.any(Number) })),
    );
    const bad = [{ code_id: 99 }, { source_id: 99 }, { end_position: 99_999 }];
    const failed = await data('batch_apply_codes', {
      operations: bad.map((wrong) => ({ ...operation, ...wrong })),
    });
    expect(failed).toMatchObject({ total: 3, succeeded: 0, failed: 3, all_succeeded: false });
    expect(failed.results).toMatchObject([
      { error_code: 'CODE_NOT_FOUND' },
      { error_code: 'SOURCE_NOT_FOUND' },
      { error_code: 'INVALID_POSITION' },
    ]);
  });

  it('answer the three requests of the document', async () => {
    const codes = await post('/tools/list_codes', { arguments: {} });
    expect(codes).toMatchObject({ success: true, data: { 0: { id: 1, name: 'Anxiety', color: '#FF6B6B' } } });

    const listed = await post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });
    expect(listed).toMatchObject({ jsonrpc: '2.0', id: 1, result: { tools: { length: 52 } } });

    const operations = [{ code_id: 1, source_id: 1, start_position: 0, end_position: 100 }];
    const called = await post('/mcp', {
      jsonrpc: '2.0',
      id: 2,
      method: 'tools/call',
      params: { name: 'batch_apply_codes', arguments: { operations } },
    });
    expect(called).toMatchObject({
      jsonrpc: '2.0',
      id: 2,
      result: {
        structuredContent: {
          success: true,
          data: { total: 1, succeeded: 1, results: [{ index: 0, success: true }] },
        },
      },
    });
    expect(inFile('SELECT seltext FROM code_text WHERE cid = 1 AND pos0 = 0 AND pos1 = 100')).toEqual([
      { seltext: STUDY_TEXT.slice(0, 100) },
    ]);
  });

  it('fail with the error codes of the document', async () => {
    for (const [error_code, name, args] of [
      ['CODE_NOT_FOUND', 'get_code', { code_id: 99 }],
      ['CODE_NOT_FOUND', 'delete_code', { code_id: 99 }],
      ['CODE_NOT_FOUND', 'merge_codes', { source_code_id: 1, target_code_id: 99 }],
      ['CODE_NOT_FOUND', 'merge_codes', { source_code_id: 1, target_code_id: 1 }],
      ['CODE_NOT_FOUND', 'remove_coding', { segment_id: 99_999 }],
      ['SOURCE_NOT_FOUND', 'read_source_content', { source_id: 99 }],
      ['INVALID_POSITION', 'navigate_to_segment', { source_id: 1, start_pos: 0, end_pos: 15_001 }],
    ] as const) {
      const refusal = { success: false, error: expect.any(String), error_code };
      expect(await call(name, args)).toMatchObject(refusal);
      expect(await post(`/tools/${name}`, { arguments: args })).toMatchObject(refusal);
    }
    const unknown = await post('/tools/no_such_tool', { arguments: {} });
    expect(unknown).toMatchObject({ success: false, error_code: 'TOOL_NOT_FOUND' });
  });

  it('retrieve, compare, quote, annotate, summarise and group', async () => {
    const words = STUDY_TEXT.slice(0, STUDY_TEXT.indexOf(' ', 60));
    const listed = await data<{ total: number }>('list_segments_for_code', { code_id: 6 });
    expect(listed.total).toBeGreaterThan(0);
    expect(await data('search_segments', { any_of: [6, 7], limit: 5 })).toMatchObject({ source_count: 1 });
    expect(await data('list_cases')).toMatchObject({ has_more: false });
    expect(await data('list_attributes')).toMatchObject({ attributes: expect.any(Array) });
    await asPerson('update_source_metadata', { source_id: 1, language: 'de' });
    expect(await data('compare_groups', { attribute: 'Language', code_ids: [6] })).toMatchObject({
      groups: [{ value: 'de', members: 1 }],
    });
    expect(await data('find_quote', { quote: words, source_id: 1 })).toMatchObject({
      places: [{ similarity: 1 }],
    });
    const coded = await data<{ segment_id: number }>('code_quote', {
      code_id: 6,
      quote: words,
      source_id: 1,
      occurrence: 1,
    });
    const { segment_id } = coded;
    expect(await data('update_coding', { segment_id, memo: 'start' })).toMatchObject({ memo: 'start' });
    expect(inFile('SELECT memo FROM code_text WHERE ctid = ?', segment_id)).toEqual([{ memo: 'start' }]);
    expect(await data('reanchor_segments')).toMatchObject({ moved_count: 0 });
    expect(await data('update_memo', { target: 'code', id: 6, memo: 'defined' })).toMatchObject({ id: 6 });
    await data('add_annotation', { source_id: 1, start_pos: 0, end_pos: 9, memo: 'greets' });
    expect(await data('list_memos', { kind: 'annotation' })).toMatchObject({ total: 2 });
    await data('add_journal_entry', { name: 'Monday', entry: 'Split a code.' });
    expect(await data('list_journal')).toMatchObject({ total: 1 });
    expect(await data('summarize_segments', { source_id: 1 })).toMatchObject({ method: 'extractive' });
    expect(await data('export_codebook')).toMatchObject({
      codebook: expect.stringContaining('# Codebook of'),
    });
    expect(await data('suggest_themes', { include_categorized: true })).toMatchObject({
      themes: expect.any(Array),
    });
  });

  it('are 52, and every one of them has succeeded here', async () => {
    const { tools } = await client.listTools();
    expect(tools).toHaveLength(52);
    expect(tools.map(({ name }) => name).filter((name) => !succeeded.has(name))).toEqual([]);
  });
});

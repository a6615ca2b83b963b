import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../contract/json.ts';
import { SqliteFile } from '../project/schema.ts';
import { findPassages } from '../retrieval/passages.ts';
import { proposeThemes } from '../retrieval/themes.ts';
import { ADA, openWithProject } from '../test/support/kernel.ts';
import { dumpDatabase, INTERVIEW } from '../test/support/qualcoder.ts';

let world: Awaited<ReturnType<typeof openWithProject>>;
beforeEach(async () => {
  world = await openWithProject();
});
afterEach(() => world.close());

const asAda = { principal: ADA };
const worry = INTERVIEW.indexOf('I worry');

describe('retrieval', () => {
  it('lists all segments of a code with the text around them', async () => {
    expect(await world.data('list_segments_for_code', { code_id: 1, context_chars: 7 })).toMatchObject({
      code_name: 'Anxiety',
      total: 1,
      has_more: false,
      segments: [
        {
          source_name: 'interview1.txt',
          before: 'Badly. ',
          text: 'I worry about money',
          after: ' all th',
          memo: 'clear',
          segment_ids: [7],
        },
      ],
    });
    expect(await world.fault('list_segments_for_code', { code_id: 99 })).toBe('code_not_found');
  });

  it('combines codes with AND, OR and NOT, by overlap or in the same source', async () => {
    const texts = async (query: JsonObject) =>
      (await world.data<{ passages: { text: string }[] }>('search_segments', query)).passages.map(
        ({ text }) => text,
      );
    expect(await texts({ all_of: [1, 5] })).toEqual(['I worry about money']);
    expect(await texts({ all_of: [1, 2] })).toEqual([]);
    expect(await texts({ all_of: [1, 2], relation: 'same_source' })).toHaveLength(2);
    expect(await texts({ any_of: [1, 2] })).toEqual(['I worry about money', 'My sister helps me.']);
    expect(await texts({ any_of: [1, 2], none_of: [5] })).toEqual(['My sister helps me.']);
    expect(await texts({ any_of: [1, 2], attributes: [{ name: 'Age', min: 30, max: 40 }] })).toHaveLength(2);
    expect(await texts({ any_of: [1, 2], attributes: [{ name: 'Age', min: 40 }] })).toEqual([]);
    expect(await texts({ any_of: [1, 2], attributes: [{ name: 'Place', value: 'oslo' }] })).toHaveLength(2);
    expect(await texts({ any_of: [1, 2], case_ids: [1], source_ids: [2] })).toEqual([]);
    expect(await world.fault('search_segments', { none_of: [1] })).toBe('validation_error');
    expect(await world.fault('search_segments', { all_of: [99] })).toBe('code_not_found');
    expect(await world.fault('search_segments', { all_of: [1], case_ids: [9] })).toBe('not_found');
    expect(await world.fault('search_segments', { all_of: [1], attributes: [{ name: 'X' }] })).toBe(
      'not_found',
    );
  });

  it('gives the text that overlapping codes share', () => {
    const coding = (id: number, codeId: number, start: number, end: number) => ({
      id,
      codeId,
      sourceId: 1,
      start,
      end,
    });
    const codings = [coding(1, 1, 0, 10), coding(2, 2, 5, 20), coding(3, 3, 8, 9), coding(4, 2, 30, 40)];
    const query = { allOf: [1, 2], anyOf: [], noneOf: [], relation: 'overlap' as const };
    expect(findPassages(codings, query)).toMatchObject([{ start: 5, end: 10, segmentIds: [1, 2] }]);
    expect(findPassages(codings, { ...query, noneOf: [3] })).toEqual([]);
    expect(findPassages(codings, { ...query, anyOf: [3] })).toHaveLength(1);
  });
});

describe('cases and attributes', () => {
  it('are read, filtered and compared', async () => {
    expect(await world.data('list_cases', { attributes: [{ name: 'Age', min: 30 }] })).toMatchObject({
      total: 1,
      cases: [
        {
          name: 'Participant A',
          attributes: [{ name: 'Age', value: '34' }],
          sources: [{ id: 1, name: 'interview1.txt' }],
          segment_count: 3,
        },
      ],
    });
    expect(await world.data('list_cases', { attributes: [{ name: 'Age', max: 30 }] })).toMatchObject({
      total: 0,
    });
    expect(await world.data('list_attributes')).toMatchObject({
      attributes: [
        { name: 'Age', applies_to: 'case', type: 'numeric', values: [{ value: '34', count: 1 }] },
        { name: 'Place', applies_to: 'file', values: [{ value: 'Oslo', count: 1 }] },
      ],
    });
    expect(await world.data('compare_groups', { attribute: 'Place', code_ids: [2] })).toEqual({
      attribute: 'Place',
      applies_to: 'file',
      groups: [{ value: 'Oslo', members: 1, segments: 3 }],
      codes: [
        {
          code_id: 2,
          code_name: 'Coping',
          groups: [{ value: 'Oslo', segments: 1, members_with_code: 1, share_of_members: 1 }],
        },
      ],
    });
    expect(await world.fault('compare_groups', { attribute: 'Nothing' })).toBe('not_found');
  });
});

describe('coding by quote', () => {
  it('finds the passage with other spaces, case and quotation marks, and codes it', async () => {
    const quote = '“i worry  about\nmoney all the time”';
    expect(await world.data('find_quote', { quote })).toMatchObject({
      count: 1,
      places: [{ start_pos: worry, text: 'I worry about money all the time', similarity: 1 }],
    });
    const before = dumpDatabase(world.file);
    const coded = await world.call('code_quote', { code_id: 2, quote });
    expect(coded).toMatchObject({ data: { status: 'applied', start_pos: worry, end_pos: worry + 32 } });
    expect(await world.data('code_quote', { code_id: 2, quote })).toMatchObject({ status: 'already_coded' });
    const [last] = await world.kernel.telemetry
      .calls({ tool: 'code_quote', limit: 5, statuses: ['ok'] })
      .then((c) => c.slice(-1));
    await world.data('undo_change', { call_id: last?.callId ?? '' }, asAda);
    expect(dumpDatabase(world.file)).toEqual(before);
  });

  it('codes the marks around the words that the quote and the text share', async () => {
    const found = async (quote: string) =>
      (await world.data<{ places: { text: string }[] }>('find_quote', { quote })).places[0]?.text;
    expect(await found('My sister helps me.')).toBe('My sister helps me.');
    expect(await found('“My sister helps me.”')).toBe('My sister helps me.');
    expect(await found(': My sister helps me!')).toBe(': My sister helps me');
  });

  it('refuses a quote that is nowhere or in several places, with what is similar', async () => {
    expect(await world.fault('code_quote', { code_id: 2, quote: 'nothing of the kind' })).toBe('not_found');
    expect(await world.fault('code_quote', { code_id: 2, quote: 'Interviewer' })).toBe('conflict');
    expect(await world.data('code_quote', { code_id: 2, quote: 'Interviewer', occurrence: 2 })).toMatchObject(
      {
        start_pos: INTERVIEW.lastIndexOf('Interviewer'),
      },
    );
    expect(
      await world.data('find_quote', { quote: 'I worry about money nearly all the time' }),
    ).toMatchObject({
      places: [{ similarity: expect.closeTo(0.88, 1) }],
    });
  });

  it('understands quotes with pseudonyms, as agents read them', async () => {
    await world.data('set_pseudonym', { original: 'Ada', pseudonym: 'Participant 1' }, asAda);
    expect(await world.data('find_quote', { quote: 'Participant 1: My sister' })).toMatchObject({
      places: [{ start_pos: INTERVIEW.indexOf('Ada: My sister'), text: 'Participant 1: My sister' }],
    });
  });

  it('moves segments to where their words stand after the text was edited', async () => {
    const db = new SqliteFile(world.file);
    db.run(
      'UPDATE source SET fulltext = ? WHERE id = 1',
      `A new first line.\n${INTERVIEW.replace('My sister', 'My mother')}`,
    );

    db.close();
    const result = await world.data<{ moved_count: number; unresolved: { segment_id: number }[] }>(
      'reanchor_segments',
    );
    expect(result).toMatchObject({ moved_count: 2, unresolved: [{ segment_id: 9, places: 0 }] });
    const segments = await world.data<
      { selected_text: string; anchored: boolean; memo: string; owner: string }[]
    >('list_segments_for_source', { source_id: 1 });
    expect(segments.filter(({ anchored }) => anchored)).toMatchObject([
      { selected_text: 'I worry about money', memo: 'clear', owner: 'ada' },
      { selected_text: 'I worry about money', memo: 'also', owner: 'ada' },
    ]);
  });
});

describe('memos, annotations and the journal', () => {
  it('are read without private parts and written in front of them', async () => {
    const memos = await world.data<{ memos: { kind: string; memo: string }[] }>('list_memos');
    expect(memos.memos.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['project', 'source', 'code', 'case', 'segment', 'annotation']),
    );
    expect(JSON.stringify(memos)).not.toMatch(/private|real name|doubts/);
    for (const [target, id] of [
      ['project', undefined],
      ['source', 1],
      ['code', 5],
      ['case', 1],
      ['segment', 7],
    ] as const)
      expect(await world.data('update_memo', { target, ...(id ? { id } : {}), memo: 'new' })).toMatchObject({
        memo: 'new',
      });
    const { store } = await (await world.services()).projects.current();
    expect(store.code(5)?.memo).toBe('new\n#####\nprivate');
    expect(store.info().memo).toBe('new\n#####\nmy own doubts');
    expect(store.cases()[0]?.memo).toBe('new');
    expect(await world.fault('update_memo', { target: 'code', memo: 'x' })).toBe('validation_error');
    expect(await world.fault('update_memo', { target: 'case', id: 9, memo: 'x' })).toBe('not_found');
  });

  it('of agents are kept apart from the diary of the researcher', async () => {
    expect(await world.data('list_journal')).toMatchObject({ total: 0 });
    await world.data('add_journal_entry', { name: 'Diary', entry: 'Split the code on worry.' });
    expect(await world.data('list_journal')).toMatchObject({
      total: 1,
      entries: [{ owner: 'AI: claude-code' }],
    });
    expect(await world.data('list_journal', {}, asAda)).toMatchObject({ total: 2 });
    const place = { source_id: 1, start_pos: worry, end_pos: worry + 7 };
    await world.data('add_annotation', { ...place, memo: 'hesitates' });
    expect(await world.data('list_memos', { kind: 'annotation', source_id: 1 })).toMatchObject({ total: 2 });
    expect(await world.fault('add_annotation', { ...place, memo: ' ' })).toBe('validation_error');
  });
});

describe('a summary', () => {
  it('consists of cited sentences, of a code or a source', async () => {
    const summary = await world.data<{ summary: string; citations: { text: string; start_pos: number }[] }>(
      'summarize_segments',
      { source_id: 1, max_sentences: 1 },
    );
    expect(summary).toMatchObject({
      method: 'extractive',
      citations: [{ number: 1, source_name: 'interview1.txt' }],
    });
    const [first] = summary.citations;
    expect(INTERVIEW.slice(first?.start_pos, (first?.start_pos ?? 0) + (first?.text.length ?? 0))).toBe(
      first?.text,
    );
    expect(summary.summary).toBe(`${first?.text} [1]`);
    expect(await world.fault('summarize_segments', {})).toBe('validation_error');
    expect(await world.fault('summarize_segments', { code_id: 99 })).toBe('code_not_found');
  });

  it('is worded by a configured model only from what it cites', async () => {
    let answer = 'She worries about money [1].';
    const server = createServer((request, response) => {
      request.resume().on('end', () => {
        const message = { role: 'assistant', content: JSON.stringify({ summary: answer }) };
        response.setHeader('content-type', 'application/json');
        response.end(
          JSON.stringify({
            id: 'x',
            model: 'm',
            created: 0,
            choices: [{ index: 0, message, finish_reason: 'stop' }],
            usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
          }),
        );
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const llm = await openWithProject({
      config: { ai: 'llm', llm: { provider: 'compatible', model: 'm', base_url } },
    });
    try {
      expect(await llm.data('summarize_segments', { source_id: 1 })).toMatchObject({
        summary: answer,
        method: 'extractive, worded by compatible/m',
        note: expect.stringContaining(base_url),
      });
      answer = 'She is happy.';
      expect(await llm.data('summarize_segments', { source_id: 1 })).toMatchObject({
        method: 'extractive',
        note: expect.stringContaining('does not cite'),
      });
    } finally {
      await llm.close();
      server.close();
    }
  });
});

describe('the codebook', () => {
  it('is exported with categories, definitions and examples', async () => {
    const { codebook } = await world.data<{ codebook: string }>('export_codebook');
    expect(codebook).toContain('## Feelings > Bad ones');
    expect(codebook).toMatch(/### Anxiety\n\nworry, fear\n\nSegments: 2 in 1 source/);
    expect(codebook).toContain('“I worry about money” (interview1.txt)');
    expect(codebook).not.toContain('private');
    const { codebook: csv } = await world.data<{ codebook: string }>('export_codebook', { format: 'csv' });
    expect(csv.split('\r\n')).toHaveLength(4);
  });
});

describe('themes', () => {
  it('wait in the queue and become categories once approved', async () => {
    const found = await world.data<{
      batch_id: string;
      themes: { suggestion_id: string; codes: object[] }[];
    }>('suggest_themes', { include_categorized: true });
    expect(found.themes).toMatchObject([{ codes: [{ name: 'Anxiety' }, { name: 'Anxious' }] }]);
    const again = await world.data<{ themes: object[] }>('suggest_themes', { include_categorized: true });
    expect(again.themes).toMatchObject([{ already_pending: true }]);
    const [theme] = found.themes;
    await world.data('approve_suggestion', { suggestion_id: theme?.suggestion_id ?? '' }, asAda);
    const { store } = await (await world.services()).projects.current();
    const category = store.code(1)?.categoryId;
    expect(category).toBe(store.code(5)?.categoryId);
    expect(store.categories().find(({ id }) => id === category)?.name).toBe('Anxiety and Anxious');
    expect(await world.fault('suggest_themes')).toBe('validation_error');
  });

  it('group what is used together and leave the rest alone', () => {
    const codes = [1, 2, 3, 4, 5].map((id) => ({ id, name: `C${id}` }));
    const coding = (codeId: number, start: number) => ({ codeId, sourceId: 1, start, end: start + 5 });
    const codings = [0, 100, 200].flatMap((at) => [
      coding(1, at),
      coding(2, at + 1),
      coding(3, at + 50),
      coding(4, at + 51),
    ]);
    const { themes, ungrouped } = proposeThemes(codes, [...codings, coding(5, 900)], []);
    expect(themes.map((theme) => theme.codes.map(({ name }) => name).sort())).toEqual([
      ['C1', 'C2'],
      ['C3', 'C4'],
    ]);
    expect(themes[0]?.rationale).toContain('overlap in 3 places');
    expect(ungrouped).toBe(1);
  });
});

import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../contract/json.ts';
import { SqliteFile } from '../project/schema.ts';
import { interviews } from '../suggest/interviews.fixture.ts';
import { ADA, openWithProject, type WorldOptions } from '../test/support/kernel.ts';

type World = Awaited<ReturnType<typeof openWithProject>>;
const opened: World[] = [];
const open = async (options?: WorldOptions) => {
  const world = await openWithProject(options);
  opened.push(world);
  return world;
};
afterEach(async () => {
  for (const world of opened.splice(0)) await world.close();
});

const TALK = [
  'Interviewer: How were the last weeks?',
  'Carla: I was so worried about money that I could not sleep. The waiting list frightens me.',
  'Interviewer: Who is there for you?',
  'Carla: My sister helps me with everything. On the waiting list nobody tells you anything.',
].join('\n');

const addTalk = async (world: World): Promise<number> =>
  (await world.data<{ source_id: number }>('add_source', { name: 'talk.txt', content: TALK })).source_id;

interface Ranked {
  readonly suggestions: readonly { readonly suggestion_id: string; readonly confidence: number }[];
  readonly unlikely?: readonly { readonly confidence: number }[];
}

interface Suggestions {
  readonly batch_id: string;
  readonly suggestion_batch_id: string;
  readonly method: string;
  readonly suggestions: {
    suggestion_id: string;
    code_name: string;
    confidence: number;
    rationale: string;
    start_pos: number;
    end_pos: number;
    already_pending?: boolean;
  }[];
}

describe('automatic suggestions', () => {
  it('name their evidence, wait for the researcher as one batch, and are applied with their method on record', async () => {
    const world = await open();
    const source_id = await addTalk(world);
    const found = await world.data<Suggestions>('auto_suggest_codes', { source_id, min_confidence: 30 });
    const anxiety = found.suggestions.find(({ code_name }) => code_name === 'Anxiety');
    expect(anxiety).toBeDefined();
    expect(TALK.slice(anxiety?.start_pos, anxiety?.end_pos)).toContain('worried');
    expect(anxiety?.rationale).toMatch(/worr/);
    expect(found.method).toMatch(/^lexical/);
    expect(await world.data('get_suggestion_batch_status', { batch_id: found.batch_id })).toMatchObject({
      status: 'pending_review',
      total_count: found.suggestions.length,
    });
    await world.data('approve_batch_coding', { batch_id: found.batch_id }, { principal: ADA });
    expect(await world.data('get_suggestion_batch_status', { batch_id: found.batch_id })).toMatchObject({
      status: 'applied',
    });
    const segments = await world.data<{ made_by: JsonObject }[]>('list_segments_for_source', { source_id });
    expect(segments).toHaveLength(found.suggestions.length);
    expect(segments[0]?.made_by).toMatchObject({ approved_by: 'person:ada', method: found.method });
  });

  it('are not made again after the researcher turned them down', async () => {
    const world = await open();
    const source_id = await addTalk(world);
    const first = await world.data<Suggestions>('auto_suggest_codes', { source_id, min_confidence: 30 });
    for (const { suggestion_id } of first.suggestions) {
      await world.data('reject_coding_suggestion', { suggestion_id }, { principal: ADA });
    }
    const again = await world.data<Suggestions & { previously_rejected_count: number }>(
      'auto_suggest_codes',
      { source_id, min_confidence: 30 },
    );
    expect(again.suggestions).toEqual([]);
    expect(again.previously_rejected_count).toBe(first.suggestions.length);
    expect(await world.data('get_suggestion_batch_status', { batch_id: again.batch_id })).toMatchObject({
      status: 'reviewed',
      total_count: 0,
    });
  });

  it('are filed from a confidence of 10 on; the others are only reported', async () => {
    const world = await open();
    const { codes, codings, texts } = interviews(8);
    const db = new SqliteFile(world.file);
    db.exec('BEGIN');
    for (const { id, name, memo } of codes)
      db.run('INSERT INTO code_name (cid, name, memo) VALUES (?, ?, ?)', 100 + id, name, memo);
    for (const [id, text] of texts)
      db.run('INSERT INTO source (id, name, fulltext) VALUES (?, ?, ?)', 100 + id, `garden-${id}.txt`, text);
    for (const { codeId, sourceId, start, end } of codings)
      db.run(
        "INSERT INTO code_text (cid, fid, seltext, pos0, pos1, owner) VALUES (?, ?, ?, ?, ?, 'ada')",
        100 + codeId,
        100 + sourceId,
        texts.get(sourceId)?.slice(start, end) ?? '',
        start,
        end,
      );
    db.exec('COMMIT');
    db.close();
    const filed = new Set<string>();
    let unlikely = 0;
    for (const [at, { sourceId, start }] of codings.slice(0, 12).entries()) {
      // Across two answers: more than one code is possible.
      const next = codings[at + 2];
      if (next?.sourceId !== sourceId) continue;
      const { end } = next;
      const found = await world.data<Ranked>('suggest_codes_for_range', {
        source_id: 100 + sourceId,
        start_pos: start,
        end_pos: end,
      });
      expect(found.suggestions.every(({ confidence }) => confidence >= 10)).toBe(true);
      expect(found.unlikely?.every(({ confidence }) => confidence < 10) ?? true).toBe(true);
      for (const { suggestion_id } of found.suggestions) filed.add(suggestion_id);
      unlikely += found.unlikely?.length ?? 0;
    }
    expect(unlikely).toBeGreaterThan(0);
    expect(await world.kernel.approvals.count({ states: ['pending'] })).toBe(filed.size);
  });

  it('fit a range and refuse one outside the text', async () => {
    const world = await open();
    const source_id = await addTalk(world);
    const start_pos = TALK.indexOf('I was so worried');
    const end_pos = TALK.indexOf(' The waiting');
    const found = await world.data<Suggestions>('suggest_codes_for_range', { source_id, start_pos, end_pos });
    expect(found).toMatchObject({ source_id, start_pos, end_pos });
    expect(found.suggestions[0]?.code_name).toMatch(/^Anxi/);
    expect(found.suggestions.map(({ confidence }) => confidence)).toEqual(
      found.suggestions.map(({ confidence }) => confidence).toSorted((a, b) => b - a),
    );
    expect(await world.fault('suggest_codes_for_range', { source_id, start_pos, end_pos: 9999 })).toBe(
      'invalid_position',
    );
  });
});

describe('the same suggestions again', () => {
  it('are reported as already pending, under the batch in which they wait', async () => {
    const world = await open();
    const source_id = await addTalk(world);
    const ask = () =>
      world.data<Suggestions & { already_pending_count: number }>('auto_suggest_codes', {
        source_id,
        min_confidence: 30,
      });
    const first = await ask();
    expect(first.already_pending_count).toBe(0);
    const again = await ask();
    expect(again.batch_id).toBe(first.batch_id);
    expect(again.already_pending_count).toBe(first.suggestions.length);
    expect(await world.data('get_suggestion_batch_status', { batch_id: again.batch_id })).toMatchObject({
      status: 'pending_review',
      total_count: first.suggestions.length,
    });

    // One more next to those that wait: the new batch holds what is new, and the reply says which.
    await world.data('create_code', { name: 'Waiting list' });
    const more = await ask();
    expect(more.batch_id).not.toBe(first.batch_id);
    const fresh = more.suggestions.filter(({ already_pending }) => !already_pending);
    expect(fresh.length).toBeGreaterThan(0);
    expect(more.already_pending_count).toBe(more.suggestions.length - fresh.length);
    expect(await world.data('get_suggestion_batch_status', { batch_id: more.batch_id })).toMatchObject({
      total_count: fresh.length,
    });
  });
});

describe('reading for codes', () => {
  it('finds Anxiety and Anxious as duplicates at the documented threshold', async () => {
    const world = await open();
    const found = await world.data<{ candidates: JsonObject[] }>('detect_duplicate_codes', {
      threshold: 0.8,
      include_usage_analysis: true,
    });
    expect(found).toMatchObject({ requires_approval: true, codes_analyzed: 3 });
    expect(found.candidates[0]).toMatchObject({
      code_a_id: 1,
      code_a_name: 'Anxiety',
      code_b_id: 5,
      code_b_name: 'Anxious',
      code_a_segments: 2,
      code_b_segments: 1,
      usage: { same_segments: expect.any(Number), overlap: expect.any(Number), shared_sources: 1 },
    });
    expect(Number(found.candidates[0]?.similarity)).toBeGreaterThanOrEqual(80);
  });

  it('finds what recurs in text without a code', async () => {
    const world = await open();
    const source_id = await addTalk(world);
    const found = await world.data<{ patterns: { phrase: string }[]; analysis: string }>(
      'analyze_content_for_codes',
      { source_id },
    );
    expect(found.patterns.map(({ phrase }) => phrase)).toContain('waiting list');
    expect(found.analysis).toMatch(
      /^100% uncoded, 1 uncoded region\(s\) found, 0 existing segment\(s\); recurring/,
    );
  });

  it('finds similar content with positions that hold', async () => {
    const world = await open();
    await addTalk(world);
    const found = await world.data<{
      matches: { source_id: number; start_pos: number; end_pos: number; text: string }[];
    }>('find_similar_content', { search_text: 'worrying about money', code_id: 1 });
    expect(found.matches.length).toBeGreaterThanOrEqual(2);
    for (const match of found.matches) {
      const page = await world.data('read_source_content', {
        source_id: match.source_id,
        start_pos: match.start_pos,
        end_pos: match.end_pos,
      });
      expect(page).toMatchObject({ content: match.text });
    }
    expect(await world.fault('find_similar_content', { search_text: 'x', code_id: 99 })).toBe(
      'code_not_found',
    );
    expect(await world.fault('find_similar_content', { search_text: ' ' })).toBe('validation_error');
  });
});

describe('[research] ai', () => {
  it('set to "off" removes everything automatic and leaves the rest', async () => {
    const world = await open({ config: { ai: 'off' } });
    const range = { source_id: 1, start_pos: 0, end_pos: 20 };
    expect(await world.fault('find_similar_content', { search_text: 'x' })).toBe('not_allowed');
    expect(await world.fault('suggest_codes_for_range', range)).toBe('not_allowed');
    expect(await world.fault('auto_suggest_codes', { source_id: 1 })).toBe('not_allowed');
    expect(await world.fault('detect_duplicate_codes')).toBe('not_allowed');
    expect(await world.fault('analyze_content_for_codes', { source_id: 1 })).toBe('not_allowed');
    expect(await world.data('analyze_uncoded_text', { source_id: 1 })).toMatchObject({ segment_count: 3 });
    await world.data('suggest_code_application', { ...range, code_id: 1 });
  });

  it('set to "llm" lets the model weigh in, says so, and shows it pseudonyms only', async () => {
    const seen: string[] = [];
    const server = createServer(async (request, response) => {
      seen.push(await bodyOf(request));
      const opinions = [{ index: 0, fits: true, confidence: 90, reason: 'worried is anxiety' }];
      const newCodes = [
        {
          name: 'Money',
          definition: 'What things cost.',
          quote: 'worry about money',
          reason: 'No code fits.',
        },
        { name: 'Ghosts', definition: '', quote: 'the castle at night', reason: 'Invented.' },
      ];
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({
          id: 'x',
          object: 'chat.completion',
          created: 1,
          model: 'test-model',
          choices: [
            {
              index: 0,
              finish_reason: 'stop',
              message: { role: 'assistant', content: JSON.stringify({ opinions, newCodes }) },
            },
          ],
          usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
        }),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    try {
      const world = await open({
        config: { ai: 'llm', llm: { provider: 'compatible', model: 'test-model', base_url } },
      });
      await world.data(
        'set_pseudonym',
        { original: 'Carla', pseudonym: 'Participant 9' },
        { principal: ADA },
      );
      const { source_id } = await world.data<{ source_id: number }>('add_source', {
        name: 'c.txt',
        content: 'Carla: I worry about money, says Carla.',
      });
      const found = await world.data<Suggestions>('suggest_codes_for_range', {
        source_id,
        start_pos: 7,
        end_pos: 39,
      });
      expect(found.method).toMatch(/refined by compatible\/test-model$/);
      expect(found.suggestions[0]?.rationale).toContain('compatible/test-model (90): worried is anxiety');
      expect(found).toMatchObject({
        note: expect.stringContaining(`Sent to compatible/test-model at ${base_url}: 1 passage`),
        new_codes: [{ name: 'Money', rationale: expect.stringContaining('“worry about money”') }],
      });
      expect(await world.data('list_pending_suggestions')).toMatchObject({ count: 1 });
      expect(seen.join()).toContain('Participant 9');
      expect(seen.join()).not.toContain('Carla');
      expect(seen.join()).not.toContain('#####');
      await world.data('set_source_access', { source_id, off_limits: true }, { principal: ADA });
      const before = seen.length;
      await world.data(
        'suggest_codes_for_range',
        { source_id, start_pos: 7, end_pos: 39 },
        { principal: ADA },
      );
      expect(seen.length).toBe(before);
    } finally {
      server.close();
    }
  });
});

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}

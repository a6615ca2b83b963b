import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../../test/support/property-runs.ts';
import type { JsonObject } from '../../../contract/json.ts';
import { Pace } from '../analysis/pace.ts';
import { SqliteFile } from '../project/schema.ts';
import { indexText } from '../project/source-text.ts';
import { ADA, openWithProject } from '../test/support/kernel.ts';
import { INTERVIEW } from '../test/support/qualcoder.ts';
import { maskRange, Pseudonymiser, showText } from './pseudonyms.ts';

const asAda = { principal: ADA };

describe('pseudonyms', () => {
  const names = new Pseudonymiser([
    { original: 'Ada', pseudonym: 'Participant 1' },
    { original: 'Ada Berg', pseudonym: 'Participant 2' },
    { original: 'José', pseudonym: 'P3' },
    { original: '田中', pseudonym: 'P4' },
  ]);

  it('replace whole words in any case and either Unicode form, the longest name first', () => {
    expect(names.mask('ADA said: Adam met Ada Berg, ada\nberg and Ada’s son')).toBe(
      'Participant 1 said: Adam met Participant 2, Participant 2 and Participant 1’s son',
    );
    expect(names.mask('Jose\u0301 and JOSÉ, not Joséphine')).toBe('P3 and P3, not Joséphine');
    expect(names.mask('田中さん')).toBe('P4さん');
    expect(names.unmask('what participant 2 said')).toBe('what Ada Berg said');
  });

  it('may hold any character, in the name and in the pseudonym', () => {
    const signs = [...'-_.,:;+*?^$|\\/()[]{}<>=!&#@%~\'"`’ 0😀'];
    for (const sign of signs) {
      const [original, pseudonym] = [`Anna${sign}Lena`, `P${sign}One`];
      const people = new Pseudonymiser([{ original, pseudonym }]);
      expect(people.mask(`I met ${original} today`)).toBe(`I met ${pseudonym} today`);
      expect(people.unmask(`I met ${pseudonym} today`)).toBe(`I met ${original} today`);
    }
  });

  it('never show half a name when a range cuts it', () => {
    const text = indexText('I am Ada Berg.');
    expect(maskRange(text, names.spansNear(text, 7, 10), 7, 10).content).toBe('Participant 2');
    expect(maskRange(text, names.spansNear(text, 0, 6), 0, 6).content).toBe('I am Participant 2');
  });

  it('are in a long text where they are in it as a whole, also across the steps it is read in', async () => {
    // Of a length that moves the names over every border.
    const part = 'ADA met 😀 Ada Berg, then Jose\u0301 said: 田中さん.\n';
    const text = indexText(part.repeat(9_000));
    const pace = new Pace();
    const shown = await showText(text, await names.spansInSlices(text, pace), pace);
    expect(shown.text.value === names.mask(text.value)).toBe(true);
    const [length, shownLength] = [[...part].length, [...names.mask(part)].length];
    for (const at of [0, 1, 4_321, 8_999]) {
      const start = at * shownLength;
      expect(shown.original({ start, end: start + 'Participant 1'.length })).toEqual({
        start: at * length,
        end: at * length + 'ADA'.length,
      });
    }
  });

  it('map every shown position to the original text, for any text', () => {
    const piece = fc.constantFrom(
      'Ada',
      'Ada Berg',
      'Jose\u0301',
      '田中',
      ' ',
      'x',
      '😀',
      'é',
      '\n',
      'Adam',
      '.',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), fc.nat(), fc.nat(), (pieces, a, b) => {
        const text = indexText(pieces.join(''));
        const [start = 0, end = 0] = [a % (text.length + 1), b % (text.length + 1)].sort((x, y) => x - y);
        const { content, replacements } = maskRange(text, names.spansNear(text, start, end), start, end);
        const shown = [...content];
        // Putting the originals back at the named places gives the original text.
        let rebuilt = '';
        let at = 0;
        for (const item of replacements) {
          rebuilt += shown.slice(at, item.content_start).join('');
          rebuilt += text.slice(item.start_pos, item.end_pos);
          at = item.content_end;
        }
        rebuilt += shown.slice(at).join('');
        expect(rebuilt).toBe(text.slice(start, end));
      }),
      { numRuns: propertyRuns(2000) },
    );
  });
});

describe('what agents see', () => {
  let world: Awaited<ReturnType<typeof openWithProject>>;
  beforeEach(async () => {
    world = await openWithProject();
    await world.data('set_pseudonym', { original: 'Ada', pseudonym: 'Participant 1' }, asAda);
  });
  afterEach(() => world.close());

  const at = INTERVIEW.indexOf('Ada: Badly');

  it('has pseudonyms with positions of the original text, while people see the names', async () => {
    const page = await world.data<{ content: string; end_pos: number; replacements: object[] }>(
      'read_source_content',
      {
        source_id: 1,
        start_pos: at,
        end_pos: at + 11,
      },
    );
    expect(page).toMatchObject({
      content: 'Participant 1: Badly.',
      start_pos: at,
      end_pos: at + 11,
      total_length: INTERVIEW.length,
      replacements: [{ content_start: 0, content_end: 13, start_pos: at, end_pos: at + 3 }],
    });
    const own = await world.data<{ content: string }>('read_source_content', { source_id: 1 }, asAda);
    expect(own.content).toBe(INTERVIEW);
    expect(own).not.toHaveProperty('replacements');
    expect(await world.data('get_project_context')).toMatchObject({ pseudonymised: true });
  });

  it('has no name anywhere: in sources, codes, segments, searches, suggestions or errors', async () => {
    const db = new SqliteFile(world.file);
    db.exec("UPDATE source SET name = 'Talk with Ada.txt', memo = 'Ada at home' WHERE id = 1");
    db.exec("UPDATE code_name SET name = 'Ada copes', memo = 'what Ada does' WHERE cid = 2");
    db.exec("UPDATE code_text SET memo = 'Ada again' WHERE ctid = 9");
    db.exec("UPDATE cases SET name = 'Ada', memo = 'Ada, 34'");
    db.close();
    await world.data('batch_apply_codes', {
      operations: [{ code_id: 2, source_id: 1, start_position: at, end_position: at + 10 }],
    });
    await world.data('suggest_code_application', {
      source_id: 1,
      code_id: 1,
      start_pos: at,
      end_pos: at + 9,
      include_text: true,
    });
    const seen: unknown[] = [
      await world.data('get_project_context'),
      await world.data('list_sources'),
      await world.data('list_codes'),
      await world.data('get_code', { code_id: 2 }),
      await world.data('list_segments_for_source', { source_id: 1 }),
      await world.data('list_pending_coding_suggestions'),
      await world.data('find_similar_content', { search_text: 'Participant 1' }),
      await world.data('analyze_content_for_codes', { source_id: 1 }),
      await world.data('auto_code_pattern', { code_id: 1, pattern: 'Participant 1', preview: true }),
      await world.data('auto_code_speaker', { source_id: 1, preview: true }),
      await world.data('suggest_codes_for_range', { source_id: 1, start_pos: at, end_pos: at + 40 }),
      await world.data('detect_duplicate_codes', { threshold: 0.1 }),
      await world.kernel.approvals.list({ toolkit: 'research' }),
    ];
    const text = JSON.stringify(seen);
    expect(text).toContain('Participant 1');
    expect(text.match(/.{0,60}\bAda\b.{0,30}/g)).toBeNull();
    const hits = await world.data<{ match_count: number }>('auto_code_pattern', {
      code_id: 1,
      pattern: 'participant 1',
      preview: true,
    });
    expect(hits.match_count).toBe(2);
  });

  it('has no way to find out a name by searching for it', async () => {
    const count = async (args: JsonObject, more = {}) =>
      (
        await world.data<{ match_count: number }>(
          'auto_code_pattern',
          { code_id: 1, preview: true, ...args },
          more,
        )
      ).match_count;
    expect(await count({ pattern: 'Ada' }, asAda)).toBe(2);
    const attempts: JsonObject[] = [
      { pattern: 'Ada' },
      { pattern: 'Ad', match: 'contains', case_sensitive: true },
      { pattern: 'A[a-z]a', match: 'regex' },
      { pattern: '(?<=Ada: )\\w+', match: 'regex' },
    ];
    for (const args of attempts) expect(await count(args), String(args.pattern)).toBe(0);
    expect(await world.fault('auto_code_speaker', { source_id: 1, speaker: 'Ada', preview: true })).toBe(
      'not_found',
    );
    const similar = async (search_text: string) =>
      (
        await world.data<{ matches: { match_type: string }[] }>('find_similar_content', { search_text })
      ).matches.filter(({ match_type }) => match_type !== 'meaning');
    await world.data('add_source', { name: 'more.txt', content: 'The next day Ada came along.' }, asAda);
    expect(await similar('Ada')).toEqual([]);
    expect(await similar('ADAS')).toEqual([]);

    // A name, misspelt or in another form, finds what a made-up one finds, alone and next to the pseudonym.
    await world.data('set_pseudonym', { original: 'Svensson', pseudonym: 'Participant 7' }, asAda);
    const content = 'My name matters. Svensson likes coffee in the morning.';
    await world.data('add_source', { name: 'coffee.txt', content }, asAda);
    for (const name of ['Svensson', 'Svenson', 'Svenssons'])
      for (const before of ['', 'coffee ', 'Participant 7 ', 'Participant 7 likes '])
        expect(await similar(before + name), before + name).toEqual(await similar(`${before}Qwertzson`));
    expect(await similar('Participant 7')).toMatchObject([
      { text: content.slice(17).replace('Svensson', 'Participant 7') },
    ]);

    // By the name it was shown an agent finds the person, at the place in the original text.
    expect(await similar('Participant 1')).not.toEqual([]);
    const found = await world.data<{ segments: { start_pos: number; end_pos: number }[] }>(
      'auto_code_pattern',
      { code_id: 1, source_ids: [1], pattern: 'part[a-z]+ \\d', match: 'regex', preview: true },
    );
    expect(found.segments.map(({ start_pos, end_pos }) => INTERVIEW.slice(start_pos, end_pos))).toEqual([
      'Ada',
      'Ada',
    ]);
    const after = await world.data<{ segments: { text: string; start_pos: number; end_pos: number }[] }>(
      'auto_code_pattern',
      { code_id: 1, source_ids: [1], pattern: 'Participant 1', unit: 'sentence', preview: true },
    );
    for (const { start_pos, end_pos, text } of after.segments)
      expect(await world.data('read_source_content', { source_id: 1, start_pos, end_pos })).toMatchObject({
        content: text,
      });
  });

  it('has no source that is off limits, by any route', async () => {
    await world.data('set_source_access', { source_id: 1, off_limits: true }, asAda);
    expect(await world.data('list_sources')).toMatchObject({ count: 3 });
    expect(await world.data('get_project_context')).toMatchObject({
      source_count: 3,
    });
    const range = { source_id: 1, start_pos: 0, end_pos: 5 };
    const attempts: [string, JsonObject][] = [
      ['read_source_content', { source_id: 1 }],
      ['list_segments_for_source', { source_id: 1 }],
      ['analyze_uncoded_text', { source_id: 1 }],
      ['analyze_content_for_codes', { source_id: 1 }],
      ['navigate_to_segment', range],
      ['suggest_codes_for_range', range],
      ['auto_suggest_codes', { source_id: 1 }],
      ['suggest_code_application', { ...range, code_id: 1 }],
      ['suggest_source_metadata', { source_id: 1, language: 'en' }],
      ['auto_code_speaker', { source_id: 1 }],
      ['auto_code_pattern', { code_id: 1, pattern: 'worry', source_ids: [1] }],
    ];
    for (const [tool, args] of attempts) {
      expect([tool, await world.fault(tool, args)]).toEqual([tool, 'source_not_found']);
    }
    const applied = await world.data<{ results: { error_code: string }[] }>('batch_apply_codes', {
      operations: [{ code_id: 1, source_id: 1, start_position: 0, end_position: 5 }],
    });
    expect(applied.results[0]?.error_code).toBe('SOURCE_NOT_FOUND');
    expect(await world.data('auto_code_pattern', { code_id: 1, pattern: 'worry' })).toMatchObject({
      match_count: 0,
    });
    expect(await world.data('find_similar_content', { search_text: 'worry about money' })).toMatchObject({
      match_count: 0,
    });
    expect(await world.fault('remove_coding', { segment_id: 7 })).toBe('code_not_found');
    expect(await world.data('read_source_content', { source_id: 1 }, asAda)).toMatchObject({
      content: INTERVIEW,
    });
    await world.data('set_source_access', { source_id: 1, off_limits: false }, asAda);
    expect(await world.data('list_sources')).toMatchObject({ count: 4 });
  });

  it('has nothing by coders whom the researcher hid', async () => {
    const db = new SqliteFile(world.file);
    db.exec("UPDATE coder_names SET visibility = 0 WHERE name = 'bob'");
    db.close();
    const segments = await world.data<{ owner: string }[]>('list_segments_for_source', { source_id: 1 });
    expect(segments.map(({ owner }) => owner)).toEqual(['Participant 1', 'Participant 1']);
    expect(await world.data('list_segments_for_source', { source_id: 1 }, asAda)).toHaveLength(3);
  });

  it('is for people to change, not for agents', async () => {
    expect(await world.fault('set_source_access', { source_id: 1, off_limits: false })).toBe(
      'policy_denied_hard_rule',
    );
    expect(await world.fault('set_pseudonym', { original: 'Ada', pseudonym: '' })).toBe(
      'policy_denied_hard_rule',
    );
    await world.data('set_pseudonym', { original: 'Ada', pseudonym: '' }, asAda);
    expect(await world.data('get_project_context')).not.toHaveProperty('pseudonymised');
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { indexText } from '../project/source-text.ts';
import { type PatternQuery, searchPattern } from './pattern-search.ts';

const search = async (value: string, query: Partial<PatternQuery> & { pattern: string }, options = {}) => {
  const [found] = await searchPattern([indexText(value)], { match: 'contains', ...query }, options);
  return found?.map(({ text }) => text);
};

describe('searching a pattern', () => {
  it('takes whole words for exact and parts of words for contains', async () => {
    expect(await search('Art, start, ART.', { pattern: 'art', match: 'exact' })).toEqual(['Art', 'ART']);
    expect(await search('Art, start.', { pattern: 'art' })).toEqual(['Art', 'art']);
    expect(await search('Art, art.', { pattern: 'art', caseSensitive: true })).toEqual(['art']);
    expect(await search('müde und müd', { pattern: 'müd', match: 'exact' })).toEqual(['müd']);
  });

  it('finds a phrase across a line break', async () => {
    expect(await search('I could not\n  sleep.', { pattern: 'not sleep' })).toEqual(['not\n  sleep']);
  });

  it('takes special characters of a literal as they are', async () => {
    expect(await search('cost (net) is $5.00?', { pattern: '(net) is $5.00?' })).toEqual(['(net) is $5.00?']);
  });

  it('takes the first or the last match of each text', async () => {
    expect(await search('a1 a2 a3', { pattern: 'a\\d', match: 'regex', scope: 'first' })).toEqual(['a1']);
    expect(await search('a1 a2 a3', { pattern: 'a\\d', match: 'regex', scope: 'last' })).toEqual(['a3']);
  });

  it('widens to the sentence or the paragraph, each once', async () => {
    const value =
      'First words here, then worry and worry. Second sentence is about nothing.\n  Another worry line.  \nEnd.';
    expect(await search(value, { pattern: 'worry', unit: 'sentence' })).toEqual([
      'First words here, then worry and worry.',
      'Another worry line.',
    ]);
    expect(await search(value, { pattern: 'worry', unit: 'paragraph' })).toEqual([
      'First words here, then worry and worry. Second sentence is about nothing.',
      'Another worry line.',
    ]);
  });

  it('gives for a long text what it gives for its parts', async () => {
    const part = 'Tea, then worry and worry. Nothing 😀 here.\n  Another worry line.  \n';
    for (const unit of ['match', 'sentence', 'paragraph'] as const) {
      const query = { pattern: 'worry', match: 'contains', unit } as const;
      const [own = []] = await searchPattern([indexText(part)], query);
      const [found] = await searchPattern([indexText(part.repeat(2_000))], query);
      const length = [...part].length;
      const expected = Array.from({ length: 2_000 }, (_, at) =>
        own.map(({ start, end, text }) => ({ start: start + at * length, end: end + at * length, text })),
      );
      expect(found).toEqual(expected.flat());
    }
  });

  it('gives positions in code points', async () => {
    const [found] = await searchPattern([indexText('😀😀 worry 😀')], { pattern: 'worry', match: 'exact' });
    expect(found).toEqual([{ start: 3, end: 8, text: 'worry' }]);
  });

  it('refuses what is not a pattern, and says why', async () => {
    await expect(search('x', { pattern: '(', match: 'regex' })).rejects.toThrow(/not a regular expression/);
    await expect(search('x', { pattern: '  ' })).rejects.toThrow(/empty/);
    await expect(search('x', { pattern: 'x'.repeat(2000) })).rejects.toThrow(/2000 characters/);
  });

  it('stops an expression that would never end, without holding up other work', async () => {
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 5);
    const slow = search(`${'a'.repeat(60)}!`, { pattern: '^(a+)+$', match: 'regex' }, { limitMs: 300 });
    await expect(slow).rejects.toThrow(/took longer than 300 ms/);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(5);
  });

  it('stops when it is cancelled', async () => {
    const stop = new AbortController();
    const slow = search(
      `${'a'.repeat(60)}!`,
      { pattern: '^(a+)+$', match: 'regex' },
      { signal: stop.signal, limitMs: 60_000 },
    );
    setTimeout(() => stop.abort(new Error('enough')), 50);
    await expect(slow).rejects.toThrow('enough');
  });

  it('finds any literal exactly where it is', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'grapheme', minLength: 1 }),
        fc.string({ unit: 'grapheme' }),
        async (pattern, around) => {
          fc.pre(pattern.trim() !== '' && !/\s/.test(pattern));
          const value = `${around}${pattern}${around}`;
          const text = indexText(value);
          const [found = []] = await searchPattern([text], {
            pattern,
            match: 'contains',
            caseSensitive: true,
          });
          expect(found.length).toBeGreaterThan(0);
          for (const { start, end } of found) expect(text.slice(start, end)).toBe(pattern);
        },
      ),
    );
  });
});

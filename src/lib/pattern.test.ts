import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadPatterns, maskBudget, type Pattern, PatternError, searchBudget } from './pattern.ts';

const compile = await loadPatterns();
const mask = (source: string, text: string, budget = maskBudget()): Promise<string> =>
  compile(source).mask(text, '[masked]', budget);
const EMAIL = String.raw`[\w.]+@[\w.]+\.[a-z]+`;

describe('a pattern', () => {
  it.each([
    ['(', 'is not a regular expression of RE2: error parsing regexp: missing closing ): `(`'],
    [
      '(?=a)',
      'is not a regular expression of RE2: error parsing regexp: invalid or unsupported Perl syntax: `(?=`',
    ],
    ['(a)\\1', 'is not a regular expression of RE2: error parsing regexp: invalid escape sequence: `\\1`'],
    [
      '(?:a?){400}a{400}',
      'is too large: it has 1202 instructions, and the maximum is 1000; repeat less often',
    ],
  ])('%j is refused', (source, message) => {
    expect(() => compile(source)).toThrow(new PatternError(message));
  });

  it('finds its answer in texts that make others backtrack for minutes', () => {
    const words = `${'a'.repeat(100_000)}!`;
    expect(compile(String.raw`^(\w+\s?)+$`).test(words, searchBudget())).toBe(false);
    expect(compile('^(a+)+$').test(words, searchBudget())).toBe(false);
    expect(compile('(?i)(A|a)*!$').test(words, searchBudget())).toBe(true);
  });

  it('is not searched for in a text that is too long for it, also in parts', () => {
    const large = compile('(?:a?){100}b');
    expect(() => large.test('c'.repeat(200_000), searchBudget())).toThrow(
      'a text of 200000 characters is too long for a regular expression of 203 instructions',
    );
    const budget = searchBudget();
    expect(large.test('c'.repeat(60_000), budget)).toBe(false);
    expect(() => large.test('c'.repeat(60_000), budget)).toThrow(PatternError);
  });
});

describe('masking', () => {
  it('is what replacing every match in the whole text gives', async () => {
    const filler = fc.constantFrom(
      'a',
      ' ',
      '.',
      '@',
      '\n',
      'é',
      '😀',
      'word ',
      'ada@acme.dev',
      '4111-1111-1111-1111',
    );
    const patterns: [string, RegExp][] = [
      [EMAIL, /[\w.]+@[\w.]+\.[a-z]+/gu],
      [String.raw`\d{4}(-\d{4}){3}`, /\d{4}(-\d{4}){3}/gu],
      [String.raw`\ba\b`, /\ba\b/gu],
      ['"[^"]*"', /"[^"]*"/gu],
      ['^a|d$', /^a|d$/gu],
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(filler, fc.constantFrom(1, 3, 30_000)), { maxLength: 12 }),
        fc.constantFrom(...patterns),
        async (parts, [source, native]) => {
          const text = parts
            .map(([part, times]) => part.repeat(part.length > 2 ? Math.min(times, 3) : times))
            .join('');
          // A match that fills a window has the rest replaced with it.
          fc.pre(!/[\w.]{9000}/.test(text));
          return (await mask(source, text)) === text.replace(native, '[masked]');
        },
      ),
      { numRuns: 100 },
    );
  });

  it.each([0, 189_990, 189_999, 190_000, 199_995, 200_000, 379_999, 399_988])(
    'finds a match at %i of a text that is longer than one search',
    async (at) => {
      const around = (found: string): string => `${' '.repeat(at)}${found}${' '.repeat(400_000 - at)}`;
      const shown = await mask(EMAIL, around('ada@acme.dev'));
      expect(shown === around('[masked]')).toBe(true);
    },
  );

  it('replaces the rest after a match without an end, and leaves out what it cannot search', async () => {
    expect(await mask('(?s)BEGIN.*', `a BEGIN ${'x '.repeat(300_000)}`)).toBe('a [masked]');
    expect(await mask('x*', 'axxa')).toBe('a[masked]a');
    const [text, budget] = ['a '.repeat(30_000), maskBudget()];
    const shown = await mask('a', text, budget);
    expect(shown).toMatch(
      /^(?:\[masked\] ){19999}\[masked\]\[masked: the last 20001 characters, which took too long to search\]$/,
    );
    expect(await mask('b', 'c'.repeat(201), budget)).toBe(
      '[masked: the last 201 characters, which took too long to search]',
    );
    expect(await mask('b', 'type b', budget)).toBe('type [masked]');
  });

  it('ends with a pattern whose matches each take a search to the end of the text', async () => {
    const shown = await mask('a(?:.*b)?', 'a'.repeat(200_000), { ...maskBudget(), searchMs: 200 });
    expect(shown).toMatch(
      /^(?:\[masked\])+\[masked: the last \d+ characters, which took too long to search\]$/,
    );
  });

  it('lets others work in between', async () => {
    const pattern: Pattern = compile(EMAIL);
    let turns = 0;
    let isDone = false;
    const other = (async () => {
      while (!isDone) {
        await new Promise(setImmediate);
        turns += 1;
      }
    })();
    await pattern.mask('ada@acme.dev '.repeat(15_000), '[masked]', maskBudget());
    isDone = true;
    await other;
    expect(turns).toBeGreaterThan(1);
  });
});

import { describe, expect, it } from 'vitest';
import { indexText } from '../project/source-text.ts';
import { contentPatterns } from './content-patterns.ts';
import { uncodedText } from './uncoded.ts';

describe('uncoded text', () => {
  it('is what no code covers, with and without the white space around it', () => {
    const text = indexText('aaa 😀bb \n\n cc');
    const found = uncodedText(text, [
      { start: 0, end: 3 },
      { start: 2, end: 4 },
      { start: 7, end: 8 },
      { start: 90, end: 99 },
    ]);
    expect(found).toEqual({
      totalLength: 13,
      codedLength: 5,
      uncodedPercentage: 61,
      gaps: [
        { start: 4, end: 7 },
        { start: 8, end: 13 },
      ],
      ranges: [
        { start: 4, end: 7 },
        { start: 11, end: 13 },
      ],
    });
  });

  it('is nothing in an empty text', () => {
    expect(uncodedText(indexText(''), [])).toMatchObject({ totalLength: 0, uncodedPercentage: 0, gaps: [] });
  });
});

describe('patterns in uncoded text', () => {
  it('are recurring phrases that no code is named after', async () => {
    const text = indexText(
      'P1: The waiting list was endless. I was anxious.\nP2: The waiting list, always the waiting list.\nP1: Anxious again. They put me on the waiting list for surgery.\nP2: Surgery took hours. The nurse was kind.',
    );
    const patterns = await contentPatterns(text, [{ start: 0, end: text.length }], {
      codeNames: ['Anxiety', 'Anxious'],
    });
    expect(patterns[0]).toMatchObject({ phrase: 'waiting list', occurrences: 3, speakers: ['P1', 'P2'] });
    expect(patterns.map(({ phrase }) => phrase)).toContain('surgery');
    expect(patterns.map(({ phrase }) => phrase)).not.toContain('anxious');
    for (const { examples } of patterns)
      for (const { start, end, text: quoted } of examples) expect(text.slice(start, end)).toBe(quoted);
  });
});

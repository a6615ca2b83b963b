import { describe, expect, it } from 'vitest';
import { cleanLabel, MAX_LABEL } from './label.ts';

describe('a label from outside', () => {
  it('is left alone when it is plain text', () => {
    expect(cleanLabel('Claude Desktop/1.2 (Åse’s 🖥)')).toBe('Claude Desktop/1.2 (Åse’s 🖥)');
  });

  it.each([
    ['NUL', 'a\u0000b'],
    ['an escape', 'a\u001bb'],
    ['a newline', 'a\nb'],
    ['half of a surrogate pair', 'a\ud800b'],
  ])('has %s replaced', (_what, text) => {
    expect(cleanLabel(text)).toBe('a\u{fffd}b');
  });

  it('is cut, and a pair that the cut splits does not remain in half', () => {
    const long = `${'x'.repeat(MAX_LABEL - 1)}🖥`;
    expect(cleanLabel(long)).toBe(`${'x'.repeat(MAX_LABEL - 1)}\u{fffd}`);
    expect(cleanLabel('x'.repeat(10_000))).toHaveLength(MAX_LABEL);
  });
});

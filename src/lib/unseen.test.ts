import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { showUnseen, showUnseenLine } from './unseen.ts';

describe('what a reader does not see', () => {
  it.each([
    ['a direction override', 'gpj.\u202eexe', 'gpj.‹U+202E›exe'],
    ['isolates', '\u2066if (admin)\u2069', '‹U+2066›if (admin)‹U+2069›'],
    ['a zero-width space', 'pro\u200bd', 'pro‹U+200B›d'],
    ['a joiner between Latin letters', 'adm\u200din\u200c', 'adm‹U+200D›in‹U+200C›'],
    ['line separators', 'a\u2028b\u2029c\u0085d', 'a‹U+2028›b‹U+2029›c‹U+0085›d'],
    ['an escape sequence', '\u001b[8mhidden', '‹U+001B›[8mhidden'],
    ['a lone carriage return', 'rm -rf /\rls', 'rm -rf /‹U+000D›ls'],
    ['tags', 'a\u{e0041}\u{e007f}', 'a‹U+E0041›‹U+E007F›'],
    ['fillers', '\u3164\u115f\u1160\uffa0\u2800', '‹U+3164›‹U+115F›‹U+1160›‹U+FFA0›‹U+2800›'],
    ['variation selectors in text', 'a\ufe0fb\u{e0101}1\ufe0f2', 'a‹U+FE0F›b‹U+E0101›1‹U+FE0F›2'],
    ['soft hyphens and private use', 'a\u00adb\uf8ff', 'a‹U+00AD›b‹U+F8FF›'],
    ['half a pair', 'a\ud83db', 'a‹U+D83D›b'],
  ])('is written out: %s', (_what, text, shown) => {
    expect(showUnseen(text)).toBe(shown);
  });

  it.each(['one\ttwo\nthree\r\nfour', '👨‍👩‍👧 ❤️ 1️⃣ 👩🏽‍💻 🏳️‍🌈', 'می‌خواهم', 'क्‍ष', 'naïve — “日本語”'])(
    'is not what scripts and emoji need: %j',
    (text) => {
      expect(showUnseen(text)).toBe(text);
    },
  );

  it('includes line breaks where a text has one line', () => {
    expect(showUnseenLine('a\nUndo  Can be undone\r\nb')).toBe(
      'a‹U+000A›Undo  Can be undone‹U+000D›‹U+000A›b',
    );
  });

  it('is gone after writing it out, for any text, and writing it out again changes nothing', () => {
    const alone = fc.constantFrom(
      '\u202e',
      '\u200b',
      '\u200d',
      '\ufe0f',
      '\u2028',
      '\u001b',
      '\u{e0041}',
      'a',
      '👍',
    );
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: alone })), (text) => {
        const shown = showUnseen(text);
        expect(shown).not.toMatch(
          /[\p{Zl}\p{Zp}\p{Bidi_Control}\p{Cs}\u200b]|(?![\t\n\r])\p{Cc}|[\u{e0000}-\u{e0fff}]/u,
        );
        expect(showUnseen(shown)).toBe(shown);
      }),
      { numRuns: 500 },
    );
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { indexText, TextBuilder } from './source-text.ts';
import { encodePosition, encodings, locate, locateBlind, type StoredUnit, settleUnit } from './units.ts';

const PIECES = ['a', 'b', ' ', '\n', '\r\n', '\u2029', '😀', '👩‍👧', 'e\u0301', '語', '문', '𠀋', 'worry'];
const anyText = fc
  .array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 60 })
  .map((list) => list.join(''));

describe('code point arithmetic', () => {
  it('agrees with an array of code points on every text', () => {
    fc.assert(
      fc.property(anyText, fc.nat(), fc.nat(), (value, a, b) => {
        const points = [...value];
        const text = indexText(value);
        expect(text.length).toBe(points.length);
        const [start, end] = [a % (points.length + 1), b % (points.length + 1)].sort((x, y) => x - y);
        if (start === undefined || end === undefined) return;
        expect(text.slice(start, end)).toBe(points.slice(start, end).join(''));
        expect(text.fromUnits(text.toUnits(start))).toBe(start);
      }),
      { numRuns: 2000 },
    );
  });

  it('is the same for a text that is read piece by piece', () => {
    fc.assert(
      fc.property(fc.array(anyText, { maxLength: 5 }), fc.nat(), (pieces, at) => {
        const building = new TextBuilder();
        for (const piece of pieces) building.add(piece);
        const [text, whole] = [building.text(), indexText(pieces.join(''))];
        expect([text.value, text.length, text.plain]).toEqual([whole.value, whole.length, whole.plain]);
        const position = at % (whole.length + 1);
        expect(text.toUnits(position)).toBe(whole.toUnits(position));
        expect(text.fromUnits(position)).toBe(whole.fromUnits(position));
      }),
    );
  });

  it('is the same for a long text of many small pieces', () => {
    const pieces = Array.from(
      { length: 120_000 },
      (_, at) => PIECES[(at * 7 + (at >> 5)) % PIECES.length] ?? '',
    );
    const building = new TextBuilder();
    for (const piece of pieces) building.add(piece);
    const [text, whole] = [building.text(), indexText(pieces.join(''))];
    expect(text.value === whole.value).toBe(true);
    expect(text.length).toBe(whole.length);
    const positions = Array.from({ length: 500 }, (_, at) => Math.floor((at * whole.length) / 499));
    expect(positions.map(text.toUnits)).toEqual(positions.map(whole.toUnits));
    expect(positions.map(text.fromUnits)).toEqual(positions.map(whole.fromUnits));
  });

  it('takes a position inside a surrogate pair for the start of its character', () => {
    expect(indexText('a😀b').fromUnits(2)).toBe(1);
  });
});

describe('stored units', () => {
  it.each(['codepoint', 'utf16'] as const)('reads back every range it writes when %s is settled', (unit) => {
    fc.assert(
      fc.property(anyText, fc.nat(), fc.nat(), (value, a, b) => {
        const text = indexText(value);
        const start = a % text.length;
        const end = start + 1 + (b % (text.length - start));
        const [row] = encodings(text, unit, start, end);
        if (!row) throw new Error('no way to write this range');
        expect(locate(text, unit, row, text.slice(start, end))).toMatchObject({ start, end, anchored: true });
      }),
      { numRuns: 3000 },
    );
  });

  it('settles on what the rows prove and is not misled by rows before the first emoji', () => {
    const text = indexText('hello 😀 one two three');
    const row = (unit: StoredUnit, start: number, end: number) => ({
      pos0: encodePosition(text, unit, start),
      pos1: encodePosition(text, unit, end),
      seltext: text.slice(start, end),
    });
    expect(settleUnit(text, () => [])).toBe('utf16');
    expect(settleUnit(text, () => [row('codepoint', 0, 5)])).toBe('utf16');
    expect(settleUnit(text, () => [row('codepoint', 8, 11)])).toBe('codepoint');
    expect(settleUnit(text, () => [row('codepoint', 8, 11), row('utf16', 12, 15), row('utf16', 8, 11)])).toBe(
      'utf16',
    );
  });

  it('reads a selection that Qt made over CRLF line ends', () => {
    const text = indexText('one\r\ntwo\r\nthree');
    // Qt holds the text as one¶two¶three and gives the break as U+2029.
    const place = locate(text, 'codepoint', { pos0: 4, pos1: 13 }, 'two\u2029three');
    expect(place).toMatchObject({ unit: 'qt', anchored: true });
    expect(text.slice(place.start, place.end)).toBe('two\r\nthree');
  });

  it('keeps what was once selected when the text has changed under a coding', () => {
    const text = indexText('a new text');
    expect(locate(text, 'codepoint', { pos0: 2, pos1: 99 }, 'gone')).toEqual({
      start: 2,
      end: 10,
      unit: 'codepoint',
      anchored: false,
    });
  });

  it('takes a whole file for a whole file in either unit', () => {
    const text = indexText('😀😀 all');
    expect(locateBlind(text, 'utf16', { pos0: 0, pos1: 6 })).toEqual({ start: 0, end: 6 });
    expect(locateBlind(text, 'utf16', { pos0: 0, pos1: 8 })).toEqual({ start: 0, end: 6 });
  });
});

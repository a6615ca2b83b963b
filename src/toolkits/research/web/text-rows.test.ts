import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { giveLanes, marksByRow, piecesOf } from './reader-row.tsx';
import { stretch, textOf } from './selection.ts';
import { appendRows, rowAt, toRows, unitIndex } from './use-document.ts';

const text = fc.string({ unit: fc.constantFrom('a', 'ß', ' ', '\n', '😀', '\u202e', '漢'), maxLength: 300 });
const points = (value: string) => [...value];

describe('the rows of a reader', () => {
  it('give back every passage of the text by its code points, however pages cut it', () => {
    fc.assert(
      fc.property(text, fc.nat(300), fc.nat(300), fc.nat(300), (value, cut, a, b) => {
        const all = points(value);
        const border = Math.min(cut, all.length);
        const first = toRows(all.slice(0, border).join(''), 0);
        const rows = appendRows(first, all.slice(border).join(''), border);
        const [start, end] = [Math.min(a, b, all.length), Math.min(Math.max(a, b), all.length)];
        const passage = all.slice(start, end).join('');
        // A line end at either edge belongs to no row.
        expect(textOf(rows, { start, end }).replaceAll('\n', '')).toBe(passage.replaceAll('\n', ''));
      }),
    );
  });

  it('cut a line of 100 kB into rows without losing a character or splitting an emoji', () => {
    const line = '😀x'.repeat(33_334);
    const rows = toRows(line, 7);
    expect(rows.length).toBeGreaterThan(10);
    expect(rows.map((row) => row.text).join('')).toBe(line);
    expect(rows.every((row) => row.text.isWellFormed())).toBe(true);
    expect(rows.at(-1)?.end).toBe(7 + points(line).length);
    expect(rowAt(rows, rows[3]?.start ?? 0)).toBe(3);
  });

  it('paint marks on exactly their characters', () => {
    fc.assert(
      fc.property(text, fc.array(fc.tuple(fc.nat(300), fc.nat(300)), { maxLength: 6 }), (value, pairs) => {
        const rows = toRows(value, 0);
        const ranges = pairs.map(([a, b]) => ({ start: Math.min(a, b), end: Math.max(a, b) + 1 }));
        const marks = giveLanes(ranges).map(({ item, lane }, at) => ({
          ...item,
          lane,
          key: String(at),
          kind: 'coding' as const,
          color: '#000000',
        }));
        const byRow = marksByRow(rows, marks);
        for (const [at, row] of rows.entries()) {
          const pieces = piecesOf(row, byRow.get(at) ?? []);
          expect(pieces.map((piece) => piece.text).join('')).toBe(row.text);
          for (const piece of pieces) {
            const covering = marks.filter(({ start, end }) => start <= piece.start && end > piece.start);
            expect(new Set(piece.marks)).toEqual(new Set(covering));
            expect(new Set(piece.marks.map(({ lane }) => lane)).size).toBe(piece.marks.length);
          }
        }
      }),
    );
  });

  it('find the unit of a code point and move an edge by whole words', () => {
    expect(unitIndex('a😀b', 2)).toBe(3);
    const rows = toRows('😀 one two\nthree', 0);
    const two = { start: 6, end: 9 };
    expect(textOf(rows, two)).toBe('two');
    expect(textOf(rows, stretch(rows, two, 'start', -1, 'word'))).toBe('one two');
    expect(textOf(rows, stretch(rows, two, 'end', 1, 'row'))).toBe('two\nthree');
  });
});

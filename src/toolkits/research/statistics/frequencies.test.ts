import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { caseMatrix, codeFrequencies, coOccurrences } from './frequencies.ts';

const codes = [
  { id: 1, name: 'Anxiety' },
  { id: 2, name: 'Coping' },
  { id: 3, name: 'Unused' },
];
const coded = (codeId: number, start: number, end: number, sourceId = 1, owner = 'Ana') => ({
  codeId,
  sourceId,
  owner,
  start,
  end,
});

describe('code frequencies', () => {
  it('counts overlapping characters once and lists unused codes', () => {
    const rows = codeFrequencies(codes, [
      coded(1, 0, 10),
      coded(1, 5, 20),
      coded(1, 0, 10, 2, 'Ben'),
      coded(2, 3, 4),
    ]);
    expect(rows[0]).toMatchObject({
      segments: 3,
      sources: 2,
      characters: 30,
      share: 0.75,
      byCoder: { Ana: 2, Ben: 1 },
    });
    expect(rows[2]).toMatchObject({ segments: 0, sources: 0, characters: 0, share: 0 });
  });
});

describe('co-occurrence', () => {
  it('names how the two segments lie to each other', () => {
    const relation = (a: [number, number], b: [number, number], proximity = 0) =>
      coOccurrences(codes, [coded(1, ...a), coded(2, ...b)], { proximity })[0];
    expect(relation([0, 10], [0, 10])).toMatchObject({ exact: 1, together: 1, coefficient: 1 });
    expect(relation([0, 10], [2, 8])).toMatchObject({ inclusion: 1 });
    expect(relation([0, 5], [0, 10])).toMatchObject({ inclusion: 1 });
    expect(relation([0, 10], [5, 15])).toMatchObject({ overlap: 1 });
    expect(relation([0, 10], [10, 20])).toBeUndefined();
    expect(relation([0, 10], [14, 20], 5)).toMatchObject({ proximity: 1, together: 0, coefficient: 0 });
    expect(relation([0, 10], [15, 20], 5)).toBeUndefined();
  });

  it('does not pair segments of different sources', () => {
    expect(coOccurrences(codes, [coded(1, 0, 10, 1), coded(2, 0, 10, 2)])).toEqual([]);
  });

  it('finds what comparing all pairs finds', () => {
    const any = fc.record({
      codeId: fc.integer({ min: 1, max: 3 }),
      sourceId: fc.integer({ min: 1, max: 2 }),
      owner: fc.constant('Ana'),
      start: fc.nat(40),
      end: fc.nat(40),
    });
    fc.assert(
      fc.property(fc.array(any, { maxLength: 30 }), (codings) => {
        const usable = codings.filter(({ start, end }) => end > start);
        let pairs = 0;
        for (const [i, a] of usable.entries()) {
          for (const b of usable.slice(i + 1)) {
            if (a.sourceId === b.sourceId && a.codeId !== b.codeId && a.start < b.end && b.start < a.end)
              pairs += 1;
          }
        }
        const found = coOccurrences(codes, codings).reduce((sum, row) => sum + row.together, 0);
        expect(found).toBe(pairs);
      }),
    );
  });
});

describe('the code × case matrix', () => {
  it('counts only what lies in the text of the case', () => {
    const matrix = caseMatrix(
      codes,
      [
        { id: 7, name: 'P1' },
        { id: 8, name: 'P2' },
      ],
      [coded(1, 0, 20), coded(1, 15, 25), coded(2, 30, 40), coded(2, 0, 5, 2)],
      [
        { caseId: 7, sourceId: 1, start: 0, end: 18 },
        { caseId: 8, sourceId: 1, start: 18, end: 35 },
      ],
    );
    expect(matrix.segments).toEqual([
      [2, 2],
      [0, 1],
      [0, 0],
    ]);
    expect(matrix.characters).toEqual([
      [18, 7],
      [0, 5],
      [0, 0],
    ]);
  });
});

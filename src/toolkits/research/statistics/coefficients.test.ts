import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  cohenKappa,
  coincidences,
  contingency,
  fleissKappa,
  fleissSums,
  krippendorffAlpha,
  type RatedUnit,
} from './agreement.ts';
import { bootstrapInterval, quantile, seededRandom } from './coefficients.ts';

const table = (...rows: number[][]) => ({ size: rows.length, counts: Float64Array.from(rows.flat()) });

/** One line per rater, `.` for a missing value. */
const units = (...raters: string[]): RatedUnit[] => {
  const lines = raters.map((line) => line.trim().split(/\s+/));
  return (lines[0] ?? []).map((_, at) => ({
    weight: 1,
    values: lines.map((line) => (line[at] === '.' ? undefined : Number(line[at]))),
  }));
};

describe("Cohen's kappa", () => {
  it('gives 0.40 for the 50 grant proposals of the textbook example', () => {
    const kappa = cohenKappa(table([20, 5], [10, 15]));
    expect(kappa.observed).toBeCloseTo(0.7, 12);
    expect(kappa.expected).toBeCloseTo(0.5, 12);
    expect(kappa.value).toBeCloseTo(0.4, 12);
  });

  it('distinguishes the two published tables with equal agreement and different margins', () => {
    expect(cohenKappa(table([45, 15], [25, 15])).value).toBeCloseTo(0.1304, 4);
    expect(cohenKappa(table([25, 35], [5, 35])).value).toBeCloseTo(0.2593, 4);
  });

  it('gives the kappa and standard error published for two dermatologists', () => {
    const kappa = cohenKappa(table([10, 4, 1, 0], [5, 10, 12, 2], [2, 4, 12, 5], [0, 2, 6, 13]));
    expect(kappa.value).toBeCloseTo(0.3449, 4);
    expect(kappa.standardError).toBeCloseTo(0.0724, 4);
  });

  it('is not defined when both raters said the same one thing throughout, or nothing', () => {
    expect(cohenKappa(table([0, 0], [0, 30])).value).toBeNull();
    expect(cohenKappa(table([0, 0], [0, 0])).value).toBeNull();
  });

  it('is 1 exactly when the raters never differ and never above, for any table', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(50), { minLength: 9, maxLength: 9 }), (cells) => {
        const { value, observed } = cohenKappa({ size: 3, counts: Float64Array.from(cells) });
        if (value === null) return;
        expect(value).toBeLessThanOrEqual(1 + 1e-9);
        expect(value > 1 - 1e-9).toBe(observed > 1 - 1e-12);
      }),
    );
  });
});

describe("Fleiss' kappa", () => {
  const published = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
  ].map((counts) => ({
    weight: 1,
    values: counts.flatMap((n, category) => new Array<number>(n).fill(category)),
  }));

  it('gives 0.210 for the published ten subjects and fourteen raters', () => {
    const kappa = fleissKappa(fleissSums(published, 5, 14));
    expect(kappa.observed).toBeCloseTo(0.378, 3);
    expect(kappa.expected).toBeCloseTo(0.213, 3);
    expect(kappa.value).toBeCloseTo(0.21, 3);
  });

  it('leaves out and counts units that not everybody judged', () => {
    const kappa = fleissKappa(fleissSums([...published, { weight: 3, values: [1, undefined] }], 5, 14));
    expect(kappa).toMatchObject({ units: 10, skipped: 3 });
    expect(kappa.value).toBeCloseTo(0.21, 3);
  });
});

describe("Krippendorff's alpha", () => {
  it('gives 0.095 for the published binary data of two observers', () => {
    const data = units('0 1 0 0 0 0 0 0 1 0', '1 1 1 0 0 1 0 0 0 0');
    expect(krippendorffAlpha(coincidences(data, 2)).value).toBeCloseTo(0.095, 3);
  });

  it('gives 0.692 for the published nominal data of two observers', () => {
    const data = units('0 0 1 1 3 2 2 2 4 3 3 0', '1 0 1 1 1 2 2 2 4 3 3 3');
    expect(krippendorffAlpha(coincidences(data, 5)).value).toBeCloseTo(0.692, 3);
  });

  it('gives 0.743 for the published four observers with missing values', () => {
    const data = units(
      '1 2 3 3 2 1 4 1 2 . . .',
      '1 2 3 3 2 2 4 1 2 5 . 3',
      '. 3 3 3 2 3 4 2 2 5 1 .',
      '1 2 3 3 2 4 4 1 2 5 1 .',
    );
    const alpha = krippendorffAlpha(coincidences(data, 6));
    expect(alpha.value).toBeCloseTo(0.743, 3);
    expect(alpha.pairable).toBeCloseTo(40, 9);
  });

  it('is not defined when only one value occurs', () => {
    expect(krippendorffAlpha(coincidences(units('1 1 1', '1 1 1'), 2)).value).toBeNull();
  });

  it('does not care whether equal units come one by one or as one weighted run', () => {
    const value = fc.option(fc.nat(1), { nil: undefined });
    const run = fc.record({ weight: fc.integer({ min: 1, max: 9 }), values: fc.tuple(value, value, value) });
    fc.assert(
      fc.property(fc.array(run, { minLength: 1, maxLength: 20 }), (runs) => {
        const single = runs.flatMap(({ weight, values }) =>
          new Array<RatedUnit>(weight).fill({ weight: 1, values }),
        );
        const a = krippendorffAlpha(coincidences(runs, 2)).value;
        const b = krippendorffAlpha(coincidences(single, 2)).value;
        if (a === null || b === null) expect(a).toBe(b);
        else expect(a).toBeCloseTo(b, 9);
      }),
    );
  });

  it("approaches Cohen's kappa for two observers with equal margins and many units", () => {
    const data = [
      { weight: 4000, values: [1, 1] },
      { weight: 500, values: [1, 0] },
      { weight: 500, values: [0, 1] },
      { weight: 5000, values: [0, 0] },
    ];
    const alpha = krippendorffAlpha(coincidences(data, 2)).value ?? 0;
    const kappa = cohenKappa(contingency(data, 2, 0, 1)).value ?? 1;
    expect(Math.abs(alpha - kappa)).toBeLessThan(0.001);
  });
});

describe('the bootstrap', () => {
  const draw = seededRandom(7);
  const blocks = Array.from({ length: 200 }, () => Float64Array.of(draw() < 0.3 ? 1 : 0, 1));
  const share = (sum: Float64Array) => (sum[0] ?? 0) / (sum[1] ?? 1);

  it('gives the same interval for the same seed and about the analytic one for a share', () => {
    const options = { samples: 4000, level: 0.95, seed: 1 };
    const first = bootstrapInterval(blocks, share, options);
    expect(bootstrapInterval(blocks, share, options)).toEqual(first);
    const p = blocks.reduce((sum, block) => sum + (block[0] ?? 0), 0) / blocks.length;
    const half = 1.96 * Math.sqrt((p * (1 - p)) / blocks.length);
    expect(first?.low).toBeCloseTo(p - half, 1);
    expect(first?.high).toBeCloseTo(p + half, 1);
  });

  it('gives about the same interval when many blocks are drawn in groups', () => {
    const random = seededRandom(3);
    const many = Array.from({ length: 9000 }, () => Float64Array.of(random() < 0.3 ? 1 : 0, 1));
    const interval = bootstrapInterval(many, share);
    const half = 1.96 * Math.sqrt((0.3 * 0.7) / many.length);
    expect((interval?.high ?? 0) - (interval?.low ?? 0)).toBeCloseTo(2 * half, 2);
  });

  it('gives no interval from a single block or from draws that have no value', () => {
    expect(bootstrapInterval(blocks.slice(0, 1), share)).toBeNull();
    expect(bootstrapInterval(blocks, () => null)).toBeNull();
  });

  it('interpolates quantiles between order statistics', () => {
    expect(quantile([1, 2, 3, 4], 0.5)).toBe(2.5);
    expect(quantile([1, 2, 3, 4], 1)).toBe(4);
  });
});

import type { RatedUnit } from './tables.ts';

/** Sums over units that all raters judged: enough for Fleiss' kappa, and they add up across blocks. */
export interface FleissSums {
  readonly raters: number;
  readonly units: number;
  /** Sum over units of the share of agreeing rater pairs. */
  readonly agreement: number;
  /** Judgements per category. */
  readonly judgements: readonly number[];
  /** Units left out because not everybody judged them. */
  readonly skipped: number;
}

export function fleissSums(units: Iterable<RatedUnit>, categories: number, raters: number): FleissSums {
  const judgements = new Array<number>(categories).fill(0);
  const held = new Array<number>(categories);
  let count = 0;
  let agreement = 0;
  let skipped = 0;
  for (const { weight, values } of units) {
    if (values.length !== raters || values.includes(undefined)) {
      skipped += weight;
      continue;
    }
    held.fill(0);
    for (const value of values) if (value !== undefined) held[value] = (held[value] ?? 0) + 1;
    let pairs = 0;
    held.forEach((n, category) => {
      pairs += n * (n - 1);
      judgements[category] = (judgements[category] ?? 0) + n * weight;
    });
    agreement += (weight * pairs) / (raters * (raters - 1));
    count += weight;
  }
  return { raters, units: count, agreement, judgements, skipped };
}

export interface FleissKappa {
  readonly value: number | null;
  readonly observed: number;
  readonly expected: number;
  readonly units: number;
  readonly skipped: number;
}

/** Fleiss' kappa (1971) for a fixed number of raters. */
export function fleissKappa(sums: FleissSums): FleissKappa {
  const { units, skipped, raters } = sums;
  if (units === 0 || raters < 2) return { value: null, observed: 0, expected: 0, units, skipped };
  const observed = sums.agreement / units;
  const expected = sums.judgements.reduce((sum, n) => sum + (n / (units * raters)) ** 2, 0);
  const value = expected >= 1 ? null : (observed - expected) / (1 - expected);
  return { value, observed, expected, units, skipped };
}

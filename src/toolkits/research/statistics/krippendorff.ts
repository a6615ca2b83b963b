import { diagonal, rowSums, type SquareTable, total } from './tables.ts';

export interface Alpha {
  /** Null where alpha is not defined: nothing to pair, or only one value was ever used. */
  readonly value: number | null;
  /** Values that could be paired with another rater's. */
  readonly pairable: number;
}

/** Krippendorff's alpha for nominal data, any number of raters, missing values allowed, from coincidences. */
export function krippendorffAlpha(coincidence: SquareTable): Alpha {
  const pairable = total(coincidence);
  const margins = rowSums(coincidence);
  let same = 0;
  for (const count of margins) same += count * (count - 1);
  const possible = pairable * (pairable - 1);
  const chance = possible - same;
  // Rounding of fractional coincidences must not turn "one value only" into a division by almost nothing.
  if (pairable === 0 || chance <= 1e-9 * Math.max(1, possible)) return { value: null, pairable };
  const disagreeing = pairable - diagonal(coincidence);
  return { value: 1 - ((pairable - 1) * disagreeing) / chance, pairable };
}

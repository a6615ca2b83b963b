/**
 * What raters said about units, kept as sums. Every coefficient here is a function of such sums, so a bootstrap can add
 * up whole blocks instead of going through the units again.
 */
export interface RatedUnit {
  /** How many equal units this stands for: a run of characters that all coders treated alike is one entry. */
  readonly weight: number;
  /** One value per rater, in a fixed order; undefined where the rater did not judge the unit. */
  readonly values: readonly (number | undefined)[];
}

/** Square table of counts, row by row: `counts[a * size + b]`. */
export interface SquareTable {
  readonly size: number;
  readonly counts: Float64Array;
}

function squareTable(size: number): SquareTable {
  return { size, counts: new Float64Array(size * size) };
}

/** Contingency of two raters: row = what the first said, column = what the second said. Units either left out are skipped. */
export function contingency(
  units: Iterable<RatedUnit>,
  size: number,
  first: number,
  second: number,
): SquareTable {
  const table = squareTable(size);
  for (const { weight, values } of units) {
    const a = values[first];
    const b = values[second];
    if (a === undefined || b === undefined) continue;
    table.counts[a * size + b] = (table.counts[a * size + b] ?? 0) + weight;
  }
  return table;
}

/**
 * Krippendorff's coincidences over any number of raters: every ordered pair of values within a unit counts
 * 1 / (values in the unit - 1). Units with fewer than two values cannot be paired and are left out.
 */
export function coincidences(units: Iterable<RatedUnit>, size: number): SquareTable {
  const table = squareTable(size);
  const held = new Float64Array(size);
  for (const { weight, values } of units) {
    held.fill(0);
    let count = 0;
    for (const value of values) {
      if (value === undefined) continue;
      held[value] = (held[value] ?? 0) + 1;
      count += 1;
    }
    if (count < 2) continue;
    for (let a = 0; a < size; a += 1) {
      for (let b = 0; b < size; b += 1) {
        const pairs = (held[a] ?? 0) * ((held[b] ?? 0) - (a === b ? 1 : 0));
        table.counts[a * size + b] = (table.counts[a * size + b] ?? 0) + (weight * pairs) / (count - 1);
      }
    }
  }
  return table;
}

export function total(table: SquareTable): number {
  let sum = 0;
  for (const count of table.counts) sum += count;
  return sum;
}

export function diagonal(table: SquareTable): number {
  let sum = 0;
  for (let i = 0; i < table.size; i += 1) sum += table.counts[i * table.size + i] ?? 0;
  return sum;
}

function rowSums(table: SquareTable): Float64Array {
  const sums = new Float64Array(table.size);
  table.counts.forEach((count, at) => {
    const row = Math.floor(at / table.size);
    sums[row] = (sums[row] ?? 0) + count;
  });
  return sums;
}

function columnSums(table: SquareTable): Float64Array {
  const sums = new Float64Array(table.size);
  table.counts.forEach((count, at) => {
    const column = at % table.size;
    sums[column] = (sums[column] ?? 0) + count;
  });
  return sums;
}

export interface Kappa {
  /** Null where kappa is not defined: no units, or both raters said one and the same thing throughout. */
  readonly value: number | null;
  readonly observed: number;
  readonly expected: number;
  readonly units: number;
  /** Large-sample standard error (Fleiss, Cohen and Everitt 1969); it takes the units as independent. */
  readonly standardError: number | null;
}

/** Cohen's kappa for two raters (Cohen 1960) from their contingency table. */
export function cohenKappa(table: SquareTable): Kappa {
  const units = total(table);
  if (units === 0) return { value: null, observed: 0, expected: 0, units, standardError: null };
  const rows = rowSums(table);
  const columns = columnSums(table);
  const observed = diagonal(table) / units;
  let expected = 0;
  for (let i = 0; i < table.size; i += 1) expected += ((rows[i] ?? 0) * (columns[i] ?? 0)) / (units * units);
  if (expected >= 1) return { value: null, observed, expected, units, standardError: null };
  const value = (observed - expected) / (1 - expected);
  return { value, observed, expected, units, standardError: standardError(table, value, expected) };
}

function standardError(table: SquareTable, kappa: number, expected: number): number {
  const n = total(table);
  const rows = rowSums(table);
  const columns = columnSums(table);
  let agreeing = 0;
  let crossing = 0;
  table.counts.forEach((count, at) => {
    const i = Math.floor(at / table.size);
    const j = at % table.size;
    const share = count / n;
    if (i === j) {
      const margins = ((rows[i] ?? 0) + (columns[i] ?? 0)) / n;
      agreeing += share * (1 - margins * (1 - kappa)) ** 2;
    } else {
      crossing += share * (((columns[i] ?? 0) + (rows[j] ?? 0)) / n) ** 2;
    }
  });
  const spread = agreeing + (1 - kappa) ** 2 * crossing - (kappa - expected * (1 - kappa)) ** 2;
  return Math.sqrt(Math.max(0, spread) / n) / (1 - expected);
}

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

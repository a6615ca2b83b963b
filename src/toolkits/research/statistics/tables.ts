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

export function rowSums(table: SquareTable): Float64Array {
  const sums = new Float64Array(table.size);
  table.counts.forEach((count, at) => {
    const row = Math.floor(at / table.size);
    sums[row] = (sums[row] ?? 0) + count;
  });
  return sums;
}

export function columnSums(table: SquareTable): Float64Array {
  const sums = new Float64Array(table.size);
  table.counts.forEach((count, at) => {
    const column = at % table.size;
    sums[column] = (sums[column] ?? 0) + count;
  });
  return sums;
}

import { columnSums, diagonal, rowSums, type SquareTable, total } from './tables.ts';

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

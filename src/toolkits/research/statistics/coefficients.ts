import { type BootstrapOptions, bootstrapInterval, type Interval } from './bootstrap.ts';
import { cohenKappa } from './cohen.ts';
import { fleissKappa, fleissSums } from './fleiss.ts';
import { krippendorffAlpha } from './krippendorff.ts';
import { coincidences, contingency, diagonal, type RatedUnit, total } from './tables.ts';
import type { Block } from './units.ts';

/** Coded or not coded: all coefficients of a report are about this one question. */
const CATEGORIES = 2;

export interface Coefficient {
  /** Null where it is not defined; `note` says why. */
  readonly value: number | null;
  readonly interval: Interval | null;
  /** Raw share of agreement, for readers who want to see past the chance correction. */
  readonly observed: number | null;
  /** Characters or segments that went into it. */
  readonly units: number;
  readonly note?: string;
}

const ONE_VALUE = 'Everyone judged every unit alike, so agreement beyond chance is not defined.';
const NOTHING = 'No unit was judged by all of these coders.';

type Blocks = readonly Block[];

/** Cohen's kappa between the raters at two places of the value lists. */
export function cohen(
  blocks: Blocks,
  pair: readonly [number, number],
  options: BootstrapOptions,
): Coefficient {
  const sums = blocks.map((block) => contingency(block, CATEGORIES, pair[0], pair[1]).counts);
  const result = cohenKappa({ size: CATEGORIES, counts: add(sums) });
  const interval = bootstrapInterval(
    sums,
    (counts) => cohenKappa({ size: CATEGORIES, counts }).value,
    options,
  );
  return finish(result.value, interval, result.units ? result.observed : null, result.units);
}

/** Krippendorff's alpha (nominal) over all raters; whoever did not judge a unit is left out of it. */
export function krippendorff(blocks: Blocks, options: BootstrapOptions): Coefficient {
  const sums = blocks.map((block) => coincidences(block, CATEGORIES).counts);
  const table = { size: CATEGORIES, counts: add(sums) };
  const { value, pairable } = krippendorffAlpha(table);
  const interval = bootstrapInterval(
    sums,
    (counts) => krippendorffAlpha({ size: CATEGORIES, counts }).value,
    options,
  );
  const units = blocks.flat().reduce((sum, unit) => sum + (judged(unit) > 1 ? unit.weight : 0), 0);
  return finish(value, interval, pairable ? diagonal(table) / total(table) : null, units);
}

/** Fleiss' kappa over units that all raters judged. */
export function fleiss(blocks: Blocks, raters: number, options: BootstrapOptions): Coefficient {
  const sums = blocks.map((block) => {
    const { units, agreement, judgements } = fleissSums(block, CATEGORIES, raters);
    return Float64Array.of(units, agreement, ...judgements);
  });
  const evaluate = ([units = 0, agreement = 0, ...judgements]: Iterable<number> & ArrayLike<number>) =>
    fleissKappa({ raters, units, agreement, judgements, skipped: 0 });
  const result = evaluate(add(sums));
  const interval = bootstrapInterval(sums, (counts) => evaluate(counts).value, options);
  return finish(result.value, interval, result.units ? result.observed : null, result.units);
}

function finish(
  value: number | null,
  interval: Interval | null,
  observed: number | null,
  units: number,
): Coefficient {
  if (value !== null) return { value, interval, observed, units };
  return { value, interval: null, observed, units, note: units ? ONE_VALUE : NOTHING };
}

const judged = (unit: RatedUnit): number => unit.values.filter((value) => value !== undefined).length;

function add(sums: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(sums[0]?.length ?? CATEGORIES * CATEGORIES);
  for (const part of sums)
    part.forEach((count, i) => {
      all[i] = (all[i] ?? 0) + count;
    });
  return all;
}

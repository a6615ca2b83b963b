import {
  cohenKappa,
  coincidences,
  contingency,
  diagonal,
  fleissKappa,
  fleissSums,
  krippendorffAlpha,
  type RatedUnit,
  total,
} from './agreement.ts';
import type { Block } from './units.ts';

export interface Interval {
  readonly low: number;
  readonly high: number;
  readonly level: number;
}

export interface BootstrapOptions {
  readonly samples: number;
  readonly level: number;
  readonly seed: number;
}

export const DEFAULT_BOOTSTRAP: BootstrapOptions = { samples: 1000, level: 0.95, seed: 20_240_229 };

/**
 * Percentile bootstrap over blocks of additive sums. Characters of one sentence are not independent of each other, so whole
 * blocks are drawn, never single characters. Null when too few draws give a defined value to speak of an interval.
 */
export function bootstrapInterval(
  given: readonly Float64Array[],
  statistic: (sum: Float64Array) => number | null,
  options: BootstrapOptions = DEFAULT_BOOTSTRAP,
): Interval | null {
  const blocks = joinNeighbours(given);
  const width = blocks[0]?.length ?? 0;
  if (blocks.length < 2) return null;
  // One flat array: this loop runs some ten million times for a report.
  const flat = new Float64Array(blocks.length * width);
  for (const [at, block] of blocks.entries()) flat.set(block, at * width);
  const random = seededRandom(options.seed);
  const values: number[] = [];
  const sum = new Float64Array(width);
  for (let sample = 0; sample < options.samples; sample += 1) {
    sum.fill(0);
    for (let draw = 0; draw < blocks.length; draw += 1) {
      const from = Math.floor(random() * blocks.length) * width;
      for (let i = 0; i < width; i += 1) sum[i] = (sum[i] as number) + (flat[from + i] as number);
    }
    const value = statistic(sum);
    if (value !== null) values.push(value);
  }
  if (values.length < Math.max(1, options.samples / 2)) return null;
  values.sort((a, b) => a - b);
  const tail = (1 - options.level) / 2;
  return { low: quantile(values, tail), high: quantile(values, 1 - tail), level: options.level };
}

const MOST_BLOCKS = 1000;

/** Beyond some number more blocks no longer change the interval, only the time: neighbouring sentences are then drawn together. */
function joinNeighbours(blocks: readonly Float64Array[]): readonly Float64Array[] {
  if (blocks.length <= MOST_BLOCKS) return blocks;
  const size = Math.ceil(blocks.length / MOST_BLOCKS);
  const joined: Float64Array[] = [];
  for (const [at, block] of blocks.entries()) {
    const open = joined.at(-1);
    if (at % size === 0 || !open) joined.push(Float64Array.from(block));
    else for (let i = 0; i < block.length; i += 1) open[i] = (open[i] ?? 0) + (block[i] ?? 0);
  }
  return joined;
}

/** Linear interpolation between order statistics (type 7 of Hyndman and Fan). */
export function quantile(sorted: readonly number[], share: number): number {
  const at = (sorted.length - 1) * share;
  const below = sorted[Math.floor(at)] ?? Number.NaN;
  const above = sorted[Math.ceil(at)] ?? below;
  return below + (above - below) * (at - Math.floor(at));
}

/** Mulberry32: the same seed gives the same report on every machine. Uniform in [0, 1). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

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

const ONE_VALUE = 'All coders coded every unit the same way, so agreement beyond chance is undefined.';
const NOTHING = 'No unit was coded by all of these coders.';

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

/** Krippendorff's alpha (nominal) over all raters; raters who did not judge a unit are left out of it. */
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

import type { Code, Coding } from '../project/types.ts';

type Named = Pick<Code, 'id' | 'name'>;
type Placed = Pick<Coding, 'codeId' | 'sourceId' | 'start' | 'end'>;

export interface CodePair {
  readonly a: number;
  readonly b: number;
  /** 0 to 1. */
  readonly similarity: number;
}

interface Theme {
  readonly name: string;
  readonly codes: readonly Named[];
  readonly rationale: string;
}

/** Codes that are together less than this have little to do with each other. */
const LEAST_TOGETHER = 0.12;
const MOST_IN_THEME = 7;
const OVERLAP_WEIGHT = 0.6;
const LONGEST_NAME = 120;

/**
 * Groups codes by how often they are used on the same text and how alike the words of their segments are: average
 * linkage, as in cluster analysis of codebooks, stopped where groups no longer belong together.
 */
export function proposeThemes(
  codes: readonly Named[],
  codings: readonly Placed[],
  similar: readonly CodePair[],
): { readonly themes: readonly Theme[]; readonly ungrouped: number } {
  const shared = sharedUse(codings);
  const uses = new Map<number, number>();
  for (const { codeId } of codings) uses.set(codeId, (uses.get(codeId) ?? 0) + 1);
  const likeness = new Map(similar.map((pair) => [key(pair.a, pair.b), pair.similarity]));
  const together = (a: number, b: number): number => {
    const common = shared.get(key(a, b)) ?? 0;
    const fewest = Math.min(uses.get(a) ?? 0, uses.get(b) ?? 0);
    const overlap = fewest === 0 ? 0 : Math.min(1, common / fewest);
    return OVERLAP_WEIGHT * overlap + (1 - OVERLAP_WEIGHT) * (likeness.get(key(a, b)) ?? 0);
  };
  let groups: Named[][] = codes.map((code) => [code]);
  for (;;) {
    const best = closest(groups, together);
    if (!best) break;
    const [left, right] = best;
    groups = [...groups.filter((group) => group !== left && group !== right), [...left, ...right]];
  }
  const used = (group: readonly Named[]) => group.reduce((sum, code) => sum + (uses.get(code.id) ?? 0), 0);
  const themes = groups
    .filter((group) => group.length > 1)
    .sort((a, b) => used(b) - used(a) || firstId(a) - firstId(b))
    .map((group) => describe(group, uses, shared));
  return { themes, ungrouped: groups.filter((group) => group.length === 1).length };
}

const firstId = (group: readonly Named[]): number => Math.min(...group.map(({ id }) => id));

function closest(
  groups: readonly Named[][],
  together: (a: number, b: number) => number,
): readonly [Named[], Named[]] | undefined {
  let best: readonly [Named[], Named[]] | undefined;
  let bestScore = LEAST_TOGETHER;
  for (const [at, left] of groups.entries()) {
    for (const right of groups.slice(at + 1)) {
      if (left.length + right.length > MOST_IN_THEME) continue;
      let total = 0;
      for (const a of left) for (const b of right) total += together(a.id, b.id);
      const score = total / (left.length * right.length);
      if (score >= bestScore) [best, bestScore] = [[left, right], score];
    }
  }
  return best;
}

/** The most used code gives the theme its name; the researcher words it. */
function describe(
  group: readonly Named[],
  uses: ReadonlyMap<number, number>,
  shared: ReadonlyMap<string, number>,
): Theme {
  const codes = [...group].sort((a, b) => (uses.get(b.id) ?? 0) - (uses.get(a.id) ?? 0));
  const [first, second] = codes;
  const name = `${first?.name ?? ''} and ${codes.length === 2 ? (second?.name ?? '') : 'related'}`;
  const pairs = codes.flatMap((a, at) =>
    codes.slice(at + 1).map((b) => ({ a, b, count: shared.get(key(a.id, b.id)) ?? 0 })),
  );
  const [strongest] = pairs.filter(({ count }) => count > 0).sort((x, y) => y.count - x.count);
  const why = strongest
    ? `“${strongest.a.name}” and “${strongest.b.name}” overlap in ${strongest.count} place${strongest.count === 1 ? '' : 's'}`
    : 'their segments use the same words';
  const total = codes.reduce((sum, code) => sum + (uses.get(code.id) ?? 0), 0);
  return {
    name: [...name].slice(0, LONGEST_NAME).join(''),
    codes,
    rationale: `${codes.length} codes with ${total} segments; ${why}.`,
  };
}

/** How often two codes cover some of the same text. */
function sharedUse(codings: readonly Placed[]): ReadonlyMap<string, number> {
  const shared = new Map<string, number>();
  const sorted = [...codings].sort((a, b) => a.sourceId - b.sourceId || a.start - b.start);
  for (const [at, coding] of sorted.entries()) {
    for (let next = at + 1; next < sorted.length; next += 1) {
      const other = sorted[next];
      if (!other || other.sourceId !== coding.sourceId || other.start >= coding.end) break;
      if (other.codeId === coding.codeId) continue;
      const pair = key(coding.codeId, other.codeId);
      shared.set(pair, (shared.get(pair) ?? 0) + 1);
    }
  }
  return shared;
}

const key = (a: number, b: number): string => (a < b ? `${a} ${b}` : `${b} ${a}`);

import type { AppliedCode, NamedItem } from './frequencies.ts';

/** How two segments of one source lie to each other: QualCoder's E, I, O and P. */
type Relation = 'exact' | 'inclusion' | 'overlap' | 'proximity';

export interface CoOccurrence {
  readonly first: NamedItem;
  readonly second: NamedItem;
  readonly exact: number;
  readonly inclusion: number;
  readonly overlap: number;
  /** Pairs that do not touch but lie within the given distance. */
  readonly proximity: number;
  /** Pairs that share text. */
  readonly together: number;
  /** together / (segments of the first + segments of the second - together), never above 1. */
  readonly coefficient: number;
}

export interface CoOccurrenceOptions {
  /** Largest gap in characters that still counts as near; 0 leaves proximity out. */
  readonly proximity?: number;
}

/** Which codes meet: every pair of segments of two different codes that share text, or lie near each other. */
export function coOccurrences(
  codes: readonly NamedItem[],
  codings: readonly AppliedCode[],
  options: CoOccurrenceOptions = {},
): CoOccurrence[] {
  const reach = options.proximity ?? 0;
  const place = new Map(codes.map(({ id }, at) => [id, at]));
  const segments = new Array<number>(codes.length).fill(0);
  const counts = new Map<string, Record<Relation, number>>();
  const sorted = codings
    .filter(({ codeId, start, end }) => place.has(codeId) && end > start)
    .sort((a, b) => a.sourceId - b.sourceId || a.start - b.start || a.end - b.end);
  for (const [i, one] of sorted.entries()) {
    const at = place.get(one.codeId) ?? 0;
    segments[at] = (segments[at] ?? 0) + 1;
    for (let j = i + 1; j < sorted.length; j += 1) {
      const other = sorted[j];
      if (!other || other.sourceId !== one.sourceId || other.start >= one.end + Math.max(reach, 1)) break;
      const relation = relate(one, other, reach);
      if (!relation || other.codeId === one.codeId) continue;
      const pair = [at, place.get(other.codeId) ?? 0].sort((a, b) => a - b).join(' ');
      const found = counts.get(pair) ?? { exact: 0, inclusion: 0, overlap: 0, proximity: 0 };
      found[relation] += 1;
      counts.set(pair, found);
    }
  }
  return [...counts].map(([pair, found]) => describe(pair, found, codes, segments)).sort(byWeight);
}

function relate(one: AppliedCode, other: AppliedCode, reach: number): Relation | undefined {
  if (one.start === other.start && one.end === other.end) return 'exact';
  if (other.start < one.end) {
    const included = other.end <= one.end || one.start === other.start;
    return included ? 'inclusion' : 'overlap';
  }
  return reach > 0 && other.start - one.end < reach ? 'proximity' : undefined;
}

function describe(
  pair: string,
  found: Record<Relation, number>,
  codes: readonly NamedItem[],
  segments: readonly number[],
): CoOccurrence {
  const [a = 0, b = 0] = pair.split(' ').map(Number);
  const together = found.exact + found.inclusion + found.overlap;
  const either = (segments[a] ?? 0) + (segments[b] ?? 0) - together;
  return {
    first: codes[a] ?? { id: -1, name: '' },
    second: codes[b] ?? { id: -1, name: '' },
    ...found,
    together,
    // A long segment can meet many short ones, so that there are more meetings than segments.
    coefficient: either > 0 ? Math.min(1, together / either) : together > 0 ? 1 : 0,
  };
}

const byWeight = (a: CoOccurrence, b: CoOccurrence): number =>
  b.together - a.together ||
  b.proximity - a.proximity ||
  a.first.id - b.first.id ||
  a.second.id - b.second.id;

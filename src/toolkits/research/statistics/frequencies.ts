import { lookup, put } from '../../../lib/lookup.ts';

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Joins overlapping and touching spans; empty and reversed ones go. */
export function union(spans: Iterable<Span>): Span[] {
  const sorted = [...spans].filter((span) => span.end > span.start).sort((a, b) => a.start - b.start);
  const joined: { start: number; end: number }[] = [];
  for (const { start, end } of sorted) {
    const last = joined.at(-1);
    if (last && start <= last.end) last.end = Math.max(last.end, end);
    else joined.push({ start, end });
  }
  return joined;
}

const overlap = (a: Span, b: Span): number =>
  Math.max(0, Math.min(a.end, b.end) - Math.max(a.start, b.start));

/** How much of `within` a sorted union covers. */
export function covered(joined: readonly Span[], within: Span): number {
  let sum = 0;
  for (let i = firstEndingAfter(joined, within.start); i < joined.length; i += 1) {
    const span = joined[i];
    if (!span || span.start >= within.end) break;
    sum += overlap(span, within);
  }
  return sum;
}

function firstEndingAfter(joined: readonly Span[], position: number): number {
  let low = 0;
  let high = joined.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((joined[middle]?.end ?? 0) > position) high = middle;
    else low = middle + 1;
  }
  return low;
}

export interface AppliedCode extends Span {
  readonly codeId: number;
  readonly sourceId: number;
  readonly owner: string;
}

export type NamedItem = {
  readonly id: number;
  readonly name: string;
};

export interface CodeFrequency {
  readonly code: NamedItem;
  readonly segments: number;
  readonly sources: number;
  /** Characters under the code, overlaps counted once. */
  readonly characters: number;
  /** Share of all segments, 0 to 1. */
  readonly share: number;
  readonly byCoder: Readonly<Record<string, number>>;
}

/** How often and how widely each code is used; codes that were never used are listed with zeros. */
export function codeFrequencies(
  codes: readonly NamedItem[],
  codings: readonly AppliedCode[],
): CodeFrequency[] {
  const byCode = new Map<number, AppliedCode[]>(codes.map(({ id }) => [id, []]));
  for (const coding of codings) byCode.get(coding.codeId)?.push(coding);
  return codes.map(({ id, name }) => {
    const own = byCode.get(id) ?? [];
    const byCoder: Record<string, number> = {};
    for (const { owner } of own) put(byCoder, owner, (lookup(byCoder, owner) ?? 0) + 1);
    const bySource = new Map<number, Span[]>();
    for (const coding of own)
      bySource.set(coding.sourceId, [...(bySource.get(coding.sourceId) ?? []), coding]);
    return {
      code: { id, name },
      segments: own.length,
      sources: bySource.size,
      characters: [...bySource.values()].reduce((sum, spans) => sum + size(spans), 0),
      share: codings.length ? own.length / codings.length : 0,
      byCoder,
    };
  });
}

const size = (spans: readonly Span[]): number =>
  union(spans).reduce((sum, { start, end }) => sum + end - start, 0);

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

export interface CaseSpan extends Span {
  readonly caseId: number;
  readonly sourceId: number;
}

export interface CaseMatrix {
  readonly codes: readonly NamedItem[];
  readonly cases: readonly NamedItem[];
  /** `segments[code][case]`: segments that lie in the case's text, wholly or in part. */
  readonly segments: readonly (readonly number[])[];
  /** `characters[code][case]`: coded characters within the case's text. */
  readonly characters: readonly (readonly number[])[];
}

/** Code × case: how often each code was applied to what each case said. */
export function caseMatrix(
  codes: readonly NamedItem[],
  cases: readonly NamedItem[],
  codings: readonly AppliedCode[],
  caseSpans: readonly CaseSpan[],
): CaseMatrix {
  const spansOf = new Map<string, Span[]>();
  for (const span of caseSpans) {
    const key = `${span.caseId} ${span.sourceId}`;
    spansOf.set(key, [...(spansOf.get(key) ?? []), span]);
  }
  for (const [key, spans] of spansOf) spansOf.set(key, union(spans));
  const cells = codes.map(({ id: codeId }) => {
    const own = codings.filter((coding) => coding.codeId === codeId);
    return cases.map(({ id: caseId }) => cell(own, (sourceId) => spansOf.get(`${caseId} ${sourceId}`)));
  });
  return {
    codes,
    cases,
    segments: cells.map((row) => row.map((value) => value.segments)),
    characters: cells.map((row) => row.map((value) => value.characters)),
  };
}

function cell(own: readonly AppliedCode[], spansIn: (sourceId: number) => Span[] | undefined) {
  let segments = 0;
  const touched = new Map<number, Span[]>();
  for (const coding of own) {
    const spans = spansIn(coding.sourceId);
    if (!spans || covered(spans, coding) === 0) continue;
    segments += 1;
    touched.set(coding.sourceId, [...(touched.get(coding.sourceId) ?? []), coding]);
  }
  let characters = 0;
  for (const [sourceId, coded] of touched) {
    const joined = union(coded);
    for (const span of spansIn(sourceId) ?? []) characters += covered(joined, span);
  }
  return { segments, characters };
}

import type { Coding } from '../project/types.ts';

type Placed = Pick<Coding, 'id' | 'codeId' | 'sourceId' | 'start' | 'end'>;

export interface Passage {
  readonly sourceId: number;
  readonly start: number;
  readonly end: number;
  readonly codeIds: readonly number[];
  readonly segmentIds: readonly number[];
}

export interface PassageQuery {
  readonly allOf: readonly number[];
  readonly anyOf: readonly number[];
  readonly noneOf: readonly number[];
  readonly relation: 'overlap' | 'same_source';
}

/** Passages that fulfil a query, in the order of sources and text, each once. */
export function findPassages(codings: readonly Placed[], query: PassageQuery): Passage[] {
  const bySource = new Map<number, Placed[]>();
  for (const coding of codings)
    bySource.set(coding.sourceId, [...(bySource.get(coding.sourceId) ?? []), coding]);
  const found = [...bySource.values()].flatMap((own) =>
    query.relation === 'overlap' ? overlapping(own, query) : inSameSource(own, query),
  );
  const unique = new Map(
    found.map((item) => [`${item.sourceId} ${item.start} ${item.end} ${item.codeIds}`, item]),
  );
  return [...unique.values()].sort((a, b) => a.sourceId - b.sourceId || a.start - b.start || a.end - b.end);
}

const overlap = (a: Pick<Placed, 'start' | 'end'>, b: Pick<Placed, 'start' | 'end'>) =>
  a.start < b.end && b.start < a.end;

function overlapping(own: readonly Placed[], { allOf, anyOf, noneOf }: PassageQuery): Passage[] {
  const of = (code: number) => own.filter(({ codeId }) => codeId === code);
  const asPassage = (coding: Placed): Passage => ({
    ...pick(coding),
    codeIds: [coding.codeId],
    segmentIds: [coding.id],
  });
  const [first, ...rest] = allOf;
  let passages: Passage[] =
    first === undefined
      ? own.filter(({ codeId }) => anyOf.includes(codeId)).map(asPassage)
      : of(first).map(asPassage);
  for (const code of rest)
    passages = passages.flatMap((passage) =>
      of(code)
        .filter((coding) => overlap(passage, coding))
        .map((coding) => meet(passage, coding)),
    );
  if (first !== undefined && anyOf.length > 0) {
    const others = own.filter(({ codeId }) => anyOf.includes(codeId));
    passages = passages.filter((passage) => others.some((coding) => overlap(passage, coding)));
  }
  const excluded = own.filter(({ codeId }) => noneOf.includes(codeId));
  return passages.filter((passage) => !excluded.some((coding) => overlap(passage, coding)));
}

function inSameSource(own: readonly Placed[], { allOf, anyOf, noneOf }: PassageQuery): Passage[] {
  const codes = new Set(own.map(({ codeId }) => codeId));
  if (!allOf.every((code) => codes.has(code)) || noneOf.some((code) => codes.has(code))) return [];
  if (anyOf.length > 0 && !anyOf.some((code) => codes.has(code))) return [];
  return own
    .filter(({ codeId }) => allOf.includes(codeId) || anyOf.includes(codeId))
    .map((coding) => ({ ...pick(coding), codeIds: [coding.codeId], segmentIds: [coding.id] }));
}

const pick = ({ sourceId, start, end }: Placed) => ({ sourceId, start, end });

/** The text that both cover. */
const meet = (passage: Passage, coding: Placed): Passage => ({
  sourceId: passage.sourceId,
  start: Math.max(passage.start, coding.start),
  end: Math.min(passage.end, coding.end),
  codeIds: [...passage.codeIds, coding.codeId],
  segmentIds: [...passage.segmentIds, coding.id],
});

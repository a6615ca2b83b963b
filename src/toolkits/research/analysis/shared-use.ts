import { covered, type Span, union } from '../statistics/frequencies.ts';

export interface SharedUse {
  /** Segments of both codes on exactly the same text. */
  readonly sameSegments: number;
  /** Characters under both codes, as a share of those under either: 0 to 1. */
  readonly overlap: number;
  /** Sources in which both are used. */
  readonly sources: number;
}

type Use = Span & { readonly sourceId: number };

/** How far two codes are used on the same text: a coder who always applies both may have one code twice. */
export function sharedUse(a: readonly Use[], b: readonly Use[]): SharedUse {
  const exact = new Set(b.map(({ sourceId, start, end }) => `${sourceId} ${start} ${end}`));
  const bySource = (uses: readonly Use[]) => {
    const found = new Map<number, Use[]>();
    for (const use of uses) found.set(use.sourceId, [...(found.get(use.sourceId) ?? []), use]);
    return found;
  };
  const [inA, inB] = [bySource(a), bySource(b)];
  let both = 0;
  let either = 0;
  for (const sourceId of new Set([...inA.keys(), ...inB.keys()])) {
    const [spansA, spansB] = [union(inA.get(sourceId) ?? []), union(inB.get(sourceId) ?? [])];
    both += spansA.reduce((sum, span) => sum + covered(spansB, span), 0);
    either += union([...spansA, ...spansB]).reduce((sum, { start, end }) => sum + end - start, 0);
  }
  return {
    sameSegments: a.filter(({ sourceId, start, end }) => exact.has(`${sourceId} ${start} ${end}`)).length,
    overlap: either ? both / either : 0,
    sources: [...inA.keys()].filter((id) => inB.has(id)).length,
  };
}

import { type Span, union } from './spans.ts';

export interface AppliedCode extends Span {
  readonly codeId: number;
  readonly sourceId: number;
  readonly owner: string;
}

export interface NamedItem {
  readonly id: number;
  readonly name: string;
}

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
    for (const { owner } of own) byCoder[owner] = (byCoder[owner] ?? 0) + 1;
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

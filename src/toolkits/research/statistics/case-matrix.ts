import type { AppliedCode, NamedItem } from './frequencies.ts';
import { covered, type Span, union } from './spans.ts';

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

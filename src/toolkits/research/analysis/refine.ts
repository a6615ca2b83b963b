import type { CodeSuggestion, Suggestions } from './suggest.ts';

/** A language model that may look over suggestions. It sees only what is handed to it here. */
export interface SuggestionRefiner {
  /** Provider and model, as the record names it. */
  readonly name: string;
  refine(
    request: {
      readonly codes: readonly { readonly id: number; readonly name: string; readonly memo: string }[];
      readonly suggestions: readonly {
        readonly index: number;
        readonly codeId: number;
        readonly text: string;
        readonly confidence: number;
      }[];
    },
    signal?: AbortSignal,
  ): Promise<readonly Opinion[]>;
}

export interface Opinion {
  readonly index: number;
  /** False: the code does not fit. */
  readonly fits: boolean;
  readonly confidence: number;
  readonly reason: string;
}

/** Lets a model weigh in. What it said is named in each rationale and in the provenance; where it fails, the local result stands. */
export async function refineSuggestions(
  found: Suggestions,
  codes: readonly { readonly id: number; readonly name: string; readonly memo: string }[],
  refiner: SuggestionRefiner,
  minConfidence: number,
  signal?: AbortSignal,
): Promise<Suggestions> {
  if (found.suggestions.length === 0) return found;
  const used = new Set(found.suggestions.map(({ codeId }) => codeId));
  let opinions: readonly Opinion[];
  try {
    const suggestions = found.suggestions.map(({ codeId, text, confidence }, index) => ({
      index,
      codeId,
      text,
      confidence,
    }));
    opinions = await refiner.refine({ codes: codes.filter(({ id }) => used.has(id)), suggestions }, signal);
  } catch (error) {
    signal?.throwIfAborted();
    const note = `${refiner.name} was asked and failed (${error instanceof Error ? error.message : String(error)}); these are the local suggestions.`;
    return { ...found, provenance: { ...found.provenance, note } };
  }
  const byIndex = new Map(opinions.map((opinion) => [opinion.index, opinion]));
  const suggestions = found.suggestions.flatMap((suggestion, index) =>
    apply(suggestion, byIndex.get(index), refiner.name),
  );
  return {
    ...found,
    suggestions: suggestions.filter(({ confidence }) => confidence >= minConfidence),
    provenance: { ...found.provenance, refinedBy: refiner.name },
  };
}

function apply(suggestion: CodeSuggestion, opinion: Opinion | undefined, name: string): CodeSuggestion[] {
  if (!opinion) return [suggestion];
  if (!opinion.fits) return [];
  const said = Math.min(98, Math.max(0, Math.round(opinion.confidence)));
  // Neither side is believed alone: the evidence in the text counts as much as the model's word.
  const confidence = Math.round((suggestion.confidence + said) / 2);
  const reason = opinion.reason.replace(/\s+/g, ' ').trim().slice(0, 300);
  return [{ ...suggestion, confidence, rationale: `${suggestion.rationale} ${name} (${said}): ${reason}` }];
}

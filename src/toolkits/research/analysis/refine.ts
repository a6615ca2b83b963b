import type { SuggestedCode } from '../suggest/protocol.ts';
import { withNote } from './provenance.ts';
import type { Suggestions } from './service.ts';

/** A code for which a model is asked, with what it needs to judge it. */
interface AskedCode {
  readonly id: number;
  readonly name: string;
  readonly memo: string;
  readonly examples: readonly { readonly sourceId: number; readonly text: string }[];
}

/** A language model that may look over suggestions. It sees only what is handed to it here. */
export interface SuggestionRefiner {
  /** Provider and model, as the audit log names it. */
  readonly name: string;
  /** Where the request goes. */
  readonly address: string;
  refine(
    request: {
      readonly codes: readonly AskedCode[];
      readonly suggestions: readonly {
        readonly index: number;
        readonly codeId: number;
        readonly text: string;
        readonly confidence: number;
      }[];
      /** Whether codes that the project does not have may be proposed. */
      readonly mayProposeCodes: boolean;
    },
    signal?: AbortSignal,
  ): Promise<{ readonly opinions: readonly Opinion[]; readonly newCodes: readonly NewCode[] }>;
}

export interface Opinion {
  readonly index: number;
  /** False: the code does not apply. */
  readonly fits: boolean;
  readonly confidence: number;
  readonly reason: string;
}

/** A code that the model misses; `quote` is in the passage. */
export interface NewCode {
  readonly name: string;
  readonly definition: string;
  readonly quote: string;
  readonly reason: string;
}

const MOST_NEW_CODES = 3;

/** Lets a model weigh in. What it said is named in each rationale and in the provenance; where it fails, the local result stands. */
export async function refineSuggestions(
  found: Suggestions,
  codes: readonly { readonly id: number; readonly name: string; readonly memo: string }[],
  refiner: SuggestionRefiner,
  {
    minConfidence,
    most,
    mayProposeCodes,
  }: { minConfidence: number; most?: number; mayProposeCodes: boolean },
  signal?: AbortSignal,
): Promise<Suggestions> {
  if (found.suggestions.length === 0) return found;
  const suggestions = found.suggestions.map(({ codeId, text, confidence }, index) => ({
    index,
    codeId,
    text,
    confidence,
  }));
  const asked = codesAsked(found.suggestions, codes);
  let reply: Awaited<ReturnType<SuggestionRefiner['refine']>>;
  try {
    reply = await refiner.refine({ codes: asked, suggestions, mayProposeCodes }, signal);
  } catch (error) {
    signal?.throwIfAborted();
    const note = `${refiner.name} at ${refiner.address} was asked and failed (${error instanceof Error ? error.message : String(error)}); these are the local suggestions.`;
    return {
      ...found,
      suggestions: found.suggestions.slice(0, most),
      provenance: withNote(found.provenance, note),
    };
  }
  const byIndex = new Map(reply.opinions.map((opinion) => [opinion.index, opinion]));
  const refined = found.suggestions
    .flatMap((suggestion, index) => apply(suggestion, byIndex.get(index), refiner.name))
    .filter(({ confidence }) => confidence >= minConfidence);
  // For a range the best come first; for a document the order is that of the text.
  if (most !== undefined) refined.sort((a, b) => b.confidence - a.confidence);
  const taken = new Set(codes.map(({ name }) => name.toLowerCase()));
  const newCodes = reply.newCodes
    .filter(({ name, quote }) => name.trim() && quote.trim() && !taken.has(name.trim().toLowerCase()))
    .slice(0, MOST_NEW_CODES);
  return {
    ...found,
    suggestions: refined.slice(0, most),
    provenance: {
      ...withNote(found.provenance, whatWasSent(refiner, asked, found.suggestions)),
      refinedBy: refiner.name,
    },
    ...(newCodes.length ? { newCodes } : {}),
  };
}

function codesAsked(
  suggestions: readonly SuggestedCode[],
  codes: readonly { readonly id: number; readonly name: string; readonly memo: string }[],
): AskedCode[] {
  const examples = new Map(suggestions.map((suggestion) => [suggestion.codeId, suggestion.examples ?? []]));
  return codes.flatMap(({ id, name, memo }) => {
    const own = examples.get(id);
    return own ? [{ id, name, memo, examples: own }] : [];
  });
}

function whatWasSent(
  { name, address }: SuggestionRefiner,
  codes: readonly AskedCode[],
  suggestions: readonly SuggestedCode[],
): string {
  const passages = new Set(suggestions.map(({ start, end }) => `${start} ${end}`)).size;
  const examples = codes.reduce((sum, code) => sum + code.examples.length, 0);
  const count = (number: number, what: string) => `${number} ${what}${number === 1 ? '' : 's'}`;
  return `Sent to ${name} at ${address}: ${count(passages, 'passage')}, ${count(codes.length, 'code')} with definitions and at most ${count(examples, 'example')}.`;
}

function apply(suggestion: SuggestedCode, opinion: Opinion | undefined, name: string): SuggestedCode[] {
  if (!opinion) return [suggestion];
  if (!opinion.fits) return [];
  const said = Math.min(98, Math.max(0, Math.round(opinion.confidence)));
  // Neither side is believed alone: the evidence in the text counts as much as the model's word.
  const confidence = Math.round((suggestion.confidence + said) / 2);
  const reason = opinion.reason.replace(/\s+/g, ' ').trim().slice(0, 300);
  return [{ ...suggestion, confidence, rationale: `${suggestion.rationale} ${name} (${said}): ${reason}` }];
}

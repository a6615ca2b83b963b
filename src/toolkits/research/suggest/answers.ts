import { uncodedText } from '../analysis/uncoded.ts';
import type { Place } from './content.ts';
import type { ReadDocument } from './document.ts';
import { explain } from './explain.ts';
import type { Reading, SuggestionModel } from './model.ts';
import {
  type Answers,
  type Basis,
  LEAST_FILED,
  type Question,
  type SuggestedCode,
  type SuggestedCodes,
} from './protocol.ts';
import type { Pause, StoredPassage } from './training.ts';
import { twinsOf } from './twins.ts';

/** Nothing is certain. */
const MOST_CERTAIN = 98;
/** Codes below this have nothing that speaks for them. */
const LEAST = 0.005;
const MOST_PER_PIECE = 3;
const EXAMPLES = 2;
const MOST_JOINED = 4;

/** Answers a question from the model of a project. */
export async function answer<K extends Question['kind']>(
  model: SuggestionModel,
  question: Extract<Question, { kind: K }>,
  context: { readonly codings: readonly Place[]; readonly rejected: readonly Place[] },
  pause: Pause,
): Promise<Answers[K]>;
export async function answer(
  model: SuggestionModel,
  question: Question,
  context: { readonly codings: readonly Place[]; readonly rejected: readonly Place[] },
  pause: Pause,
): Promise<Answers[keyof Answers]> {
  switch (question.kind) {
    case 'range':
      return forRange(model, question, context.rejected);
    case 'document':
      return forDocument(model, question, context, pause);
    case 'terms':
      return termsOfCode(model, question.codeId, question.most);
    case 'twins':
      return twinsOf(model);
    case 'body': {
      const document = model.document(question.sourceId);
      return { text: document ? model.bodyOf(document, question.range) : '' };
    }
    case 'texts':
      return { texts: model.textsToEmbed(), usesVectors: model.usesVectors };
    case 'vectors':
      model.takeVectors(vectorsByText(question));
      await model.learnVectors(pause);
      return { usesVectors: model.usesVectors };
    default:
      return question satisfies never;
  }
}

function forRange(
  model: SuggestionModel,
  { sourceId, range, most, vector }: Extract<Question, { kind: 'range' }>,
  rejected: readonly Place[],
): SuggestedCodes {
  const document = model.document(sourceId);
  if (!document) return { suggestions: [], basis: basisOf(model), rejectedBefore: 0 };
  if (vector) model.takeVectors(new Map([[model.bodyOf(document, range), vector]]));
  const reading = model.read(document, range);
  const refused = new Set(
    rejected
      .filter(
        (place) => place.sourceId === sourceId && place.start === range.start && place.end === range.end,
      )
      .map(({ codeId }) => codeId),
  );
  const likely = reading.ranked.filter(({ probability }) => probability >= LEAST);
  const open = likely.filter(({ code }) => !refused.has(model.codes[code]?.id ?? 0));
  return {
    suggestions: open.slice(0, most).map(({ code, probability }) => ({
      ...suggestion(model, document, reading, code, { ...range, probability }),
      examples: model.channels
        .nearest(reading.features, code, reading.without)
        .slice(0, EXAMPLES)
        .map(({ passage }) => passage as StoredPassage)
        .map(({ sourceId: from, body }) => ({ sourceId: from, text: body })),
    })),
    basis: { ...basisOf(model), usedVector: vector !== undefined && model.usesVectors },
    rejectedBefore: likely.length - open.length,
  };
}

interface Found {
  readonly at: number;
  readonly paragraph: number;
  readonly pieces: number;
  readonly start: number;
  readonly end: number;
  readonly code: number;
  readonly probability: number;
  readonly reading: Reading;
}

async function forDocument(
  model: SuggestionModel,
  { sourceId, minConfidence, most }: Extract<Question, { kind: 'document' }>,
  { codings, rejected }: { readonly codings: readonly Place[]; readonly rejected: readonly Place[] },
  pause: Pause,
): Promise<SuggestedCodes> {
  const document = model.document(sourceId);
  if (!document) return { suggestions: [], basis: basisOf(model), rejectedBefore: 0 };
  const own = codings.filter((coding) => coding.sourceId === sourceId);
  const { ranges } = uncodedText(document.text, own);
  const found: Found[] = [];
  for (const [at, { candidate, reading }] of (await model.scan(document, ranges, pause)).entries()) {
    const fitting = reading.ranked.filter(
      ({ probability }) => probability >= LEAST && toConfidence(probability) >= minConfidence,
    );
    for (const { code, probability } of fitting.slice(0, MOST_PER_PIECE))
      take(found, { ...candidate, at, pieces: 1, code, probability, reading });
  }
  const places = new Set(rejected.filter((place) => place.sourceId === sourceId).map(placeKey));
  const open = found.filter(
    ({ code, start, end }) => !places.has(placeKey({ codeId: model.codes[code]?.id ?? 0, start, end })),
  );
  // Explaining and handing over a hundred thousand suggestions would keep other calls waiting.
  const best = [...open].sort((a, b) => b.probability - a.probability).slice(0, most);
  best.sort((a, b) => a.start - b.start || b.probability - a.probability);
  const suggestions: SuggestedCode[] = [];
  for (const item of best) {
    suggestions.push(suggestion(model, document, item.reading, item.code, item));
    if (suggestions.length % 32 === 0) await pause();
  }
  return {
    suggestions,
    basis: basisOf(model),
    rejectedBefore: found.length - open.length,
    leftOut: likely(open) - likely(best),
  };
}

const likely = (found: readonly Found[]): number =>
  found.filter(({ probability }) => toConfidence(probability) >= LEAST_FILED).length;

/** Neighbouring pieces of a paragraph with the same code become one suggestion. */
function take(found: Found[], item: Found): void {
  const last = found.findLastIndex(({ code }) => code === item.code);
  const before = found[last];
  const joins =
    before && before.at === item.at - 1 && before.paragraph === item.paragraph && before.pieces < MOST_JOINED;
  if (!joins) {
    found.push(item);
    return;
  }
  const better = item.probability > before.probability ? item : before;
  found[last] = { ...better, start: before.start, end: item.end, at: item.at, pieces: before.pieces + 1 };
}

function suggestion(
  model: SuggestionModel,
  document: ReadDocument,
  reading: Reading,
  code: number,
  { start, end, probability }: { readonly start: number; readonly end: number; readonly probability: number },
): SuggestedCode {
  const { id = 0, name = '' } = model.codes[code] ?? {};
  return {
    codeId: id,
    codeName: name,
    confidence: toConfidence(probability),
    rationale: explain(model, reading, code),
    start,
    end,
    text: document.text.slice(start, end),
  };
}

function termsOfCode(model: SuggestionModel, codeId: number, most: number): Answers['terms'] {
  const code = model.codes.findIndex(({ id }) => id === codeId);
  if (code === -1) return { terms: [], passages: 0 };
  const terms = model.channels
    .strongest(code, most)
    .map(({ id, weight }) => ({ term: model.vocabulary.termOf(id), weight }));
  return { terms, passages: model.passagesOf(code).length };
}

const vectorsByText = ({ texts, vectors }: Extract<Question, { kind: 'vectors' }>) =>
  new Map(texts.flatMap((text, at) => (vectors[at] ? [[text, vectors[at]] as const] : [])));

const basisOf = (model: SuggestionModel): Basis => ({
  calibrated: model.calibrated,
  usedVector: false,
  ...model.learnedFrom,
});

const toConfidence = (probability: number): number => Math.min(MOST_CERTAIN, Math.round(100 * probability));

const placeKey = ({ codeId, start, end }: Omit<Place, 'sourceId'>): string => `${codeId} ${start} ${end}`;

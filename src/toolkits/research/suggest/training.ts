import type { Span } from '../statistics/frequencies.ts';
import { type Candidate, candidatesIn, isSame } from './candidates.ts';
import { Channels, type CodedPassage, Definitions, type ModelCode } from './channels.ts';
import type { GroupedPassage } from './content.ts';
import { type PassageText, type ReadDocument, readPassage } from './document.ts';
import type { PassageFeatures, Vocabulary } from './features.ts';
import type { Judged } from './stack.ts';

/** A passage in the model, with its place. */
export interface StoredPassage extends CodedPassage, Span {
  readonly sourceId: number;
  readonly body: string;
  readonly question: string;
}

/** Lets other requests in between two pieces of a long computation. */
export type Pause = () => Promise<void>;

const FOLDS = 5;
const MOST_CANDIDATES = 3_000;
/** Passages scored between two chances for other requests; a few milliseconds. */
const SLICE = 32;

/** The project without one fifth of its documents at a time: what a model would have known before they were coded. */
export class HeldOut {
  readonly #folds = new Map<number, number>();
  readonly #channels: readonly Channels[];

  constructor(
    passages: readonly StoredPassage[],
    codes: readonly ModelCode[],
    vocabulary: Vocabulary,
    vectors?: readonly (Float32Array | undefined)[],
  ) {
    const ids = [...new Set(passages.map(({ sourceId }) => sourceId))].sort((a, b) => a - b);
    for (const [at, id] of ids.entries()) this.#folds.set(id, at % FOLDS);
    const definitions = new Definitions(codes, vocabulary);
    this.#channels = Array.from(
      { length: Math.min(FOLDS, ids.length) },
      (_, fold) =>
        new Channels(
          codes,
          vocabulary,
          passages.filter(({ sourceId }) => this.#folds.get(sourceId) !== fold),
          vectors,
          definitions,
        ),
    );
  }

  score(sourceId: number, features: PassageFeatures) {
    return this.#channels[this.#folds.get(sourceId) ?? 0]?.score(features) ?? [];
  }
}

/** Every coded passage as if its document had not been coded, and what people rejected. */
export async function judgePassages(
  held: HeldOut,
  passages: readonly StoredPassage[],
  rejected: readonly StoredPassage[],
  pause: Pause,
): Promise<Judged[]> {
  const judged: Judged[] = [];
  for (const { sourceId, features, codes } of passages) {
    judged.push({ scores: held.score(sourceId, features), right: new Set(codes) });
    if (judged.length % SLICE === 0) await pause();
  }
  for (const { sourceId, features, codes } of rejected)
    judged.push({ scores: held.score(sourceId, features), right: new Set(), only: new Set(codes) });
  return judged;
}

/** The candidates of coded documents, those without a code included: most of a text deserves no code. */
export async function judgeCandidates(
  held: HeldOut,
  passages: readonly StoredPassage[],
  rejected: readonly StoredPassage[],
  documents: ReadonlyMap<number, ReadDocument>,
  weigh: (text: PassageText) => PassageFeatures,
  pause: Pause,
): Promise<Judged[]> {
  const bySource = new Map<number, StoredPassage[]>();
  for (const passage of passages)
    bySource.set(passage.sourceId, [...(bySource.get(passage.sourceId) ?? []), passage]);
  const places: { document: ReadDocument; candidate: Candidate; coded: readonly StoredPassage[] }[] = [];
  for (const [sourceId, coded] of bySource) {
    const document = documents.get(sourceId);
    if (!document) continue;
    // What follows the last coding may just not have been read yet.
    const start = Math.min(...coded.map((passage) => passage.start));
    const end = Math.max(...coded.map((passage) => passage.end));
    for (const candidate of candidatesIn(document, { start, end }))
      places.push({ document, candidate, coded });
    await pause();
  }
  const step = Math.max(1, places.length / MOST_CANDIDATES);
  const judged: Judged[] = [];
  for (let at = 0; at < places.length; at += step) {
    const place = places[Math.floor(at)];
    if (!place) continue;
    const { document, candidate, coded } = place;
    const features = weigh(readPassage(document, candidate));
    const right = new Set(
      coded.filter((passage) => isSame(passage, candidate)).flatMap(({ codes }) => codes),
    );
    judged.push({ scores: held.score(document.id, features), right });
    if (judged.length % SLICE === 0) await pause();
  }
  for (const { sourceId, features, codes } of rejected)
    judged.push({ scores: held.score(sourceId, features), right: new Set(), only: new Set(codes) });
  return judged;
}

export function storePassage(
  grouped: GroupedPassage,
  codes: readonly number[],
  document: ReadDocument,
  weigh: (text: PassageText) => PassageFeatures,
): StoredPassage {
  const text = readPassage(document, grouped);
  const { sourceId, start, end } = grouped;
  return { sourceId, start, end, codes, body: text.body, question: text.question, features: weigh(text) };
}

import type { Span } from '../statistics/frequencies.ts';
import { type Candidate, candidatesIn } from './candidates.ts';
import { CHANNELS, Channels, type CodedPassage, type ModelCode, type Scores } from './channels.ts';
import { coldConfidence, coldScores, isTooLittle } from './cold-start.ts';
import { type GroupedPassage, groupPlaces, modelCodes, type Place, type ProjectContent } from './content.ts';
import { type PassageText, type ReadDocument, readDocument, readPassage } from './document.ts';
import { type PassageFeatures, Vocabulary } from './features.ts';
import { crossLoss, lexicalOnly, Stack } from './stack.ts';
import {
  HeldOut,
  judgeCandidates,
  judgePassages,
  type Pause,
  type StoredPassage,
  storePassage,
} from './training.ts';

/** A code with what the model thinks of it at one place. */
export interface Ranked {
  readonly code: number;
  /** That a coder would agree; a cautious guess while `calibrated` is false. */
  readonly probability: number;
}

export interface Reading {
  readonly features: PassageFeatures;
  readonly body: string;
  readonly question: string;
  readonly scores: Scores;
  readonly ranked: readonly Ranked[];
  /** Codings of the place itself, which do not speak for it. */
  readonly without: ReadonlySet<CodedPassage>;
}

/** Changes after which the weights are learned again. */
const REFIT_AFTER = 20;
/** The model reads everything again once the coded passages have grown by this factor. */
const REREAD = 2;
/** Vectors must lower the loss on held-out documents by this factor; less is chance. */
const HELPS = 0.99;
/** Passages that make rarity of words known; while fewer are coded, uncoded text helps. */
const KNOWN_PASSAGES = 500;

/** What one project teaches about its codes. Codings are taken in one by one; weights are learned again from time to time. */
export class SuggestionModel {
  readonly #vocabulary = new Vocabulary();
  #content: ProjectContent;
  #codes: readonly ModelCode[] = [];
  readonly #documents = new Map<number, ReadDocument>();
  readonly #checked = new Set<number>();
  #passages = new Map<string, StoredPassage>();
  #byCode: readonly (readonly StoredPassage[])[] = [];
  #rejected: StoredPassage[] = [];
  #channels: Channels;
  #forRanges: Stack | undefined;
  #forDocuments: Stack | undefined;
  /** Only where vectors make the ranking of held-out passages better. */
  #withVectors: Stack | undefined;
  readonly #vectors = new Map<string, Float32Array>();
  #learnedFrom = { passages: 0, documents: 0 };
  #changes = 0;

  private constructor(content: ProjectContent) {
    this.#content = content;
    this.#channels = new Channels([], this.#vocabulary, []);
  }

  static async build(content: ProjectContent, pause: Pause): Promise<SuggestionModel> {
    const model = new SuggestionModel(content);
    model.#settleRarity();
    model.#take(content);
    await model.refit(pause);
    return model;
  }

  get codes(): readonly ModelCode[] {
    return this.#codes;
  }

  get channels(): Channels {
    return this.#channels;
  }

  get vocabulary(): Vocabulary {
    return this.#vocabulary;
  }

  /** True once there were enough codings to learn weights and to check them on held-out documents. */
  get calibrated(): boolean {
    return this.#forRanges !== undefined;
  }

  /** True where vectors of an embedding model are known and make suggestions better. */
  get usesVectors(): boolean {
    return this.#withVectors !== undefined;
  }

  /** What the weights were learned from. */
  get learnedFrom(): { readonly passages: number; readonly documents: number } {
    return this.#learnedFrom;
  }

  get needsRefit(): boolean {
    return this.#changes >= REFIT_AFTER || (!this.calibrated && this.#changes > 0);
  }

  document(sourceId: number): ReadDocument | undefined {
    const known = this.#documents.get(sourceId);
    // Comparing a long text takes as long as reading it, so it is done once per state of the project.
    if (known && this.#checked.has(sourceId)) return known;
    const source = this.#content.source(sourceId);
    if (!source) {
      this.#documents.delete(sourceId);
      return undefined;
    }
    this.#checked.add(sourceId);
    if (known && known.text.value === source.text.value && known.name === source.name) return known;
    const read = readDocument(sourceId, source.name, source.text);
    this.#documents.set(sourceId, read);
    return read;
  }

  passagesOf(code: number): readonly StoredPassage[] {
    return this.#byCode[code] ?? [];
  }

  /** Takes in what changed in the project since. The weights stay until `refit`. */
  update(content: ProjectContent): void {
    this.#content = content;
    this.#checked.clear();
    this.#take(content);
  }

  /** Every code for a passage, best first. Codings of the place itself do not count. */
  read(document: ReadDocument, range: Span): Reading {
    const { body, features, question } = this.#featuresOf(document, range);
    const own = [...this.#passages.values()].filter(
      (passage) => passage.sourceId === document.id && passage.start < range.end && passage.end > range.start,
    );
    const without = new Set(own);
    const scores = this.#channels.score(features, without);
    const stack = scores.length > CHANNELS.length ? (this.#withVectors ?? this.#forRanges) : this.#forRanges;
    return { features, body, question, scores, without, ranked: this.#rank(scores, stack) };
  }

  /** What an embedding model would have to read: the coded passages and the codes, without what it has read. */
  textsToEmbed(): string[] {
    const texts = [...this.#codes.map(textOfCode), ...[...this.#passages.values()].map(({ body }) => body)];
    return [...new Set(texts)].filter((text) => !this.#vectors.has(text));
  }

  bodyOf(document: ReadDocument, range: Span): string {
    return readPassage(document, range).body;
  }

  /** Vectors by the text they were made of. */
  takeVectors(vectors: ReadonlyMap<string, Float32Array>): void {
    for (const [text, vector] of vectors) this.#vectors.set(text, vector);
  }

  /** Checks on held-out documents whether the vectors taken so far help, and uses them only then. */
  async learnVectors(pause: Pause): Promise<void> {
    for (const [key, passage] of this.#passages) {
      const vector = this.#vectors.get(passage.body);
      if (vector) this.#passages.set(key, { ...passage, features: { ...passage.features, vector } });
    }
    this.#index();
    await this.refit(pause);
  }

  /** The pieces of some ranges with the codes that are likely enough for them. */
  async scan(
    document: ReadDocument,
    ranges: readonly Span[],
    pause: Pause,
  ): Promise<{ readonly candidate: Candidate; readonly reading: Reading }[]> {
    if (this.calibrated && !this.#forDocuments) await this.#fitDocuments(pause);
    // Learning again behind another call must not change the scale on the way.
    const stack = this.#forDocuments;
    const found: { candidate: Candidate; reading: Reading }[] = [];
    for (const range of ranges) {
      for (const candidate of candidatesIn(document, range)) {
        const { body, features, question } = this.#featuresOf(document, candidate);
        const scores = this.#channels.score(features);
        const ranked = this.#rank(scores, stack);
        found.push({ candidate, reading: { features, body, question, scores, ranked, without: NONE } });
        if (found.length % 32 === 0) await pause();
      }
    }
    return found;
  }

  contributions(scores: Scores, code: number): readonly number[] | undefined {
    return this.#forRanges?.contributions(scores, code);
  }

  async refit(pause: Pause): Promise<void> {
    if (this.#passages.size > REREAD * this.#learnedFrom.passages && this.#learnedFrom.passages > 0) {
      // What is rare among a few passages may be common among many.
      this.#settleRarity();
      this.#passages = new Map();
      this.#take(this.#content);
    }
    this.#changes = 0;
    this.#forDocuments = undefined;
    const passages = [...this.#passages.values()];
    const documents = new Set(passages.map(({ sourceId }) => sourceId)).size;
    const inUse = new Set(passages.flatMap(({ codes }) => codes)).size;
    this.#learnedFrom = { passages: passages.length, documents };
    if (this.#codes.length < 2 || isTooLittle(documents, passages.length, inUse)) {
      this.#forRanges = undefined;
      this.#withVectors = undefined;
      return;
    }
    const names = this.#nameVectors();
    const held = new HeldOut(passages, this.#codes, this.#vocabulary, names);
    const judged = await judgePassages(held, passages, this.#rejected, pause);
    const lexical = lexicalOnly(judged);
    this.#forRanges = Stack.fit(lexical);
    this.#withVectors = undefined;
    const isComplete = names && judged.every(({ scores }) => scores.length > CHANNELS.length);
    if (!isComplete) return;
    await pause();
    if (crossLoss(judged) < HELPS * crossLoss(lexical)) this.#withVectors = Stack.fit(judged);
  }

  #nameVectors(): (Float32Array | undefined)[] | undefined {
    if (this.#vectors.size === 0) return undefined;
    return this.#codes.map((code) => this.#vectors.get(textOfCode(code)));
  }

  #index(): void {
    const passages = [...this.#passages.values()];
    this.#channels = new Channels(this.#codes, this.#vocabulary, passages, this.#nameVectors());
    this.#byCode = this.#codes.map((_, code) => passages.filter((passage) => passage.codes.includes(code)));
  }

  async #fitDocuments(pause: Pause): Promise<void> {
    const passages = [...this.#passages.values()];
    const held = new HeldOut(passages, this.#codes, this.#vocabulary);
    const weigh = (text: PassageText) => this.#vocabulary.weigh(this.#vocabulary.read(text));
    const judged = await judgeCandidates(held, passages, this.#rejected, this.#documents, weigh, pause);
    this.#forDocuments = Stack.fit(lexicalOnly(judged));
  }

  #rank(scores: Scores, stack: Stack | undefined): Ranked[] {
    const order = stack?.probabilities(scores) ?? coldScores(scores, this.#channels.size);
    const codes = [...order.keys()].sort((a, b) => (order[b] ?? 0) - (order[a] ?? 0) || a - b);
    if (stack) return codes.map((code) => ({ code, probability: order[code] ?? 0 }));
    // The order knows more than the guess: no code may seem surer than one ranked above it.
    let ceiling = 1;
    return codes.map((code) => {
      const probability = Math.min(ceiling, coldConfidence(scores, order, code));
      if (probability > 0) ceiling = probability;
      return { code, probability };
    });
  }

  #featuresOf(document: ReadDocument, range: Span) {
    const text = readPassage(document, range);
    return { body: text.body, question: text.question, features: this.#weigh(text) };
  }

  #weigh(text: PassageText): PassageFeatures {
    return this.#vocabulary.weigh(this.#vocabulary.read(text), this.#vectors.get(text.body));
  }

  /** Rarity is settled once per model: coded passages first, uncoded text while there are few. */
  #settleRarity(): void {
    const { codes, codings, sourceIds } = this.#content;
    for (const { name } of codes) this.#vocabulary.countGrams(name);
    const counted = [...groupPlaces(codings).values()].flatMap((passage) => {
      const document = this.document(passage.sourceId);
      return document ? [this.#vocabulary.read(readPassage(document, passage))] : [];
    });
    for (const id of sourceIds) {
      if (counted.length >= KNOWN_PASSAGES) break;
      const document = this.document(id);
      if (!document) continue;
      const part = { start: 0, end: Math.min(document.text.length, 20_000) };
      for (const candidate of candidatesIn(document, part))
        counted.push(this.#vocabulary.read(readPassage(document, candidate)));
    }
    this.#vocabulary.settle(counted);
  }

  #take(content: ProjectContent): void {
    const before = this.#changes;
    const codes = modelCodes(content.codes);
    if (JSON.stringify(codes) !== JSON.stringify(this.#codes)) {
      this.#codes = codes;
      for (const { name } of codes) this.#vocabulary.countGrams(name);
      this.#passages = new Map();
      this.#changes += 1;
    }
    const numbers = new Map(codes.map(({ id }, at) => [id, at]));
    const wanted = groupPlaces(content.codings);
    for (const [key, passage] of this.#passages) {
      const next = wanted.get(key);
      const document = next && this.document(next.sourceId);
      const isSame = document && next && sameCodes(passage, next, numbers) && sameText(passage, document);
      if (isSame) continue;
      this.#passages.delete(key);
      this.#changes += 1;
    }
    for (const [key, grouped] of wanted) {
      if (this.#passages.has(key)) continue;
      const document = this.document(grouped.sourceId);
      const codesOf = grouped.codeIds.flatMap((id) => numbers.get(id) ?? []);
      if (!document || codesOf.length === 0) continue;
      const passage = storePassage(grouped, codesOf, document, (text) => this.#weigh(text));
      if (!/[\p{L}\p{N}]/u.test(passage.body)) continue;
      this.#passages.set(key, passage);
      this.#changes += 1;
    }
    if (this.#changes !== before) this.#index();
    this.#takeRejected(content.rejected, numbers);
  }

  #takeRejected(rejected: readonly Place[], numbers: ReadonlyMap<number, number>): void {
    const before = this.#rejected.length;
    this.#rejected = [...groupPlaces(rejected).values()].flatMap((grouped) => {
      const document = this.document(grouped.sourceId);
      const codesOf = grouped.codeIds.flatMap((id) => numbers.get(id) ?? []);
      if (!document || codesOf.length === 0 || grouped.end > document.text.length) return [];
      return [storePassage(grouped, codesOf, document, (text) => this.#weigh(text))];
    });
    this.#changes += Math.abs(this.#rejected.length - before);
  }
}

const textOfCode = ({ name, memo }: ModelCode): string => `${name}. ${memo.slice(0, 300)}`;

const NONE: ReadonlySet<CodedPassage> = new Set();

const sameCodes = (a: StoredPassage, b: GroupedPassage, numbers: ReadonlyMap<number, number>): boolean =>
  a.codes.join() === b.codeIds.flatMap((id) => numbers.get(id) ?? []).join();

const sameText = (passage: StoredPassage, document: ReadDocument): boolean =>
  passage.body === readPassage(document, passage).body;

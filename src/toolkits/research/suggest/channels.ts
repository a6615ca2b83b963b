import { Centroids, type Member, Neighbours } from './centroids.ts';
import { DenseCentroids } from './dense.ts';
import { type PassageFeatures, type Sparse, unit, type Vocabulary } from './features.ts';

/** A code as the model sees it; `theme` groups codes of one category or name prefix. */
export interface ModelCode {
  readonly id: number;
  readonly name: string;
  /** Only the part of the memo that may be shown. */
  readonly memo: string;
  readonly theme: number;
}

/** A coded passage; `codes` are indices into the list of codes. */
export interface CodedPassage {
  readonly features: PassageFeatures;
  readonly codes: readonly number[];
}

/** What can speak for a code, each with one number per code. The order is that of the scores. */
export const CHANNELS = [
  'words',
  'pairs',
  'nearest',
  'several',
  'name',
  'memo',
  'before',
  'question',
  'theme',
  'themeBefore',
  'place',
  'prior',
] as const;
export type Channel = (typeof CHANNELS)[number];

export type Scores = readonly Float64Array[];

const KERNEL = 0.05;
const PSEUDO_COUNTS = 3;
const SEVERAL = 5;

/** What names and memos say of codes, whatever is coded. */
export class Definitions {
  readonly names: Centroids;
  readonly memos: Centroids;

  constructor(codes: readonly ModelCode[], vocabulary: Vocabulary) {
    const names = codes.map(({ name }) => [...vocabulary.countGrams(name).keys()]);
    const memos = codes.map(({ name, memo }) => [...vocabulary.countWords(`${name}. ${memo}`).keys()]);
    const of = (terms: readonly (readonly number[])[]) =>
      new Centroids(
        codes.length,
        vocabulary.size,
        telling(terms, vocabulary).map((vector, cls) => ({ vector, cls })),
      );
    this.names = of(names);
    this.memos = of(memos);
  }
}

/** The evidence of coded passages for codes. */
export class Channels {
  readonly codes: readonly ModelCode[];
  readonly #passages: readonly CodedPassage[];
  readonly #counts: Float64Array;
  readonly #centroids: Record<Kind, Centroids>;
  readonly #themes: Record<'words' | 'before', Centroids>;
  readonly #definitions: Definitions;
  readonly #neighbours: Neighbours;
  readonly #dense: DenseCentroids | undefined;

  /** `vectors`: those of the codes' names, where an embedding model takes part. */
  constructor(
    codes: readonly ModelCode[],
    vocabulary: Vocabulary,
    passages: readonly CodedPassage[],
    vectors?: readonly (Float32Array | undefined)[],
    definitions = new Definitions(codes, vocabulary),
  ) {
    this.codes = codes;
    this.#passages = passages;
    this.#counts = new Float64Array(codes.length);
    for (const passage of passages)
      for (const code of passage.codes) this.#counts[code] = (this.#counts[code] ?? 0) + 1;
    const terms = vocabulary.size;
    const byCode = (kind: Kind) =>
      new Centroids(
        codes.length,
        terms,
        passages.flatMap((passage) => membersOf(passage, kind)),
      );
    const themes = 1 + Math.max(0, ...codes.map(({ theme }) => theme));
    const byTheme = (kind: Kind) =>
      new Centroids(
        themes,
        terms,
        passages.flatMap((passage) => this.#inThemes(passage, kind)),
      );
    this.#centroids = {
      words: byCode('words'),
      pairs: byCode('pairs'),
      before: byCode('before'),
      question: byCode('question'),
    };
    this.#themes = { words: byTheme('words'), before: byTheme('before') };
    this.#definitions = definitions;
    this.#neighbours = new Neighbours(
      terms,
      passages.map(({ features }) => features.words),
    );
    const size = vectors?.find((vector) => vector !== undefined)?.length;
    this.#dense = vectors && size ? new DenseCentroids(codes.length, passages, vectors, size) : undefined;
  }

  get size(): number {
    return this.#passages.length;
  }

  /** One number per channel and code, as if the passages in `without` had not been coded. */
  score(features: PassageFeatures, without: ReadonlySet<CodedPassage> = NONE): Scores {
    const { words, pairs, before, question } = this.#centroids;
    const own = (kind: Kind) => [...without].flatMap((passage) => membersOf(passage, kind));
    const inThemes = (kind: Kind) => [...without].flatMap((passage) => this.#inThemes(passage, kind));
    const counts = Float64Array.from(this.#counts);
    for (const { codes } of without) for (const code of codes) counts[code] = (counts[code] ?? 0) - 1;
    const themes = this.#themes.words.cosines(features.words, inThemes('words'));
    const themesBefore = this.#themes.before.cosines(features.before, inThemes('before'));
    return [
      words.cosines(features.words, own('words')),
      pairs.cosines(features.pairs, own('pairs')),
      ...this.#near(features, without),
      this.#definitions.names.cosines(features.grams),
      this.#definitions.memos.cosines(features.words),
      before.cosines(features.before, own('before')),
      question.cosines(features.question, own('question')),
      Float64Array.from(this.codes, ({ theme }) => themes[theme] ?? 0),
      Float64Array.from(this.codes, ({ theme }) => themesBefore[theme] ?? 0),
      this.#places(features.place, counts, without),
      counts.map((count) => Math.log(count + 0.5)),
      ...(this.#dense && features.vector ? this.#dense.cosines(features.vector, without) : []),
    ];
  }

  /** The passages of a code nearest in words, best first. */
  nearest(
    features: PassageFeatures,
    code: number,
    without: ReadonlySet<CodedPassage>,
  ): { readonly passage: CodedPassage; readonly similarity: number }[] {
    const found: { passage: CodedPassage; similarity: number }[] = [];
    for (const [number, similarity] of this.#neighbours.cosines(features.words).entries()) {
      const passage = this.#passages[number];
      if (passage && similarity > 0 && passage.codes.includes(code) && !without.has(passage))
        found.push({ passage, similarity });
    }
    return found.sort((a, b) => b.similarity - a.similarity);
  }

  /** Words of a passage that speak for a code, strongest first: by its coded passages, or by its name and memo. */
  telling(kind: 'words' | 'memo', features: PassageFeatures, code: number) {
    const centroids = kind === 'words' ? this.#centroids.words : this.#definitions.memos;
    return centroids.shares(features.words, code);
  }

  /** Words that stand for a code in a search. */
  strongest(code: number, most: number): { readonly id: number; readonly weight: number }[] {
    return this.#centroids.words.strongest(code, most);
  }

  #inThemes({ features, codes }: CodedPassage, kind: Kind): Member[] {
    const themes = new Set(codes.map((code) => this.codes[code]?.theme ?? 0));
    return [...themes].map((cls) => ({ vector: features[kind], cls }));
  }

  /** Highest similarity with one passage of each code, and the mean of the highest few. */
  #near(features: PassageFeatures, without: ReadonlySet<CodedPassage>): [Float64Array, Float64Array] {
    const size = this.codes.length;
    const best = new Float64Array(size * SEVERAL);
    const near = this.#neighbours.cosines(features.words);
    for (let number = 0; number < near.length; number += 1) {
      const similarity = near[number] ?? 0;
      const passage = similarity > 0 ? this.#passages[number] : undefined;
      if (!passage || without.has(passage)) continue;
      for (const code of passage.codes) insert(best, code * SEVERAL, similarity);
    }
    const several = new Float64Array(size);
    const nearest = several.map((_, code) => best[code * SEVERAL] ?? 0);
    for (let at = 0; at < best.length; at += 1) {
      const code = Math.floor(at / SEVERAL);
      several[code] = (several[code] ?? 0) + (best[at] ?? 0) / SEVERAL;
    }
    return [nearest, several];
  }

  /** How much more often a code is given around this place of a document than elsewhere, as a logarithm. */
  #places(place: number, counts: Float64Array, without: ReadonlySet<CodedPassage>): Float64Array {
    const near = new Float64Array(this.codes.length);
    let all = 0;
    for (const passage of this.#passages) {
      const distance = (place - passage.features.place) / KERNEL;
      if (Math.abs(distance) > 4 || without.has(passage)) continue;
      const weight = Math.exp(-0.5 * distance * distance);
      all += weight;
      for (const code of passage.codes) near[code] = (near[code] ?? 0) + weight;
    }
    const total = Math.max(1, this.#passages.length - without.size);
    return near.map((weight, code) => {
      const prior = (counts[code] ?? 0) / total;
      if (prior <= 0) return 0;
      return Math.log((weight + PSEUDO_COUNTS * prior) / (all + PSEUDO_COUNTS) / prior);
    });
  }
}

const NONE: ReadonlySet<CodedPassage> = new Set();

type Kind = 'words' | 'pairs' | 'before' | 'question';

const membersOf = ({ features, codes }: CodedPassage, kind: Kind): Member[] =>
  codes.map((cls) => ({ vector: features[kind], cls }));

/** Keeps the largest values of one code in falling order. */
function insert(best: Float64Array, from: number, value: number): void {
  let at = from + SEVERAL - 1;
  if (value <= (best[at] ?? 0)) return;
  for (; at > from && (best[at - 1] ?? 0) < value; at -= 1) best[at] = best[at - 1] ?? 0;
  best[at] = value;
}

/** Vectors of names or memos. A term of many codes separates them less than one of its own. */
function telling(terms: readonly (readonly number[])[], vocabulary: Vocabulary): Sparse[] {
  const use = new Map<number, number>();
  for (const ids of terms) for (const id of ids) use.set(id, (use.get(id) ?? 0) + 1);
  return terms.map((ids) =>
    unit(
      Int32Array.from(ids),
      Float64Array.from(
        ids,
        (id) => Math.max(0, vocabulary.rarity(id)) * Math.log(1 + terms.length / (use.get(id) ?? 1)),
      ),
    ),
  );
}

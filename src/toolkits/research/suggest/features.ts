import type { PassageText } from './document.ts';
import { gramsOf, plainWords, termsOf } from './terms.ts';

/** A sparse vector of length one; `ids` are in no order and without repeats. */
export interface Sparse {
  readonly ids: Int32Array;
  readonly weights: Float64Array;
}

export interface PassageFeatures {
  readonly words: Sparse;
  readonly pairs: Sparse;
  /** Letter sequences that code names have: word families, compounds and misspelt words match too. */
  readonly grams: Sparse;
  readonly before: Sparse;
  readonly question: Sparse;
  readonly place: number;
  /** From an embedding model, where one is configured and has read the passage. */
  readonly vector?: Float32Array;
}

/** How often each term occurs in a text. */
type Counts = ReadonlyMap<number, number>;

/** A passage before the rarity of its terms is known. */
export interface CountedPassage {
  readonly words: Counts;
  readonly pairs: Counts;
  readonly grams: Counts;
  readonly before: Counts;
  readonly question: Counts;
  readonly place: number;
}

/** Among a handful of passages every word would seem common. */
const FEWEST = 100;

/** Stands for all letter sequences that no name has. */
const OTHERS = 0;

/** In about so many passages a letter sequence occurs. */
const TYPICAL = 10;

type Kind = 'word' | 'pair' | 'gram';

/** The letter sequences of a word that names have, and how many others it has. */
interface NamedGrams {
  readonly ids: readonly number[];
  readonly others: number;
}
const MOST_NAMED = 50_000;

/** Numbers the terms of a project and knows in how many passages each occurs. */
export class Vocabulary {
  readonly #ids: Record<Kind, Map<string, number>> = { word: new Map(), pair: new Map(), gram: new Map() };
  /** The first number is no term of its own. */
  readonly #texts: string[] = [''];
  /** By word, because words repeat. */
  readonly #named = new Map<string, NamedGrams>();
  #frequencies = new Int32Array(0);
  #passages = 0;

  get size(): number {
    return this.#texts.length;
  }

  read({ body, before, question, place }: PassageText): CountedPassage {
    const { words, pairs } = termsOf(body);
    return {
      words: this.#count('word', words),
      pairs: this.#count('pair', pairs),
      grams: this.#countNamed(plainWords(body)),
      before: this.#count('word', termsOf(before).words),
      question: this.#count('word', termsOf(question).words),
      place,
    };
  }

  /** Counts in how many of the passages each term occurs; what is weighed afterwards uses these counts. */
  settle(passages: readonly CountedPassage[]): void {
    this.#passages = Math.max(FEWEST, passages.length);
    this.#frequencies = new Int32Array(this.#texts.length);
    for (const { words, pairs, grams } of passages)
      for (const counts of [words, pairs, grams])
        for (const id of counts.keys()) this.#frequencies[id] = (this.#frequencies[id] ?? 0) + 1;
  }

  weigh(counted: CountedPassage, vector?: Float32Array): PassageFeatures {
    return {
      ...(vector ? { vector } : {}),
      words: this.#weigh(counted.words),
      pairs: this.#weigh(counted.pairs),
      grams: this.#weigh(counted.grams),
      before: this.#weigh(counted.before),
      question: this.#weigh(counted.question),
      place: counted.place,
    };
  }

  rarity(id: number): number {
    return Math.max(0, Math.log((this.#passages + 1) / ((this.#frequencies[id] ?? 0) + 0.5)));
  }

  termOf(id: number): string {
    return this.#texts[id] ?? '';
  }

  countWords(text: string): Counts {
    return this.#count('word', termsOf(text).words);
  }

  countGrams(text: string): Counts {
    return this.#count('gram', plainWords(text).flatMap(gramsOf));
  }

  #count(kind: Kind, terms: readonly string[]): Counts {
    const counts = new Map<number, number>();
    for (const term of terms) {
      const id = this.#idOf(kind, term);
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    return counts;
  }

  /** Only what occurs in names can match; the others are counted as one term, for the length of the vector. */
  #countNamed(words: readonly string[]): Counts {
    const counts = new Map<number, number>();
    let others = 0;
    for (const word of words) {
      const named = this.#namedIn(word);
      others += named.others;
      for (const id of named.ids) counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    if (others > 0) counts.set(OTHERS, others);
    return counts;
  }

  #namedIn(word: string): NamedGrams {
    const known = this.#named.get(word);
    if (known) return known;
    const grams = gramsOf(word);
    const ids = grams.flatMap((gram) => this.#ids.gram.get(gram) ?? []);
    const named = { ids, others: grams.length - ids.length };
    if (this.#named.size >= MOST_NAMED) this.#named.clear();
    this.#named.set(word, named);
    return named;
  }

  #idOf(kind: Kind, text: string): number {
    const known = this.#ids[kind].get(text);
    if (known !== undefined) return known;
    const id = this.#texts.length;
    // A new name can hold letter sequences that were in none before.
    if (kind === 'gram') this.#named.clear();
    this.#ids[kind].set(text, id);
    this.#texts.push(text);
    return id;
  }

  #weigh(counts: Counts): Sparse {
    const ids = new Int32Array(counts.size);
    const weights = new Float64Array(counts.size);
    let at = 0;
    for (const [id, count] of counts) {
      ids[at] = id;
      weights[at] = id === OTHERS ? 0 : (1 + Math.log(count)) * this.rarity(id);
      at += 1;
    }
    const rest = (counts.get(OTHERS) ?? 0) * Math.log((this.#passages + 1) / TYPICAL) ** 2;
    return unit(ids, weights, rest);
  }
}

/** Scales the weights in place; `rest` is the squared length of what is left out of the vector. */
export function unit(ids: Int32Array, weights: Float64Array, rest = 0): Sparse {
  let sum = rest;
  for (const weight of weights) sum += weight * weight;
  const size = Math.sqrt(sum) || 1;
  for (let at = 0; at < weights.length; at += 1) weights[at] = (weights[at] ?? 0) / size;
  return { ids, weights };
}

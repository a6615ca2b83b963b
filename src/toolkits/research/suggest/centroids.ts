import type { Sparse } from './features.ts';

/** A vector that belongs to a class. */
export interface Member {
  readonly vector: Sparse;
  readonly cls: number;
}

/** Rows of pairs by term, in flat arrays: `starts[id]` to `starts[id + 1]`. */
interface Postings {
  readonly starts: Int32Array;
  readonly owners: Int32Array;
  readonly weights: Float32Array;
}

/** Sums of vectors by class, turned round: for each term the classes that hold it. */
export class Centroids {
  readonly #classes: number;
  readonly #postings: Postings;
  readonly #squares: Float64Array;

  constructor(classes: number, terms: number, members: readonly Member[]) {
    this.#classes = classes;
    this.#squares = new Float64Array(classes);
    const byClass = Array.from({ length: classes }, (): Sparse[] => []);
    for (const { vector, cls } of members) byClass[cls]?.push(vector);
    const ids: number[] = [];
    const owners: number[] = [];
    const weights: number[] = [];
    const sums = new Float64Array(terms);
    for (const [cls, vectors] of byClass.entries()) {
      const touched: number[] = [];
      for (const { ids: own, weights: values } of vectors) {
        for (let at = 0; at < own.length; at += 1) {
          const id = own[at] ?? 0;
          if (sums[id] === 0) touched.push(id);
          sums[id] = (sums[id] ?? 0) + (values[at] ?? 0);
        }
      }
      for (const id of touched) {
        const sum = sums[id] ?? 0;
        sums[id] = 0;
        // A term of no weight is touched once per vector.
        if (sum === 0) continue;
        this.#squares[cls] = (this.#squares[cls] ?? 0) + sum * sum;
        ids.push(id);
        owners.push(cls);
        weights.push(sum);
      }
    }
    this.#postings = byTerm(terms, ids, owners, weights);
  }

  /** Cosine of a vector with each class, as if the members in `without` were not there. */
  cosines(vector: Sparse, without: readonly Member[] = []): Float64Array {
    const sums = this.#dots(vector);
    const squares = without.length ? Float64Array.from(this.#squares) : this.#squares;
    for (const [cls, own] of sumByClass(without)) {
      sums[cls] = (sums[cls] ?? 0) - dot(vector, own);
      let square = 0;
      for (const weight of own.values()) square += weight * weight;
      squares[cls] = (squares[cls] ?? 0) - 2 * (this.#dots(toSparse(own))[cls] ?? 0) + square;
    }
    for (let cls = 0; cls < sums.length; cls += 1) {
      const square = squares[cls] ?? 0;
      sums[cls] = square > 1e-9 ? (sums[cls] ?? 0) / Math.sqrt(square) : 0;
    }
    return sums;
  }

  /** What each term of a vector adds to its cosine with a class, largest first. */
  shares({ ids, weights }: Sparse, cls: number): { readonly id: number; readonly share: number }[] {
    const size = Math.sqrt(this.#squares[cls] ?? 0) || 1;
    const found: { id: number; share: number }[] = [];
    for (let at = 0; at < ids.length; at += 1) {
      const id = ids[at] ?? 0;
      const share = ((weights[at] ?? 0) * this.#weightOf(id, cls)) / size;
      if (share > 0) found.push({ id, share });
    }
    return found.sort((a, b) => b.share - a.share);
  }

  /** The terms that weigh most in a class. */
  strongest(cls: number, most: number): { readonly id: number; readonly weight: number }[] {
    const size = Math.sqrt(this.#squares[cls] ?? 0) || 1;
    const found: { id: number; weight: number }[] = [];
    for (let id = 0; id + 1 < this.#postings.starts.length; id += 1) {
      const weight = this.#weightOf(id, cls);
      if (weight > 0) found.push({ id, weight: weight / size });
    }
    return found.sort((a, b) => b.weight - a.weight).slice(0, most);
  }

  /** A class as a vector of length one. */
  centroidOf(cls: number): Sparse {
    const terms = this.strongest(cls, Number.POSITIVE_INFINITY);
    return {
      ids: Int32Array.from(terms, ({ id }) => id),
      weights: Float64Array.from(terms, ({ weight }) => weight),
    };
  }

  #weightOf(id: number, cls: number): number {
    const { starts, owners, weights } = this.#postings;
    const end = starts[id + 1] ?? 0;
    for (let at = starts[id] ?? end; at < end; at += 1) if (owners[at] === cls) return weights[at] ?? 0;
    return 0;
  }

  #dots(vector: Sparse): Float64Array {
    return dots(this.#postings, vector, this.#classes);
  }
}

/** Single vectors by number, turned round, to find the nearest ones. */
export class Neighbours {
  readonly #postings: Postings;
  readonly #size: number;

  constructor(terms: number, vectors: readonly Sparse[]) {
    this.#size = vectors.length;
    const ids: number[] = [];
    const owners: number[] = [];
    const weights: number[] = [];
    for (const [number, vector] of vectors.entries()) {
      for (let at = 0; at < vector.ids.length; at += 1) {
        ids.push(vector.ids[at] ?? 0);
        owners.push(number);
        weights.push(vector.weights[at] ?? 0);
      }
    }
    this.#postings = byTerm(terms, ids, owners, weights);
  }

  cosines(vector: Sparse): Float64Array {
    return dots(this.#postings, vector, this.#size);
  }
}

function byTerm(
  terms: number,
  ids: readonly number[],
  owners: readonly number[],
  weights: readonly number[],
): Postings {
  const starts = new Int32Array(terms + 1);
  for (const id of ids) starts[id + 1] = (starts[id + 1] ?? 0) + 1;
  for (let id = 0; id < terms; id += 1) starts[id + 1] = (starts[id + 1] ?? 0) + (starts[id] ?? 0);
  const next = starts.slice();
  const sorted = { owners: new Int32Array(ids.length), weights: new Float32Array(ids.length) };
  for (let at = 0; at < ids.length; at += 1) {
    const id = ids[at] ?? 0;
    const to = next[id] ?? 0;
    next[id] = to + 1;
    sorted.owners[to] = owners[at] ?? 0;
    sorted.weights[to] = weights[at] ?? 0;
  }
  return { starts, ...sorted };
}

function dots(
  { starts, owners, weights }: Postings,
  { ids, weights: own }: Sparse,
  size: number,
): Float64Array {
  const sums = new Float64Array(size);
  for (let at = 0; at < ids.length; at += 1) {
    const id = ids[at] ?? 0;
    const weight = own[at] ?? 0;
    // A term that came up after the index was made has no row.
    const end = starts[id + 1] ?? 0;
    for (let i = starts[id] ?? end; i < end; i += 1) {
      const owner = owners[i] ?? 0;
      sums[owner] = (sums[owner] ?? 0) + weight * (weights[i] ?? 0);
    }
  }
  return sums;
}

function sumByClass(members: readonly Member[]): Map<number, Map<number, number>> {
  const found = new Map<number, Map<number, number>>();
  for (const { vector, cls } of members) {
    const sum = found.get(cls) ?? new Map<number, number>();
    for (let at = 0; at < vector.ids.length; at += 1) {
      const id = vector.ids[at] ?? 0;
      sum.set(id, (sum.get(id) ?? 0) + (vector.weights[at] ?? 0));
    }
    found.set(cls, sum);
  }
  return found;
}

function dot({ ids, weights }: Sparse, other: ReadonlyMap<number, number>): number {
  let sum = 0;
  for (let at = 0; at < ids.length; at += 1) sum += (weights[at] ?? 0) * (other.get(ids[at] ?? 0) ?? 0);
  return sum;
}

const toSparse = (sum: ReadonlyMap<number, number>): Sparse => ({
  ids: Int32Array.from(sum.keys()),
  weights: Float64Array.from(sum.values()),
});

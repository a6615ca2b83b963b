import type { CodedPassage } from './channels.ts';

/** Means of dense vectors by code, from an embedding model. */
export class DenseCentroids {
  readonly #sums: readonly Float64Array[];
  readonly #names: readonly (Float32Array | undefined)[];

  constructor(
    codes: number,
    passages: readonly CodedPassage[],
    names: readonly (Float32Array | undefined)[],
    size: number,
  ) {
    this.#names = names;
    this.#sums = Array.from({ length: codes }, () => new Float64Array(size));
    for (const passage of passages)
      for (const code of passage.codes) add(this.#sums[code], passage.features.vector, 1);
  }

  /** Cosine with the passages of each code and with its name, as if the passages in `without` had not been coded. */
  cosines(vector: Float32Array, without: ReadonlySet<CodedPassage>): [Float64Array, Float64Array] {
    const sums = this.#sums.map((sum, code) => {
      const own = [...without].filter(({ codes }) => codes.includes(code));
      if (own.length === 0) return sum;
      const rest = Float64Array.from(sum);
      for (const { features } of own) add(rest, features.vector, -1);
      return rest;
    });
    return [
      Float64Array.from(sums, (sum) => cosineOf(vector, sum)),
      Float64Array.from(this.#names, (name) => (name ? cosineOf(vector, name) : 0)),
    ];
  }
}

function add(sum: Float64Array | undefined, vector: Float32Array | undefined, sign: 1 | -1): void {
  if (!sum || !vector) return;
  for (let at = 0; at < sum.length; at += 1) sum[at] = (sum[at] ?? 0) + sign * (vector[at] ?? 0);
}

/** The first vector has length one. */
function cosineOf(unit: Float32Array, other: Float32Array | Float64Array): number {
  let product = 0;
  let square = 0;
  for (let at = 0; at < other.length; at += 1) {
    const value = other[at] ?? 0;
    product += (unit[at] ?? 0) * value;
    square += value * value;
  }
  return square > 1e-12 ? product / Math.sqrt(square) : 0;
}

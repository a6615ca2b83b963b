import { CHANNELS, type Scores } from './channels.ts';
import { fitLogistic, type Logistic, logitOf, type Rows, sigmoid } from './logistic.ts';

/** A passage scored as if it had not been coded, with what people said about it. */
export interface Judged {
  readonly scores: Scores;
  /** Codes it has. */
  readonly right: ReadonlySet<number>;
  /** Only these codes were judged; left out: all of them. */
  readonly only?: ReadonlySet<number>;
}

const MOST_ROWS = 25_000;
/** Beyond this a code stands out enough; larger values only let single passages rule the fit. */
const LIMIT = 6;

/** Without what an embedding model adds. */
export const lexicalOnly = (judged: readonly Judged[]): Judged[] =>
  judged.map((item) => ({ ...item, scores: item.scores.slice(0, CHANNELS.length) }));

/** The weights of the channels, learned from the project's own codings, and the correction that makes them probabilities. */
export class Stack {
  readonly #weights: Logistic;
  readonly #correction: Logistic;

  private constructor(weights: Logistic, correction: Logistic) {
    this.#weights = weights;
    this.#correction = correction;
  }

  static fit(judged: readonly Judged[]): Stack {
    const weights = fitLogistic(sample(judged));
    return new Stack(weights, fitCorrection(judged, weights));
  }

  /** How many channels it was fitted on. */
  get channels(): number {
    return this.#weights.coefficients.length / 2;
  }

  /** How badly it predicts what people said of other passages: mean log loss per passage. */
  loss(judged: readonly Judged[]): number {
    let sum = 0;
    for (const { scores, right, only } of judged) {
      for (const [code, p] of this.probabilities(scores).entries())
        if (!only || only.has(code)) sum -= Math.log(Math.max(1e-9, right.has(code) ? p : 1 - p));
    }
    return sum / Math.max(1, judged.length);
  }

  /** For each code the probability that a coder would agree. */
  probabilities(scores: Scores): Float64Array {
    return corrected(logitsOf(this.#weights, scores.slice(0, this.channels)), this.#correction);
  }

  /** What each channel adds to the log odds of a code, compared with an average code. */
  contributions(scores: Scores, code: number): number[] {
    const columns = spread(scores);
    return CHANNELS.map((_, channel) => {
      const [value = 0, z = 0] = this.#weights.coefficients.slice(2 * channel, 2 * channel + 2);
      const own = scores[channel]?.[code] ?? 0;
      const { mean } = columns[channel] ?? { mean: 0 };
      return value * (own - mean) + z * standing(own, columns[channel]);
    });
  }
}

function logitsOf(weights: Logistic, scores: Scores): Float64Array {
  const columns = spread(scores);
  const row = new Float64Array(2 * scores.length);
  return Float64Array.from({ length: scores[0]?.length ?? 0 }, (_, code) => {
    fillRow(row, 0, scores, columns, code);
    return logitOf(weights, row);
  });
}

function corrected(logits: Float64Array, correction: Logistic): Float64Array {
  const all = sumOfExponents(logits);
  return logits.map((logit) => sigmoid(logitOf(correction, [logit, logit - all])));
}

/** Which codes compete for a passage says as much as how well each fits: the second look sees both. */
function fitCorrection(judged: readonly Judged[], weights: Logistic): Logistic {
  const pairs = samplePairs(judged);
  const values = new Float64Array(2 * pairs.length);
  let known: { at: number; logits: Float64Array; all: number } | undefined;
  for (const [row, { at, code }] of pairs.entries()) {
    // Pairs come in the order of the passages, so the logits of each are made once.
    if (known?.at !== at) {
      const logits = logitsOf(weights, judged[at]?.scores ?? []);
      known = { at, logits, all: sumOfExponents(logits) };
    }
    const logit = known.logits[code] ?? 0;
    values[2 * row] = logit;
    values[2 * row + 1] = logit - known.all;
  }
  return fitLogistic({
    width: 2,
    values,
    labels: Float64Array.from(pairs, ({ label }) => label),
    weights: Float64Array.from(pairs, ({ weight }) => weight),
  });
}

/** The logarithm of the sum of what the values are logarithms of. */
function sumOfExponents(logits: Float64Array): number {
  let most = Number.NEGATIVE_INFINITY;
  for (const logit of logits) most = Math.max(most, logit);
  let sum = 0;
  for (const logit of logits) sum += Math.exp(logit - most);
  return most + Math.log(sum);
}

interface Column {
  readonly mean: number;
  readonly deviation: number;
}

function spread(scores: Scores): Column[] {
  return scores.map((column) => {
    let mean = 0;
    for (const value of column) mean += value / column.length;
    let square = 0;
    for (const value of column) square += (value - mean) ** 2 / column.length;
    return { mean, deviation: Math.sqrt(square) };
  });
}

function standing(value: number, column: Column | undefined): number {
  if (!column || column.deviation < 1e-9) return 0;
  return Math.max(-LIMIT, Math.min(LIMIT, (value - column.mean) / column.deviation));
}

function fillRow(into: Float64Array, from: number, scores: Scores, columns: readonly Column[], code: number) {
  for (let channel = 0; channel < scores.length; channel += 1) {
    const value = scores[channel]?.[code] ?? 0;
    into[from + 2 * channel] = value;
    into[from + 2 * channel + 1] = standing(value, columns[channel]);
  }
}

/** Every other passage teaches, the others check, and the other way round. */
export function crossLoss(judged: readonly Judged[]): number {
  const halves = [0, 1].map((half) => judged.filter((_, at) => Math.floor(at / HALVES) % 2 === half));
  const [one = [], other = []] = halves;
  return (Stack.fit(one).loss(other) + Stack.fit(other).loss(one)) / 2;
}

/** Neighbouring passages are alike, so they go into the same half. */
const HALVES = 50;

interface Pair {
  /** Which passage. */
  readonly at: number;
  readonly code: number;
  readonly label: 0 | 1;
  readonly weight: number;
}

/** All pairs that people agreed to and as many of the others as the fit can take; those count for the ones left out. */
function samplePairs(judged: readonly Judged[]): Pair[] {
  let agreed = 0;
  let others = 0;
  for (const { scores, right, only } of judged) {
    const judgedCodes = only?.size ?? scores[0]?.length ?? 0;
    agreed += right.size;
    others += judgedCodes - right.size;
  }
  const share = Math.min(1, Math.max(1000, MOST_ROWS - agreed) / Math.max(1, others));
  const isKept = sampler(share);
  const pairs: Pair[] = [];
  for (const [at, { scores, right, only }] of judged.entries()) {
    for (let code = 0; code < (scores[0]?.length ?? 0); code += 1) {
      if (only && !only.has(code)) continue;
      if (right.has(code)) pairs.push({ at, code, label: 1, weight: 1 });
      else if (isKept()) pairs.push({ at, code, label: 0, weight: 1 / share });
    }
  }
  return pairs;
}

function sample(judged: readonly Judged[]): Rows {
  const pairs = samplePairs(judged);
  const width = 2 * (judged[0]?.scores.length ?? 0);
  const values = new Float64Array(pairs.length * width);
  const columns = judged.map(({ scores }) => spread(scores));
  for (const [row, { at, code }] of pairs.entries())
    fillRow(values, row * width, judged[at]?.scores ?? [], columns[at] ?? [], code);
  return {
    width,
    values,
    labels: Float64Array.from(pairs, ({ label }) => label),
    weights: Float64Array.from(pairs, ({ weight }) => weight),
  };
}

/** True for a share of the calls, not in step with anything and the same in every run. */
function sampler(share: number): () => boolean {
  let state = 12345;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return share >= 1 || state / 4294967296 < share;
  };
}

import { CHANNELS, type Channel, type Scores } from './channels.ts';
import { sigmoid } from './logistic.ts';

/** Fewer documents or codings than this cannot show how far evidence is to be trusted. */
const DOCUMENTS = 4;
const PER_CODE = 2;
const PASSAGES = 30;

export const isTooLittle = (documents: number, passages: number, codesInUse: number): boolean =>
  documents < DOCUMENTS || passages < Math.max(PASSAGES, PER_CODE * codesInUse);

export const NEEDED = `${DOCUMENTS} coded sources, ${PASSAGES} coded passages and ${PER_CODE} codings per code`;

/** How a project without enough codings is judged: names at first, examples as they come. */
const FROM_EXAMPLES: Partial<Record<Channel, number>> = {
  words: 1,
  nearest: 0.4,
  before: 0.4,
  question: 0.4,
  place: 0.4,
  prior: 0.3,
};
const FROM_NAMES: Partial<Record<Channel, number>> = { name: 0.8, memo: 0.4 };

/** One number per code; only their order means something. */
export function coldScores(scores: Scores, passages: number): Float64Array {
  const codes = scores[0]?.length ?? 0;
  const trust = passages / (passages + 2 * Math.max(1, codes));
  const total = new Float64Array(codes);
  for (const [at, channel] of CHANNELS.entries()) {
    const weight = trust * (FROM_EXAMPLES[channel] ?? 0) + (1 - trust / 2) * (FROM_NAMES[channel] ?? 0);
    if (weight === 0) continue;
    const standing = zScores(scores[at] ?? new Float64Array(codes));
    for (let code = 0; code < codes; code += 1)
      total[code] = (total[code] ?? 0) + weight * (standing[code] ?? 0);
  }
  return total;
}

/** Some word in common; less than this is noise. */
const LEAST = 0.03;
const CEILING = 0.75;

/**
 * A cautious figure for the order above, never as high as a calibrated one can be. The weights are those of a project of which only
 * one to three documents were known; where a code is called by its name in the text, more.
 */
export function coldConfidence(scores: Scores, order: Float64Array, code: number): number {
  const at = (channel: Channel) => scores[CHANNELS.indexOf(channel)]?.[code] ?? 0;
  if (Math.max(at('name'), at('memo'), at('words'), at('nearest')) < LEAST) return 0;
  const stands = zScores(order);
  const own = stands[code] ?? 0;
  let next = Number.NEGATIVE_INFINITY;
  for (const [other, value] of stands.entries()) if (other !== code && value > next) next = value;
  const margin = Number.isFinite(next) ? Math.max(-2, Math.min(2, own - next)) : 0;
  const words = 4 * at('name') + 3 * at('memo') + 2.5 * at('words') + at('nearest');
  return Math.min(CEILING, sigmoid(-3 + words + 0.6 * Math.min(4, own) + 0.2 * margin));
}

function zScores(values: Float64Array): Float64Array {
  let mean = 0;
  for (const value of values) mean += value / values.length;
  let square = 0;
  for (const value of values) square += (value - mean) ** 2 / values.length;
  const deviation = Math.sqrt(square);
  if (deviation < 1e-9) return new Float64Array(values.length);
  return values.map((value) => Math.max(-6, Math.min(6, (value - mean) / deviation)));
}

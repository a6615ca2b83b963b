import { setImmediate as breathe } from 'node:timers/promises';
import {
  type Calibration,
  type CalibrationSample,
  confidenceOf,
  fitCalibration,
  GENERAL,
} from './calibration.ts';
import { type CodeProfile, type CodeWithExamples, type Example, profileCodes } from './evidence.ts';
import { embedIfPossible, type PatientOptions, type Provenance } from './provenance.ts';
import { explain } from './rationale.ts';
import {
  type CodeVectors,
  type Field,
  fieldOf,
  gather,
  logOdds,
  type ReadSegment,
  readSegment,
} from './score.ts';
import type { Vectors } from './vectors.ts';

/** Examples that are embedded, over all codes: the first reading of a project must not take minutes. */
const MOST_EXAMPLES = 400;
const CALIBRATED_ON = 200;
const DEFINITION = 300;

export interface Judgement {
  readonly codeId: number;
  readonly codeName: string;
  readonly confidence: number;
  readonly rationale: string;
}

/** Has read the codes of a project with their earlier codings and judges which of them fit a piece of text. */
export class CodeReader {
  readonly provenance: Provenance;
  readonly calibration: Calibration;
  readonly #profiles: readonly CodeProfile[];
  readonly #vectors: readonly CodeVectors[];

  private constructor(
    profiles: readonly CodeProfile[],
    vectors: readonly CodeVectors[],
    calibration: Calibration,
    provenance: Provenance,
  ) {
    this.#profiles = profiles;
    this.#vectors = vectors;
    this.calibration = calibration;
    this.provenance = provenance;
  }

  static async read(
    codes: readonly CodeWithExamples[],
    vectors?: Vectors,
    options: PatientOptions = {},
  ): Promise<CodeReader> {
    const perCode = Math.max(3, Math.floor(MOST_EXAMPLES / Math.max(1, codes.length)));
    const shown = codes.map((code) => ({ ...code, examples: spread(code.examples, perCode) }));
    const texts = shown.flatMap((code) => [
      `${code.name}. ${code.memo.slice(0, DEFINITION)}`,
      ...code.examples.map(({ text }) => text),
    ]);
    const { vectors: made, provenance } = await embedIfPossible(
      codes.length ? vectors : undefined,
      texts,
      options,
    );
    let at = 0;
    const codeVectors = shown.map((code): CodeVectors => {
      const own = made?.slice(at, at + 1 + code.examples.length) ?? [];
      at += 1 + code.examples.length;
      return { code: own[0], examples: own.slice(1) };
    });
    // Typical words come from all codings; reading words costs next to nothing.
    const profiles = profileCodes(codes).map((profile, i) => ({
      ...profile,
      code: shown[i] ?? profile.code,
    }));
    const calibration = await calibrate(profiles, codeVectors, options.signal);
    return new CodeReader(profiles, codeVectors, calibration, provenance);
  }

  get codes(): number {
    return this.#profiles.length;
  }

  /** Every code with its confidence, best first. Codings of the judged place itself do not count as evidence. */
  judge(text: string, vector: Float32Array | undefined, without: (example: Example) => boolean): Judgement[] {
    const segment = readSegment(text, vector);
    const field = fieldOf(segment, this.#vectors);
    return this.#profiles
      .map((profile, at) => this.#judge(segment, profile, this.#vectors[at] ?? NO_VECTORS, field, without))
      .sort((a, b) => b.confidence - a.confidence || a.codeId - b.codeId);
  }

  #judge(
    segment: ReadSegment,
    profile: CodeProfile,
    vectors: CodeVectors,
    field: Field | undefined,
    without: (example: Example) => boolean,
  ): Judgement {
    const evidence = gather(segment, profile, vectors, field, without);
    return {
      codeId: profile.code.id,
      codeName: profile.code.name,
      confidence: confidenceOf(logOdds(evidence), this.calibration),
      rationale: explain(evidence),
    };
  }
}

const NO_VECTORS: CodeVectors = { code: undefined, examples: [] };

/** Evenly over the list, so that early and late codings are both heard. */
function spread<T>(items: readonly T[], most: number): T[] {
  if (items.length <= most) return [...items];
  return Array.from({ length: most }, (_, i) => items[Math.floor((i * items.length) / most)]).filter(
    (item) => item !== undefined,
  );
}

/**
 * Scores what people already coded as if it were new, against their own code and against all others. Typical words are taken from the
 * other half of the codings each time: a coding must not be recognised by its own words.
 */
async function calibrate(
  profiles: readonly CodeProfile[],
  vectors: readonly CodeVectors[],
  signal?: AbortSignal,
): Promise<Calibration> {
  const total = profiles.reduce((sum, { code }) => sum + code.examples.length, 0);
  if (total < 30 || profiles.length < 2) return GENERAL;
  const samples: CalibrationSample[] = [];
  const step = Math.max(1, Math.ceil(total / CALIBRATED_ON));
  for (const half of [0, 1]) {
    const halves = profileCodes(
      profiles.map(({ code }) => ({ ...code, examples: code.examples.filter((_, at) => at % 2 !== half) })),
    );
    for (const [own, { code }] of profiles.entries()) {
      for (const [at, example] of code.examples.entries()) {
        if (at % 2 !== half || (at >> 1) % step !== 0) continue;
        await breathe(undefined, signal ? { signal } : undefined);
        const segment = readSegment(example.text, vectors[own]?.examples[at]);
        const field = fieldOf(segment, vectors);
        const same = (item: Example) =>
          item.sourceId === example.sourceId && item.start < example.end && item.end > example.start;
        for (const [other, profile] of profiles.entries()) {
          // The same place coded with both codes is no disagreement.
          if (other !== own && profile.code.examples.some(same)) continue;
          const testified = { ...profile, typical: halves[other]?.typical ?? profile.typical };
          const evidence = gather(segment, testified, vectors[other] ?? NO_VECTORS, field, same);
          samples.push({ logOdds: logOdds(evidence), agreed: other === own, weight: 1 });
        }
      }
    }
  }
  return fitCalibration(samples);
}

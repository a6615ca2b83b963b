import type { Span } from '../statistics/frequencies.ts';
import type { Place } from './content.ts';

/** A project as one caller may see it; the worker reads it from its file. */
export interface ProjectView {
  /** The `.qda` directory. */
  readonly path: string;
  readonly hiddenSources: readonly number[];
  readonly hiddenCoders: readonly string[];
  /** Suggestions that a person rejected: the model learns from them and does not repeat them. */
  readonly rejected: readonly Place[];
}

export type Question =
  | {
      readonly kind: 'range';
      readonly sourceId: number;
      readonly range: Span;
      readonly most: number;
      /** Of the passage, where an embedding model takes part. */
      readonly vector?: Float32Array | undefined;
    }
  | {
      readonly kind: 'document';
      readonly sourceId: number;
      readonly minConfidence: number;
      readonly most?: number | undefined;
    }
  | { readonly kind: 'terms'; readonly codeId: number; readonly most: number }
  | { readonly kind: 'twins' }
  /** What counts of a range: the text an embedding model is to read. */
  | { readonly kind: 'body'; readonly sourceId: number; readonly range: Span }
  /** What an embedding model has not read yet of the coded passages and the codes. */
  | { readonly kind: 'texts' }
  | {
      readonly kind: 'vectors';
      readonly texts: readonly string[];
      readonly vectors: readonly Float32Array[];
    };

/** A code for a range, with its evidence. */
export interface SuggestedCode extends Span {
  readonly codeId: number;
  readonly codeName: string;
  /** 0 to 100. */
  readonly confidence: number;
  readonly rationale: string;
  readonly text: string;
  /** The nearest segments with this code; only for a range. */
  readonly examples?: readonly { readonly sourceId: number; readonly text: string }[];
}

/** What a model was learned from, for the reply. */
export interface Basis {
  readonly calibrated: boolean;
  /** True where the vector given with the question decided too. */
  readonly usedVector: boolean;
  readonly passages: number;
  readonly documents: number;
}

export interface SuggestedCodes {
  readonly suggestions: readonly SuggestedCode[];
  readonly basis: Basis;
  /** Left out because a person rejected the same before. */
  readonly rejectedBefore: number;
  /** Those that would be filed if there were not so many better ones. */
  readonly leftOut?: number;
}

/**
 * Confidences are calibrated: below this, nine of ten suggestions are rejected, so they are reported and not put before
 * the researcher.
 */
export const LEAST_FILED = 10;

/** Words that stand for a code, with their weight. */
export interface CodeTerms {
  readonly terms: readonly { readonly term: string; readonly weight: number }[];
  readonly passages: number;
}

/** Two codes whose coded passages use the same words. */
export interface Twins {
  readonly pairs: readonly {
    readonly a: number;
    readonly b: number;
    /** Cosine of the passages of one with those of the other, in other sources. */
    readonly similarity: number;
    /** The same for the passages of one code: the lower of the two. */
    readonly within: number;
  }[];
}

export interface Answers {
  readonly range: SuggestedCodes;
  readonly document: SuggestedCodes;
  readonly terms: CodeTerms;
  readonly twins: Twins;
  readonly body: { readonly text: string };
  readonly texts: { readonly texts: readonly string[]; readonly usesVectors: boolean };
  readonly vectors: { readonly usesVectors: boolean };
}

export type WorkerRequest =
  | { readonly id: number; readonly view: ProjectView; readonly question: Question }
  | { readonly cancel: number };

export type WorkerReply =
  | { readonly id: number; readonly answer: Answers[keyof Answers] }
  | { readonly id: number; readonly error: string };

/**
 * A REFI-QDA project (standard 1.5) as plain data, near to its XML. Guids are opaque here: real exports hold braces, other cases and even
 * values that are no guids at all.
 */
export interface RefiProject {
  readonly name: string;
  /** The program that wrote it. */
  readonly origin: string;
  readonly description: string;
  readonly noteRefs: readonly string[];
  readonly users: readonly RefiUser[];
  readonly codes: readonly RefiCode[];
  readonly variables: readonly RefiVariable[];
  readonly cases: readonly RefiCase[];
  readonly sources: readonly RefiSource[];
  readonly notes: readonly RefiNote[];
  readonly links: readonly RefiLink[];
  readonly sets: readonly RefiSet[];
  /** Drawings are not carried over; how many there are is reported. */
  readonly graphs: number;
}

interface RefiUser {
  readonly guid: string;
  readonly name: string;
}

export interface RefiCode {
  readonly guid: string;
  readonly name: string;
  readonly isCodable: boolean;
  readonly color?: string;
  readonly description: string;
  readonly noteRefs: readonly string[];
  readonly children: readonly RefiCode[];
}

export type RefiVariableType = 'Text' | 'Boolean' | 'Integer' | 'Float' | 'Date' | 'DateTime';

export interface RefiVariable {
  readonly guid: string;
  readonly name: string;
  readonly type: RefiVariableType;
  readonly description: string;
}

export interface RefiValue {
  readonly variable: string;
  readonly type: RefiVariableType;
  readonly value: string;
}

export interface RefiCase {
  readonly guid: string;
  readonly name: string;
  readonly description: string;
  readonly values: readonly RefiValue[];
  readonly sourceRefs: readonly string[];
  readonly selectionRefs: readonly string[];
}

/** Who made something and when; both are often missing. */
export interface RefiMade {
  readonly user?: string;
  /** As written: an XML dateTime. */
  readonly date?: string;
}

export interface RefiCoding extends RefiMade {
  readonly guid: string;
  readonly code: string;
  readonly noteRefs: readonly string[];
}

export interface RefiSelection extends RefiMade {
  readonly guid: string;
  readonly name: string;
  readonly description: string;
  readonly codings: readonly RefiCoding[];
  readonly noteRefs: readonly string[];
}

export interface RefiTextSelection extends RefiSelection {
  readonly start: number;
  readonly end: number;
}

/** A rectangle of a picture, or of a PDF page. */
export interface RefiArea extends RefiSelection {
  readonly page?: number;
  readonly firstX: number;
  readonly firstY: number;
  readonly secondX: number;
  readonly secondY: number;
}

/** A stretch of a recording, in milliseconds. */
export interface RefiClip extends RefiSelection {
  readonly begin: number;
  readonly end: number;
}

/** Text in the XML itself or in a file of the archive. */
export interface RefiText extends RefiMade {
  readonly guid: string;
  readonly name: string;
  readonly description: string;
  readonly content?: string;
  readonly plainTextPath?: string;
  readonly richTextPath?: string;
  readonly selections: readonly RefiTextSelection[];
  readonly codings: readonly RefiCoding[];
  readonly noteRefs: readonly string[];
  readonly values: readonly RefiValue[];
}

export type RefiNote = RefiText;

interface RefiTextSource extends RefiText {
  readonly kind: 'text';
}

export interface RefiMediaSource extends RefiMade {
  readonly kind: 'picture' | 'pdf' | 'audio' | 'video';
  readonly guid: string;
  readonly name: string;
  readonly description: string;
  readonly path?: string;
  readonly areas: readonly RefiArea[];
  readonly clips: readonly RefiClip[];
  /** The text of a PDF, the description of a picture, the transcripts of a recording. */
  readonly texts: readonly RefiText[];
  readonly codings: readonly RefiCoding[];
  readonly noteRefs: readonly string[];
  readonly values: readonly RefiValue[];
}

export type RefiSource = RefiTextSource | RefiMediaSource;

export interface RefiLink {
  readonly guid: string;
  readonly name: string;
  readonly origin: string;
  readonly target: string;
}

interface RefiSet {
  readonly guid: string;
  readonly name: string;
  readonly codes: readonly string[];
  readonly sources: readonly string[];
  readonly notes: readonly string[];
}

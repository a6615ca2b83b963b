import type { Span } from '../../statistics/spans.ts';

/** A document as it goes into a project: line ends are LF, no byte order mark, positions in code points. */
export interface ImportedDocument {
  readonly name: string;
  readonly text: string;
  /** The original, kept in the project beside the text where QualCoder keeps it. */
  readonly file?: Uint8Array;
  readonly memo?: string;
  /** Which part of the text belongs to whom (the rows of a survey). */
  readonly cases?: readonly (Span & { readonly caseName: string })[];
}

export interface ImportedAttribute {
  readonly name: string;
  readonly valueType: 'character' | 'numeric';
  /** Value by case name. */
  readonly values: ReadonlyMap<string, string>;
}

/** What one file gives. */
export interface Imported {
  readonly documents: readonly ImportedDocument[];
  readonly cases?: readonly string[];
  readonly attributes?: readonly ImportedAttribute[];
}

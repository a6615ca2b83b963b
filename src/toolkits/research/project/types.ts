/**
 * The port on a QualCoder project. Everything below is independent of the version of the file.
 *
 * Positions are Unicode code points of the stored text, zero-based, end-exclusive. How a project stores them
 * (UTF-16 units for what a person marked, code points for what programs added) is settled inside the store.
 * Reads are synchronous and see the last committed state. Changes happen only inside `ProjectStore.write`:
 * one transaction, all or nothing, recorded so that it can be undone.
 */
import type { LeftOut } from './reader.ts';

export type SourceType = 'text' | 'pdf' | 'audio' | 'video' | 'image' | 'unknown';

export interface Source {
  readonly id: number;
  readonly name: string;
  readonly type: SourceType;
  /** As QualCoder writes it: null, `/docs/x`, `docs:/abs/x`, `/images/x`, `audio:/abs/x` and so on. */
  readonly mediaPath: string | null;
  /** The whole memo with its private part; `publicMemo` of lib/memo.ts cuts what agents may see. */
  readonly memo: string;
  readonly owner: string;
  readonly date: string;
  /** True when the source has text that can be coded. */
  readonly hasText: boolean;
  /** Size of the stored text in UTF-8 bytes; 0 for pictures and recordings. */
  readonly bytes: number;
  /** The text source that is the transcript of this recording. */
  readonly transcriptId: number | null;
  readonly risId: number | null;
}

/** A source's text with arithmetic in code points. */
export interface SourceText {
  /** The text exactly as stored, as a JavaScript string (so `.length` counts UTF-16 units). */
  readonly value: string;
  /** Length in code points. */
  readonly length: number;
  slice(start: number, end: number): string;
  /** Index into `value` of a code point position, and back. */
  toUnits(position: number): number;
  fromUnits(index: number): number;
}

export interface Code {
  readonly id: number;
  readonly name: string;
  readonly memo: string;
  readonly categoryId: number | null;
  /** Sub-codes exist from version 16 on; null before. */
  readonly parentId: number | null;
  readonly owner: string;
  readonly date: string;
  /** `#RRGGBB`. */
  readonly color: string;
}

export interface Category {
  readonly id: number;
  readonly name: string;
  readonly memo: string;
  readonly parentId: number | null;
  readonly owner: string;
  readonly date: string;
}

/** A code applied to a range of text. */
export interface Coding {
  readonly id: number;
  readonly codeId: number;
  readonly sourceId: number;
  readonly start: number;
  readonly end: number;
  /** The coded text, with ordinary line breaks. */
  readonly text: string;
  /**
   * False when the stored text is not what stands at the stored position in any reading (the file was edited
   * elsewhere); `start` and `end` are then the best guess and `text` what was once selected.
   */
  readonly anchored: boolean;
  readonly owner: string;
  readonly date: string;
  readonly memo: string;
  readonly avCodingId: number | null;
  readonly important: boolean;
}

export interface ImageCoding {
  readonly id: number;
  readonly sourceId: number;
  readonly codeId: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly pdfPage: number | null;
  readonly memo: string;
  readonly owner: string;
  readonly date: string;
  readonly important: boolean;
}

/** A code applied to a stretch of a recording; times in milliseconds. */
export interface MediaCoding {
  readonly id: number;
  readonly sourceId: number;
  readonly codeId: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly memo: string;
  readonly owner: string;
  readonly date: string;
  readonly important: boolean;
}

/** A note on a range of text, without a code. */
export interface Annotation {
  readonly id: number;
  readonly sourceId: number;
  readonly start: number;
  readonly end: number;
  readonly memo: string;
  readonly owner: string;
  readonly date: string;
}

export interface Case {
  readonly id: number;
  readonly name: string;
  readonly memo: string;
  readonly owner: string;
  readonly date: string;
}

/** Text that belongs to a case; a whole file is 0..length, pictures and recordings are 0..0. */
export interface CaseText {
  readonly id: number;
  readonly caseId: number;
  readonly sourceId: number;
  readonly start: number;
  readonly end: number;
  readonly memo: string;
  readonly owner: string;
  readonly date: string;
}

export type AttributeScope = 'case' | 'file' | 'journal';

export interface AttributeType {
  readonly name: string;
  readonly scope: AttributeScope;
  readonly valueType: 'character' | 'numeric';
  readonly memo: string;
  readonly owner: string;
  readonly date: string;
}

export interface Attribute {
  readonly id: number;
  readonly name: string;
  readonly scope: AttributeScope;
  readonly value: string;
  /** The case, source or journal it belongs to. */
  readonly targetId: number;
  readonly owner: string;
  readonly date: string;
}

export interface Journal {
  readonly id: number;
  readonly name: string;
  readonly entry: string;
  readonly owner: string;
  readonly date: string;
}

export interface ProjectInfo {
  readonly name: string;
  /** The `.qda` folder. */
  readonly path: string;
  /** 8 to 17, found by looking at the tables. */
  readonly version: number;
  readonly memo: string;
  /** When the project was made, as QualCoder writes dates. */
  readonly date: string;
  readonly about: string;
  readonly coderName: string;
}

export interface CodingFilter {
  readonly sourceId?: number;
  readonly codeId?: number;
  readonly owner?: string;
}

export interface ProjectReader {
  info(): ProjectInfo;

  sources(): readonly Source[];
  source(id: number): Source | undefined;
  /** Undefined when the source does not exist or has no text. */
  text(sourceId: number): SourceText | undefined;
  /** Reads a text in steps, so that one of many megabytes does not keep other calls waiting; `text` then has it at hand. */
  loadText(sourceId: number): Promise<void>;
  loadLongTexts(): Promise<void>;

  categories(): readonly Category[];
  codes(): readonly Code[];
  code(id: number): Code | undefined;
  /** Text, image and recording codings per code. */
  codingCounts(leaveOut?: LeftOut): ReadonlyMap<number, number>;
  /** The same per source. */
  sourceCodingCounts(leaveOut?: LeftOut): ReadonlyMap<number, number>;

  /** Ordered by source, start, end, id. */
  codings(filter?: CodingFilter): readonly Coding[];
  coding(id: number): Coding | undefined;
  imageCodings(): readonly ImageCoding[];
  mediaCodings(): readonly MediaCoding[];
  annotations(sourceId?: number): readonly Annotation[];

  cases(): readonly Case[];
  caseTexts(): readonly CaseText[];
  attributeTypes(): readonly AttributeType[];
  attributes(): readonly Attribute[];
  journals(): readonly Journal[];
  /** Everyone who owns anything in the project, and who is hidden (version 14 on). */
  coders(): readonly { readonly name: string; readonly visible: boolean }[];
}

/** Left out: the change's own owner and the present time. Both are given when an import keeps the originals. */
interface Stamp {
  readonly owner?: string;
  readonly date?: string;
}

export interface NewSource extends Stamp {
  readonly name: string;
  /** Null for pictures and recordings. Line ends become LF and a byte order mark goes, as QualCoder does. */
  readonly text: string | null;
  readonly mediaPath?: string | null;
  readonly memo?: string;
  readonly transcriptId?: number | null;
  /** Bytes stored next to the text in the project folder, at the place `mediaPath` names (`/docs/x`). */
  readonly file?: Uint8Array;
}

export interface NewCode extends Stamp {
  readonly name: string;
  readonly color?: string;
  readonly memo?: string;
  readonly categoryId?: number | null;
  readonly parentId?: number | null;
}

export interface NewCategory extends Stamp {
  readonly name: string;
  readonly memo?: string;
  readonly parentId?: number | null;
}

export interface NewCoding extends Stamp {
  readonly codeId: number;
  readonly sourceId: number;
  readonly start: number;
  readonly end: number;
  readonly memo?: string;
  readonly important?: boolean;
}

export interface NewImageCoding
  extends Stamp,
    Omit<ImageCoding, 'id' | 'memo' | 'owner' | 'date' | 'important' | 'pdfPage'> {
  readonly pdfPage?: number | null;
  readonly memo?: string;
  readonly important?: boolean;
}

export interface NewMediaCoding
  extends Stamp,
    Omit<MediaCoding, 'id' | 'memo' | 'owner' | 'date' | 'important'> {
  readonly memo?: string;
  readonly important?: boolean;
}

export interface NewAnnotation extends Stamp {
  readonly sourceId: number;
  readonly start: number;
  readonly end: number;
  readonly memo: string;
}

/**
 * Every method throws a ToolError (`code_not_found`, `source_not_found`, `invalid_position`, `conflict` for a
 * name that is taken, `validation_error`) and has then changed nothing; the transaction may go on.
 */
export interface ProjectWriter extends ProjectReader {
  addSource(source: NewSource): number;
  updateSource(
    id: number,
    patch: { readonly name?: string; readonly memo?: string; readonly transcriptId?: number | null },
  ): void;
  addCategory(category: NewCategory): number;
  addCode(code: NewCode): number;
  updateCode(
    id: number,
    patch: {
      readonly name?: string;
      readonly color?: string;
      readonly memo?: string;
      readonly categoryId?: number | null;
      readonly parentId?: number | null;
    },
  ): void;
  /** Removes the code and everything coded with it. */
  removeCode(id: number): { readonly codings: number };
  /** Moves every coding to the target, joins those that would be the same, keeps both memos, removes the source code. */
  mergeCodes(sourceId: number, targetId: number): { readonly moved: number; readonly joined: number };
  /** `created` is false when the same owner already has this code on exactly this range. */
  addCoding(coding: NewCoding): { readonly id: number; readonly created: boolean };
  updateCoding(id: number, patch: { readonly memo?: string; readonly important?: boolean }): void;
  removeCoding(id: number): void;
  addImageCoding(coding: NewImageCoding): number;
  addMediaCoding(coding: NewMediaCoding): number;
  addAnnotation(annotation: NewAnnotation): number;
  addCase(item: Stamp & { readonly name: string; readonly memo?: string }): number;
  updateCase(id: number, patch: { readonly memo: string }): void;
  addCaseText(
    item: Stamp & {
      readonly caseId: number;
      readonly sourceId: number;
      readonly start: number;
      readonly end: number;
      readonly memo?: string;
    },
  ): number;
  /** Makes the type when it is new and gives every case, file or journal its empty value, as QualCoder expects. */
  addAttributeType(
    type: Stamp & {
      readonly name: string;
      readonly scope: AttributeScope;
      readonly valueType: 'character' | 'numeric';
      readonly memo?: string;
    },
  ): void;
  setAttribute(
    item: Stamp & {
      readonly name: string;
      readonly scope: AttributeScope;
      readonly targetId: number;
      readonly value: string;
    },
  ): void;
  addJournal(item: Stamp & { readonly name: string; readonly entry: string }): number;
  setProjectMemo(memo: string): void;
}

/** Who makes a change and why; kept with the undo record and as provenance of every row it adds. */
export interface ChangeBy {
  /** The call this change belongs to, or a fresh id for work from the command line. */
  readonly callId: string;
  readonly tool: string;
  /** Written into the owner column: the coder's name as QualCoder shows it. */
  readonly owner: string;
  /** `agent:local`, `person:ada`: see principalName. */
  readonly principal: string;
  readonly approvedBy?: string;
  /** What produced the content when that was a model or a local method (`lexical`, `embeddings`, a model's name). */
  readonly method?: string;
  readonly confidence?: number;
  readonly rationale?: string;
}

export interface ProjectStore extends ProjectReader {
  /**
   * Runs `work` in one transaction. Takes QualCoder's lock file, makes the day's backup before the first change,
   * keeps what undo needs. When `work` throws, nothing at all has changed. Work on much lets others have their turn in between:
   * they read the project as it was, and their changes wait.
   */
  /** `sourceIds`: sources whose text the work reads; long ones are read before it, without keeping others waiting. */
  write<T>(
    by: ChangeBy,
    work: (project: ProjectWriter) => T | Promise<T>,
    sourceIds?: readonly number[],
  ): Promise<T>;
  close(): void;
}

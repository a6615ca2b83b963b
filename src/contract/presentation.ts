import type { PreviewFile } from './preview.ts';

// One presentation for everything that shows a call to a person: inbox, command line, dialog, notification, activity.
// A tool writes a `PresentationDraft` in `Tool.present`; the kernel completes it to a `Presentation`, and makes one from
// the schema for tools without. Texts are plain: no HTML, no Markdown, no IDs where a name is known.

/** Longest title in characters, its environment included. */
export const TITLE_MAX = 70;

/** Live: real accounts and data. Sandbox: a service without consequences. Local: this machine. */
export const ENVIRONMENTS = ['live', 'sandbox', 'local'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

/** What the icon of a call stands for. */
export type PresentationKind =
  | 'post'
  | 'message'
  | 'reaction'
  | 'account'
  | 'code'
  | 'issue'
  | 'check'
  | 'file'
  | 'passage'
  | 'label'
  | 'server'
  | 'schedule'
  | 'money'
  | 'call';

/** Where the call acts. */
export interface PresentationTarget {
  /** Such as `account`, `repository`, `project`, `server`. */
  readonly kind: string;
  /** As people name it: `@acme`, `acme/cart`, `Remote work 2026`. */
  readonly label: string;
  readonly detail?: string;
  readonly environment: Environment;
}

/** Danger is for what destroys or moves money; a note is worth reading. */
export interface RiskNote {
  readonly level: 'danger' | 'note';
  readonly text: string;
}

/** A short statement with a second line. */
export interface PresentationFact {
  readonly text: string;
  readonly detail?: string;
}

export interface PresentationUndo {
  /** Null: not known. */
  readonly possible: boolean | null;
  readonly text: string;
  readonly detail?: string;
}

/** Whose words a block contains. `server`: a third-party server claims it. */
export type Source = 'countersign' | 'agent' | 'person' | 'server' | 'remote';

export interface Author {
  readonly name: string;
  /** With its sign: `@acme`. */
  readonly handle?: string;
}

/** Something that already exists and that the call refers to, such as the post being replied to. */
export interface QuotedText {
  readonly author: Author | null;
  readonly text: string;
  /** RFC 3339. */
  readonly at?: string;
}

export interface Length {
  readonly used: number;
  readonly of: number;
}

/** One argument as a person reads it. */
export interface FieldRow {
  /** As the schema writes it; parts of a value are indented by `depth`. */
  readonly name: string;
  readonly label: string;
  readonly depth: number;
  readonly type: 'text' | 'number' | 'yes/no' | 'time' | 'id' | 'list' | 'group' | 'code' | 'none';
  readonly text: string;
  /** What the value means (`30 s`), or how it departs from the schema (`default is true`). */
  readonly note?: string;
  /** Worth a second look. */
  readonly warn?: boolean;
  /** The exact value where `text` shortens it: for tooltips and the JSON tab, never for the default view. */
  readonly exact?: string;
}

export interface CheckRow {
  readonly label: string;
  readonly result: string;
  readonly detail?: string;
  readonly state: 'passed' | 'failed' | 'warning' | 'unknown';
}

/** One part of the body. A page that does not know a type shows its `title` and the exact arguments. */
export type PresentationBlock =
  | {
      readonly type: 'post';
      readonly title?: string;
      readonly author: Author | null;
      readonly text: string;
      readonly length?: Length;
      /** `reply`: stands above the text; `quote`: inside of it. */
      readonly context?: QuotedText & { readonly as: 'reply' | 'quote' };
      /** One line per attached file. */
      readonly media?: readonly string[];
      /** RFC 3339, for a scheduled post. */
      readonly at?: string;
    }
  | {
      readonly type: 'thread';
      readonly title?: string;
      readonly author: Author | null;
      readonly posts: readonly { readonly text: string; readonly length?: Length }[];
      readonly media?: readonly string[];
      readonly at?: string;
    }
  | {
      /** A direct message, an order to an assistant, a comment. */
      readonly type: 'message';
      readonly title?: string;
      readonly from: Author | null;
      readonly to: readonly Author[];
      readonly text: string;
      readonly context?: readonly QuotedText[];
    }
  | {
      /** Text that already exists and is acted on: a post that is liked, an issue that is closed. */
      readonly type: 'quote';
      readonly title?: string;
      readonly quoted: QuotedText;
    }
  | {
      /** Longer text with a heading, such as an issue or a memo. */
      readonly type: 'document';
      readonly title?: string;
      readonly heading?: string;
      readonly text: string;
      readonly labels?: readonly string[];
      readonly source: Source;
    }
  | {
      readonly type: 'diff';
      readonly title?: string;
      readonly base_commit: string;
      readonly files: readonly PreviewFile[];
    }
  | {
      readonly type: 'passage';
      readonly title?: string;
      readonly source_name: string;
      readonly before: string;
      readonly text: string;
      readonly after: string;
      /** Characters from the start of the source, and its first line. */
      readonly line?: number;
      readonly code?: { readonly name: string; readonly color: string | null };
      /** Codings of people or agents that overlap the passage. */
      readonly codings?: readonly {
        readonly name: string;
        readonly color: string | null;
        readonly by?: string;
      }[];
    }
  | {
      readonly type: 'table';
      readonly title?: string;
      readonly columns: readonly string[];
      readonly rows: readonly (readonly string[])[];
      /** Rows that are not listed. */
      readonly more?: number;
      readonly source: Source;
    }
  | {
      readonly type: 'fields';
      readonly title?: string;
      readonly rows: readonly FieldRow[];
      readonly source: Source;
    }
  | { readonly type: 'checks'; readonly title?: string; readonly rows: readonly CheckRow[] }
  | {
      readonly type: 'notice';
      readonly title?: string;
      readonly level: 'danger' | 'note';
      readonly text: string;
    };

/** What a tool says about one of its calls. All but the title has a default. */
export interface PresentationDraft {
  /** Verb, object, place (`Post to @acme`). The environment is appended and the whole cut to `TITLE_MAX`. */
  readonly title: string;
  /** The same in the past tense, for the activity: `Posted to @acme`. */
  readonly done?: string;
  /** The verb on the button: `Approve and post`. */
  readonly act?: string;
  /** The main content in one line, for lists: the text of a post. */
  readonly gist?: string;
  readonly kind?: PresentationKind;
  readonly target?: PresentationTarget;
  readonly effect?: PresentationFact;
  readonly undo?: PresentationUndo;
  readonly risks?: readonly (RiskNote | string)[];
  readonly body?: readonly PresentationBlock[];
  /** Arguments that title, facts and body already show; the others are listed after the body, so nothing is hidden. */
  readonly covers?: readonly string[];
}

/** What everything that shows a call reads. */
export interface Presentation {
  readonly title: string;
  readonly done: string;
  readonly act: string;
  readonly gist: string | null;
  readonly kind: PresentationKind;
  readonly target: PresentationTarget;
  readonly effect: PresentationFact;
  readonly undo: PresentationUndo;
  readonly risks: readonly RiskNote[];
  readonly body: readonly PresentationBlock[];
  /** Made from the schema alone. */
  readonly generic: boolean;
  /** It moves money; like a destructive call it is never remembered and never decided in bulk. */
  readonly money: boolean;
}

/** How much of a limit is used. A full one refuses the call. */
export interface LimitUse {
  readonly key: string;
  readonly used: number;
  readonly of: number;
  readonly period_seconds: number;
}

/** A presentation with what the kernel knows of the request; made when it is shown. */
export interface ApprovalPresentation extends Presentation {
  /** The requester's words; null when it gave none. */
  readonly reason: { readonly text: string; readonly by: string } | null;
  /** Why a person is asked. */
  readonly rule: { readonly id: string; readonly title: string; readonly sentence: string };
  /** How earlier calls of this tool by this requester were decided; null before the first. */
  readonly usual: { readonly approved: number; readonly of: number } | null;
  /** Every limit that the call counts in, of the policy and of its toolkit, the fullest first. */
  readonly limits: readonly LimitUse[];
  readonly needs_signature: boolean;
  /** Whether a standing approval could answer such a call, and if not, why. */
  readonly remember: { readonly possible: boolean; readonly why: string | null };
  /** Set where the call can no longer succeed as it was asked: why, as of now. */
  readonly stale: string | null;
}

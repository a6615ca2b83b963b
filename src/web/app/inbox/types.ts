import type { Json, JsonRecord } from '../lib/json.ts';

/** One thing that waits, or waited, as a list shows it. */
export interface Brief {
  readonly id: number;
  readonly version: number;
  readonly kind: 'call' | 'permit';
  readonly state: string;
  readonly tool: string;
  readonly effect: string;
  readonly requester: string;
  readonly summary: string;
  /** How many risk notes it has. */
  readonly risks: number;
  readonly created_at: string;
}

export interface Edit {
  readonly at: string;
  readonly editor: string;
  readonly before: JsonRecord;
  readonly after: JsonRecord;
}

export interface Item extends Omit<Brief, 'risks'> {
  readonly uuid: string;
  readonly toolkit: string;
  readonly requester_label: string | null;
  readonly reason: string;
  readonly rule: string;
  readonly risks: readonly string[];
  readonly run_id: string | null;
  readonly expires_at: string | null;
  readonly decided_at: string | null;
  readonly decided_by: string | null;
  readonly decision_reason: string | null;
  readonly feedback: string | null;
  readonly call_id: string | null;
  readonly args: JsonRecord;
  readonly context: JsonRecord;
  readonly outcome: Json;
  readonly tool_title: string;
  readonly tool_summary: string;
  readonly input_schema: JsonRecord;
  readonly edits: readonly Edit[];
  readonly undo: {
    readonly tool: string;
    readonly title: string;
    /** In how many calls. */
    readonly calls: number;
    readonly undone: boolean;
  } | null;
}

/** A change that was interrupted: nobody knows yet whether it happened. */
export interface Unsettled {
  readonly call_id: string;
  readonly tool: string;
  readonly toolkit: string;
  readonly principal: string;
  readonly at: string;
}

export interface InboxPageData {
  readonly total: number;
  readonly items: readonly Brief[];
  readonly indeterminate: readonly Unsettled[];
}

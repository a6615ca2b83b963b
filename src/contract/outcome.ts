import type { ToolFault } from './faults.ts';
import type { JsonObject, JsonValue } from './json.ts';

export interface ArtifactRef {
  /** `sha256:<hex>`: an artifact's id is the hash of its bytes. */
  readonly id: string;
  readonly name: string;
  readonly mediaType: string;
  readonly size: number;
}

/** What happened to a call. This value alone feeds the evidence, the metrics and the reply. */
export type Outcome =
  | {
      readonly status: 'ok';
      readonly data: JsonValue;
      readonly notes: JsonObject;
      readonly replayed: boolean;
      readonly content?: readonly ContentPart[];
    }
  | {
      readonly status: 'routed';
      readonly approvalId: number;
      readonly approvalUuid: string;
      readonly reason: string;
      readonly rule: string;
    }
  | {
      readonly status: 'dry_run';
      readonly data: JsonValue | undefined;
      readonly notes: JsonObject;
      readonly rule: string;
    }
  /** `about` names what the question showed; an answer counts for exactly that. */
  | { readonly status: 'needs_person'; readonly question: string; readonly about: string }
  | { readonly status: 'refused'; readonly fault: ToolFault; readonly rule: string }
  /** `notes`: what the tool had said about itself before it failed, such as which backend it asked. */
  | {
      readonly status: 'failed';
      readonly fault: ToolFault;
      readonly data?: JsonValue;
      readonly notes?: JsonObject;
    }
  | { readonly status: 'indeterminate'; readonly fault: ToolFault; readonly notes?: JsonObject };

export type OutcomeStatus = Outcome['status'];

/** Beyond text: what an assistant hands back as a file or picture. */
export type ContentPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly data: string; readonly mimeType: string }
  | { readonly type: 'audio'; readonly data: string; readonly mimeType: string }
  | {
      readonly type: 'resource';
      readonly uri: string;
      readonly mimeType: string;
      readonly text?: string;
      readonly blob?: string;
    };

/** How an unfinished change is settled after a crash. */
export type Settlement =
  | { readonly settled: 'done'; readonly data: JsonValue }
  /**
   * `left`: what stands of it all the same, for the person: where it is and what can be done about it. `resumes`: parts of
   * it may stand, and the same call sent again makes only what is missing, so that a permit for it is still to be had.
   */
  | { readonly settled: 'not_done'; readonly left?: string; readonly resumes?: boolean }
  | { readonly settled: 'unknown'; readonly why: string };

import type { ToolError } from './errors.ts';
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
  /**
   * `about` names what the question showed; an answer counts for exactly that. With `sign`, no answer counts: a person
   * signs at that address.
   */
  | {
      readonly status: 'needs_person';
      readonly question: string;
      readonly about: string;
      readonly sign?: string;
    }
  | { readonly status: 'refused'; readonly fault: ToolError; readonly rule: string }
  /** `notes`: what the tool had said about itself before it failed, such as which backend it asked. */
  | {
      readonly status: 'failed';
      readonly fault: ToolError;
      readonly data?: JsonValue;
      readonly notes?: JsonObject;
    }
  | { readonly status: 'indeterminate'; readonly fault: ToolError; readonly notes?: JsonObject };

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

/** The part of an outcome worth keeping: what a replay, an inbox or a person asks for later. */
export type OutcomeData = JsonObject & {
  readonly status: OutcomeStatus;
  readonly data?: JsonValue;
  readonly notes?: JsonObject;
  readonly code?: string;
  readonly message?: string;
  readonly detail?: JsonObject;
  readonly approval_id?: number;
  readonly approval_uuid?: string;
  readonly reason?: string;
};

export function outcomeData(outcome: Outcome): OutcomeData {
  switch (outcome.status) {
    case 'ok':
      // In the order of its canonical text, which spares sorting.
      return { data: outcome.data, notes: outcome.notes, status: 'ok' };
    case 'failed':
    case 'refused':
    case 'indeterminate':
      return {
        status: outcome.status,
        code: outcome.fault.code,
        message: outcome.fault.message,
        ...(outcome.fault.detail ? { detail: outcome.fault.detail } : {}),
        ...('data' in outcome && outcome.data !== undefined ? { data: outcome.data } : {}),
      };
    case 'routed':
      return {
        status: 'routed',
        approval_id: outcome.approvalId,
        approval_uuid: outcome.approvalUuid,
        reason: outcome.reason,
      };
    case 'dry_run':
      return { status: 'dry_run', data: outcome.data ?? null };
    case 'needs_person':
      return { status: 'needs_person' };
    default:
      return outcome satisfies never;
  }
}

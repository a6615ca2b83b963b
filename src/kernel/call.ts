import type { JsonObject, JsonValue } from '../contract/json.ts';
import type { ArtifactRef, ContentPart, Outcome } from '../contract/outcome.ts';
import type { Approval } from '../contract/ports.ts';
import type { Principal } from '../contract/principal.ts';
import type { Tool } from '../contract/tool.ts';
import type { Toolkit } from '../contract/toolkit.ts';
import type { Decision, Limit } from './policy/index.ts';

/** A tool with the toolkit it belongs to; `services` connects the toolkit on first use. */
export interface BoundTool {
  readonly tool: Tool;
  readonly toolkit: Pick<Toolkit, 'id' | 'dialect' | 'tellAgent'>;
  services(): Promise<unknown>;
}

export interface Progress {
  readonly message: string;
  readonly done: number;
  readonly total: number | undefined;
}

/**
 * Whether a person can speak for an agent that calls a `decide` tool: the transport can put a question (`can-ask`),
 * or has an answer already.
 */
export type Consent = 'can-ask' | Answer;

/** A person's yes, with the stamp of what they were shown when they gave it. */
export interface Answer {
  readonly person: Principal;
  readonly about: string;
}

/** One invocation as a transport hands it over; nothing in it is trusted but the principal. */
export interface CallRequest {
  readonly bound: BoundTool;
  readonly args: unknown;
  readonly principal: Principal;
  readonly transport: string;
  readonly client?: string;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
  readonly idempotencyKey?: string;
  readonly consent?: Consent;
  readonly reason?: string;
  /** Set only by the approval queue: this call is the execution of that approved row. */
  readonly approval?: Approval;
  /** Set only by `context.call`: the call this one is part of. */
  readonly parent?: CallState;
}

/** The working record of a call while it passes the steps. */
export interface CallState {
  readonly id: string;
  readonly request: CallRequest;
  readonly startedAt: Date;
  readonly startedMs: number;
  /** Set by validate; before that only the raw request exists. */
  args: JsonObject;
  digest: string;
  runId: string | undefined;
  dryRunRequested: boolean;
  decision: Decision | undefined;
  /** The policy's stamp when the decision was made. */
  policyStamp: string;
  limits: readonly Limit[];
  decider: Principal | undefined;
  /** The approvals a person was shown before they answered in a dialog; their answer covers no others. */
  shown: ReadonlySet<number> | undefined;
  /** The approval that satisfies `ask`: an executed row, a consumed permit, or the parent's. */
  grant: Approval | undefined;
  replayKey: string | undefined;
  replayOf: string | undefined;
  /** A call made on the way changed something, or may have: what is said of the whole must not hide it. */
  partDone: boolean;
  /** Once true, the outcome must be written durably before the reply. */
  admitted: boolean;
  readonly artifacts: ArtifactRef[];
  readonly attachments: ContentPart[];
  notes: JsonObject;
  evidenceHash: string | undefined;
}

/** What a transport gets back. */
export interface CallResult {
  readonly callId: string;
  readonly outcome: Outcome;
  readonly evidenceHash: string | undefined;
  readonly elapsedMs: number;
  readonly runId: string | undefined;
  readonly args: JsonValue;
  readonly dryRun: boolean;
}

export type Next = () => Promise<Outcome>;
export type Step = (call: CallState, next: Next) => Promise<Outcome>;

import type { ToolError } from '../../contract/errors.ts';
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import type { ArtifactRef, ContentPart, Outcome } from '../../contract/outcome.ts';
import type { Approval } from '../../contract/ports.ts';
import type { Principal } from '../../contract/principal.ts';
import type { ClientAsk, RemoteLogMessage, TaskOffer } from '../../contract/tool.ts';
import type { BoundTool } from '../../contract/toolkit.ts';
import type { StandingUse } from '../approvals/standing.ts';
import type { Decision, Limit } from '../policy/index.ts';
import type { CallTrace } from './tracing.ts';

export interface Progress {
  readonly message: string;
  readonly done: number;
  readonly total: number | undefined;
}

/**
 * Whether a person can speak for an agent that calls a `decide` tool: the transport can put a question (`can-ask`),
 * or has an answer already.
 */
export type Elicitation = 'can-ask' | Answer;

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
  /** Names a connection that lasts. */
  readonly connection?: string;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
  readonly idempotencyKey?: string;
  /** The request's own `_meta`, without what is ours. */
  readonly meta?: JsonObject;
  readonly ask?: ClientAsk;
  readonly task?: TaskOffer;
  readonly onLog?: (message: RemoteLogMessage) => void;
  readonly consent?: Elicitation;
  readonly reason?: string;
  /** Set by a transport that has no room for the call: it is refused with this, and the refusal is recorded. */
  readonly refusal?: ToolError;
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
  /** The digest of what the caller sent, before `prepare`; a repeated call is recognised by it. */
  askedDigest: string;
  isPrepared: boolean;
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
  /** How many people had to sign the approval, and did: a part that needs more of them is asked for on its own. */
  signers: number;
  /** The standing approval that answers `ask` in its place; it is counted when the call is admitted. */
  standing: StandingUse | undefined;
  replayKey: string | undefined;
  /** Until when the key answers, once it is taken; null: for as long as the evidence of its run. */
  replayUntil?: string | null;
  replayOf: string | undefined;
  /** A call made on the way changed something, or may have: what is said of the whole must not hide it. */
  partDone: boolean;
  /** Once true, the outcome must be written durably before the reply. */
  admitted: boolean;
  /** Admission failed without an answer of the database: its intent may be durable, though nothing was run. */
  intentInDoubt: boolean;
  readonly artifacts: ArtifactRef[];
  readonly attachments: ContentPart[];
  notes: JsonObject;
  /** What the tool adds to its audit entry. */
  evidence: JsonObject | undefined;
  evidenceHash: string | undefined;
  /** Set where calls are traced. */
  trace: CallTrace | undefined;
}

/** The approval that this call itself uses up; a part runs under the approval of the whole, which the whole has used. */
export const ownApproval = ({ grant, request }: CallState): Approval | undefined =>
  grant === request.parent?.grant ? undefined : grant;

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

export type Next = (call: CallState) => Promise<Outcome>;
/** A step that has nothing to wait for returns what `next` returns: an `async` function would make the call wait a turn. */
export type Step = (call: CallState, next: Next) => Promise<Outcome>;

import type { JsonObject, JsonValue } from './json.ts';
import type { Outcome } from './outcome.ts';
import type { PolicyStatus } from './policy.ts';
import type { ApprovalPresentation, Environment } from './presentation.ts';
import type { Principal } from './principal.ts';

/** A person-readable line on stderr; fields never hold arguments or secrets. */
export interface Log {
  debug(message: string, fields?: Record<string, unknown>): void;
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
}

export const APPROVAL_STATES = [
  'pending',
  'approved',
  'executing',
  'done',
  'failed',
  'indeterminate',
  'rejected',
  'expired',
  'withdrawn',
] as const;
export type ApprovalState = (typeof APPROVAL_STATES)[number];

/** `call`: approving executes it. `permit`: approving lets the matching call through once. */
export type ApprovalKind = 'call' | 'permit';

/** Which pending calls a dialog in the client decides: those that stay local and can be undone, all, or none. */
export const DIALOG_MODES = ['local', 'all', 'off'] as const;
export type DialogMode = (typeof DIALOG_MODES)[number];

/** Where a person decides, as agents are told: by its address, never by a command that they could run themselves. */
export const describeInbox = (url: string | undefined): string =>
  url === undefined
    ? 'the Countersign inbox (a person starts it with `countersign up`)'
    : `the inbox at ${url}`;

export interface Approval {
  readonly id: number;
  readonly uuid: string;
  readonly kind: ApprovalKind;
  readonly state: ApprovalState;
  readonly tool: string;
  readonly toolkit: string;
  readonly effect: string;
  readonly args: JsonObject;
  readonly digest: string;
  readonly binding: JsonObject | undefined;
  readonly requester: Principal;
  readonly reason: string;
  readonly rule: string;
  /** The title of its presentation. */
  readonly summary: string;
  /** The main content of the call in one line. */
  readonly gist: string | undefined;
  /** Where it acts; undefined for what was asked before presentations were stored. */
  readonly environment: Environment | undefined;
  /** How many people must sign it, as far as known when it was queued or edited. */
  readonly signers: number;
  readonly risks: readonly string[];
  /** What the proposer adds: rationale, confidence, batch id, kind of suggestion. */
  readonly context: JsonObject;
  readonly runId: string | undefined;
  readonly groupId: string | undefined;
  readonly createdAt: Date;
  readonly expiresAt: Date | undefined;
  readonly decidedAt: Date | undefined;
  readonly decidedBy: Principal | undefined;
  readonly decisionReason: string | undefined;
  readonly feedback: string | undefined;
  readonly callId: string | undefined;
  readonly outcome: JsonValue | undefined;
  readonly version: number;
}

/** A stored approval of which a column cannot be read: shown as such, never approved and never run. */
export interface DamagedApproval
  extends Pick<Approval, 'id' | 'version' | 'tool' | 'toolkit' | 'effect' | 'signers' | 'runId'> {
  /** As stored: these may be what is damaged. */
  readonly state: string;
  readonly requester: string;
  /** The first column that cannot be read. */
  readonly damaged: string;
}

export const isDamaged = (one: Approval | DamagedApproval): one is DamagedApproval => 'damaged' in one;

export const isReadable = (one: Approval | DamagedApproval): one is Approval => !isDamaged(one);

export const describeDamaged = ({ id }: Pick<DamagedApproval, 'id'>): string =>
  `Approval ${id} cannot be read. Run \`countersign audit verify\`.`;

/** How a list marks what its row says otherwise than the audit log. */
export const DIFFERS = 'Differs from the log';

/** In place of its title, which may be what was changed. */
export const describeForged = ({ id }: Pick<Approval, 'id'>): string =>
  `Approval ${id} differs from the log. Run \`countersign audit verify\`.`;

/** An approval in one line of text, where its title alone would not say what a post says. */
export const describeAsked = ({ summary, gist }: Pick<Approval, 'summary' | 'gist'>): string =>
  gist === undefined ? summary : `${summary}: ${gist}`;

export interface Proposal {
  readonly tool: string;
  readonly args: JsonObject;
  readonly requester: Principal;
  readonly reason: string;
  readonly summary?: string;
  readonly risks?: readonly string[];
  readonly context?: JsonObject;
  readonly runId?: string;
  /** Ties the items of one batch together. */
  readonly groupId?: string;
  /** Undefined: the configured time; null: never (research suggestions). */
  readonly expiresAt?: Date | null;
  readonly kind?: ApprovalKind;
}

export interface ApprovalFilter {
  readonly states?: readonly ApprovalState[];
  readonly toolkit?: string;
  readonly toolkits?: readonly string[];
  readonly tools?: readonly string[];
  readonly groupId?: string;
  readonly environments?: readonly Environment[];
  readonly effects?: readonly string[];
  /** Only what must be signed with a passkey. */
  readonly signed?: true;
  readonly runId?: string;
  readonly askedSince?: Date;
  readonly askedBefore?: Date;
  /** Found in the title, the main content, the reason, the tool or the arguments; case does not matter. */
  readonly text?: string;
  readonly requesters?: readonly Principal[];
  /** What this reader may see: see `isShownTo`; for an agent also what it may decide, where agents may decide at all. */
  readonly shownTo?: Principal;
  readonly kind?: ApprovalKind;
  readonly digest?: string;
  /** Only rows filed after this one: a reader that remembers the rest does not read it again. */
  readonly afterId?: number;
  /** Only rows up to this one: a list that a person reads does not grow under their eyes. */
  readonly upToId?: number;
  readonly decidedSince?: Date;
  /** For people to read: title and content as they are now, where that is known on this machine. */
  readonly fresh?: boolean;
  readonly limit?: number;
  readonly offset?: number;
  /**
   * `danger`: what must be signed, what destroys or moves money, what has risks, what is live, the rest; newest first
   * within each. The last two keep each group together.
   */
  readonly order?: 'newest' | 'oldest' | 'danger' | 'requester' | 'run';
}

export interface Decided {
  readonly approval: Approval;
  /** What executing it gave; undefined for a permit, which the matching call consumes later. */
  readonly outcome: Outcome | undefined;
}

export interface ApproveOptions {
  readonly note?: string;
  /** The one the decider looked at; a row that was edited since is not approved. */
  readonly version?: number;
  /** The person also makes the call that lets it run, such as opening its project. */
  readonly prepare?: boolean;
}

/** The one queue of approvals. Ids may be the integer (as number or text) or the uuid. */
export interface ApprovalsPort {
  propose(proposal: Proposal): Promise<Approval>;
  /** Throws `db_error` where the row cannot be read. */
  get(id: string | number): Promise<Approval | undefined>;
  /** Without rows that cannot be read, so a page can be short; see `page`. */
  list(filter: ApprovalFilter): Promise<readonly Approval[]>;
  /** The same with the rows that cannot be read, each in its place: for people, and for reading page by page. */
  page(filter: ApprovalFilter): Promise<readonly (Approval | DamagedApproval)[]>;
  count(filter: ApprovalFilter): Promise<number>;
  /** How a person sees the call: resolved again while it is pending, afterwards as it was stored. */
  present(approval: Approval): Promise<ApprovalPresentation>;
  /** The same with its text as this reader may see it; see `Toolkit.redactForAgent`. */
  tell(approval: Approval, reader: Principal): Promise<Approval>;
  /** Where a person decides it, or all of them, in words for an agent; see `describeInbox`. */
  inbox(id?: number): Promise<string>;
  approve(id: string | number, by: Principal, options?: ApproveOptions): Promise<Decided>;
  /** Throws what `approve` would refuse now, and decides nothing. */
  requireApprovable(id: string | number, by: Principal, options?: ApproveOptions): Promise<Approval>;
  /** A person can also reject what cannot be read, unless its requester is what is damaged. */
  reject(
    id: string | number,
    by: Principal,
    options?: { readonly reason?: string; readonly feedback?: string },
  ): Promise<Approval | DamagedApproval>;
  /**
   * Rejects everything pending that the filter matches, in one transaction, with what cannot be read; one whose requester
   * is damaged stays. `total`: how many the person saw; when another number matches by now, nothing is decided. Returns
   * how many were rejected.
   */
  rejectMatching(
    filter: ApprovalFilter,
    by: Principal,
    options: { readonly total: number; readonly reason?: string; readonly feedback?: string },
  ): Promise<number>;
  edit(id: string | number, by: Principal, args: JsonObject): Promise<Approval>;
  withdraw(id: string | number, by: Principal): Promise<Approval>;
}

export interface CallRecord {
  readonly callId: string;
  /** Where the stored time cannot be read: the one that the ID begins with. */
  readonly at: Date;
  readonly tool: string;
  readonly toolkit: string;
  readonly category: string;
  readonly effect: string;
  readonly principal: string;
  readonly client: string | undefined;
  readonly transport: string;
  readonly runId: string | undefined;
  readonly digest: string;
  readonly status: string;
  readonly code: string | undefined;
  readonly decision: string;
  readonly rule: string | undefined;
  readonly latencyMs: number;
  readonly evidenceHash: string | undefined;
  readonly approvalId: number | undefined;
  readonly replayOf: string | undefined;
}

export interface CallFilter {
  readonly tool?: string;
  readonly toolkit?: string;
  readonly principal?: string;
  readonly statuses?: readonly string[];
  readonly effects?: readonly string[];
  readonly runId?: string;
  readonly since?: Date;
  readonly until?: Date;
  /** Words of the title, the main content, the arguments or the kept result; all must occur, in any order. */
  readonly text?: string;
  readonly limit?: number;
  readonly offset?: number;
}

/** What a call was given and gave back, as far as it is still kept. */
export interface CallDetail extends CallRecord {
  readonly args: JsonValue | undefined;
  readonly result: JsonValue | undefined;
  readonly startedAt: Date;
  readonly finishedAt: Date | undefined;
}

export interface ToolMetrics {
  readonly tool: string;
  readonly category: string;
  readonly totalCalls: number;
  readonly successCount: number;
  readonly failureCount: number;
  readonly avgMs: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly minMs: number;
  readonly maxMs: number;
}

export interface TelemetryPort {
  calls(filter: CallFilter): Promise<readonly CallRecord[]>;
  call(callId: string): Promise<CallDetail | undefined>;
  /** Whether a call by this principal stored the artifact. */
  hasArtifact(principal: Principal, artifact: string): Promise<boolean>;
  metrics(since: Date, toolkit?: string): Promise<readonly ToolMetrics[]>;
  errors(
    since: Date,
    toolkit?: string,
  ): Promise<readonly { tool: string; code: string; count: number; lastAt: Date }[]>;
}

export interface ProvenEntry {
  readonly seq: number;
  /** The exact text the leaf hash is over. */
  readonly body: string;
  readonly path: readonly string[];
}

/** Everything needed to check a call's entries without the store. */
export type ProofFile = {
  /** Version 2 also proves who signed the approval. */
  readonly format: 'countersign-proof/1' | 'countersign-proof/2';
  readonly call: string;
  readonly entries: readonly ProvenEntry[];
  /** Of version 2: the decision, its signatures, and every entry about keys. */
  readonly support?: readonly ProvenEntry[];
  readonly size: number;
  readonly checkpoint: string;
  readonly publicKey: string;
};

export interface AuditPort {
  /** The entries of a call with an inclusion proof each, or undefined when the call left none. */
  proof(callId: string): Promise<ProofFile | undefined>;
  /** Where what is stored about a call differs from its entries; empty when they agree. */
  differences(callId: string): Promise<readonly string[]>;
  checkpoint(): Promise<string | undefined>;
}

export interface LimitUsage {
  readonly key: string;
  readonly dimension: string;
  readonly match: string;
  readonly max: number;
  readonly used: number;
  readonly periodSeconds: number;
  readonly periodStart: Date;
  readonly resetAt: Date;
}

export interface PolicyPort {
  status(): Promise<PolicyStatus>;
  limits(): Promise<readonly LimitUsage[]>;
  /** What would be said to this call now. Nothing is run, counted or written down. */
  evaluate(tool: string, args: JsonObject, principal: Principal): Promise<Verdict | undefined>;
}

export interface Verdict {
  readonly action: 'allow' | 'ask' | 'dry_run' | 'deny';
  readonly rule: string;
  readonly reason: string;
}

export interface ConfigPort {
  /** The whole configuration with every secret masked. */
  masked(): JsonObject;
  /** What is wrong with it, if anything: one line each. */
  problems(): Promise<readonly { path: string; message: string }[]>;
  readonly path: string;
}

export interface HealthPort {
  check(): Promise<JsonObject>;
}

export interface LeasePort {
  /** Takes or renews a named lease for this process; false when another holds it. */
  acquire(name: string, ttlMs: number): Promise<boolean>;
  release(name: string): Promise<void>;
}

export interface EventsPort {
  /**
   * Delivered to every open page of every process on this store; answers how many pages listen, and how many of them
   * show the place.
   */
  publish(
    topic: string,
    data: JsonObject,
    place?: string,
  ): Promise<{ readonly listeners: number; readonly watching: number }>;
}

export interface ArtifactsPort {
  read(id: string): Promise<Uint8Array | undefined>;
  write(
    name: string,
    mediaType: string,
    body: string | Uint8Array,
  ): Promise<{ readonly id: string; readonly size: number }>;
}

/** What toolkits may use of the kernel. Nothing here runs a tool outside the pipeline. */
export interface KernelPorts {
  readonly approvals: ApprovalsPort;
  readonly telemetry: TelemetryPort;
  readonly audit: AuditPort;
  readonly policy: PolicyPort;
  readonly config: ConfigPort;
  readonly health: HealthPort;
  readonly leases: LeasePort;
  readonly events: EventsPort;
  readonly artifacts: ArtifactsPort;
  /** Enters the pipeline at the top, as the scheduler does. Only the system, or the assistant as itself. */
  invoke(tool: string, args: JsonObject, principal: Principal, options?: InvokeOptions): Promise<Outcome>;
  /** The tools the current exposure offers, for runtimes that hand tools to a model. */
  tools(): readonly ToolOffer[];
}

export interface ToolOffer {
  readonly name: string;
  readonly summary: string;
  readonly effect: string;
  readonly toolkit: string;
  readonly inputJson: JsonObject;
}

export interface InvokeOptions {
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
  readonly reason?: string;
}

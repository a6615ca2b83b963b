import type { JsonObject, JsonSchema, JsonValue } from '../../contract/json.ts';
import type { ProofFile } from '../../contract/ports.ts';
import type { ApprovalPresentation, Environment, FieldRow } from '../../contract/presentation.ts';
import type { StandingDraft, StandingTest, StandingView } from '../../contract/standing.ts';

// What the pages of the core show: the routes give it, the web app reads it as types.

/** One thing that waits, or waited, as a list shows it. */
export interface Brief {
  /** Its row cannot be read: the summary says so, and no other text or date of it is known. */
  readonly damaged?: true;
  /** Its row is not what the audit log has. */
  readonly differs?: true;
  readonly id: number;
  readonly version: number;
  readonly kind: 'call' | 'permit';
  readonly state: string;
  readonly tool: string;
  readonly effect: string;
  readonly requester: string;
  /** The principal whose order the requester carries out. */
  readonly ordered_by: string | null;
  readonly toolkit: string;
  /** The title of its presentation: at most 70 characters, with its environment. */
  readonly summary: string;
  /** The main content in one line. */
  readonly gist: string | null;
  /** Null for what was asked before presentations were stored. */
  readonly environment: Environment | null;
  readonly first_risk: string | null;
  /** How many people must sign it with a passkey. */
  readonly signers: number;
  readonly run_id: string | null;
  /** How many risk notes it has. */
  readonly risks: number;
  readonly created_at: string;
}

export interface Edit {
  readonly at: string;
  readonly editor: string;
  readonly before: JsonObject;
  readonly after: JsonObject;
}

/** One approval with its exact call, as a decision on it gives it back. */
export interface ApprovalData extends Omit<Brief, 'risks' | 'damaged'> {
  readonly uuid: string;
  readonly requester_label: string | null;
  readonly reason: string;
  readonly rule: string;
  readonly risks: readonly string[];
  readonly expires_at: string | null;
  readonly decided_at: string | null;
  readonly decided_by: string | null;
  readonly decision_reason: string | null;
  readonly feedback: string | null;
  readonly call_id: string | null;
  readonly args: JsonObject;
  readonly context: JsonObject;
  readonly outcome: JsonValue;
  readonly group_id: string | null;
}

/** What is known of an approval whose row cannot be read. */
export interface DamagedData {
  readonly id: number;
  readonly state: string;
  readonly damaged: true;
  readonly summary: string;
}

/** One approval with everything a person reads before they decide. */
export interface Item extends ApprovalData {
  readonly tool_title: string;
  readonly tool_summary: string;
  readonly input_schema: JsonSchema;
  readonly edits: readonly Edit[];
  /** Everything a person reads before they decide; resolved again for each request while it is pending. */
  readonly presentation: ApprovalPresentation;
  /** Where the stored row differs from the audit entries of the approval. */
  readonly differences: readonly string[];
  /** Who approved this version of it; it runs at `held_until` unless it is called off or decided otherwise. */
  readonly held_by: string | null;
  readonly held_until: string | null;
  /** How many people must sign it with a passkey, and who has. */
  readonly signing: {
    readonly required: number;
    readonly signed: readonly string[];
    /** Those with a passkey who have not signed yet. */
    readonly people: readonly string[];
  };
  readonly undo: {
    readonly tool: string;
    readonly title: string;
    /** In how many calls. */
    readonly calls: number;
    readonly undone: boolean;
  } | null;
}

/** An approved call on hold: exactly this version of it. */
export interface HeldItem {
  readonly id: number;
  readonly version: number;
  readonly title: string;
  /** What is said of it once it is done. */
  readonly done: string;
}

/** What came of one approval; `error` where it was not decided. */
export interface DecisionResult {
  readonly id: number;
  readonly state?: string;
  readonly result?: { readonly message?: string; readonly hint?: string } | null;
  readonly error?: string;
  readonly code?: string;
  readonly hint?: string | null;
  /** It is approved and waits in the hold with this key. */
  readonly held?: string;
}

/** Approved together, and run together when the time is over. */
export interface HoldView {
  readonly key: string;
  readonly state: 'held' | 'running' | 'ran' | 'called_off';
  readonly items: readonly HeldItem[];
  readonly until: string;
  readonly left_ms: number;
  /** Of the whole hold. */
  readonly hold_ms: number;
  /** One for each item, once it ran. */
  readonly results: readonly DecisionResult[];
}

/** `POST /inbox/:id/approve`; without holds where nothing is held. */
export interface ApprovedData extends DecisionResult {
  readonly holds?: readonly HoldView[];
}

/** `POST /inbox/:id/undo`; the outcome of the call that failed, where one did. */
export interface UndoneData {
  readonly undone: boolean;
  readonly done: number;
  readonly of: number;
  readonly outcome?: JsonObject;
}

/** `GET /decisions/last`: what the signed-in person decided last, on any page, and whether it can be undone. */
export interface LastDecision {
  /** `held` and `running` are not in the audit log yet; `called_off` never will be. */
  readonly kind: 'held' | 'running' | 'called_off' | 'approved' | 'rejected';
  /** Of the first, where several were approved together. */
  readonly id: number;
  readonly title: string;
  readonly gist: string | null;
  readonly count: number;
  readonly at: string;
  /** The key of the hold. */
  readonly hold: string | null;
  readonly undo: Item['undo'];
}

/** `POST /inbox/approve`. */
export interface ApprovedTogetherData {
  readonly results: readonly DecisionResult[];
  readonly holds?: readonly HoldView[];
}

/** `GET /holds`: those of the signed-in person in the order in which they began, with those that have just ended. */
export interface HoldsData {
  readonly holds: readonly HoldView[];
}

/** `GET /standing/draft/:approval`: the exact call again, what it says, and what it would have answered. */
export interface StandingDraftData extends StandingTestData {
  readonly draft: StandingDraft;
}

/** `POST /standing/test`. */
export interface StandingTestData {
  readonly sentence: string;
  readonly test: StandingTest;
}

/** `GET /standing`. */
export interface StandingData {
  readonly standing: readonly StandingView[];
}

/** A change that was interrupted: its outcome is not yet known. */
export interface Unsettled {
  readonly call_id: string;
  /** What it was to do, in words. */
  readonly title: string;
  readonly tool: string;
  readonly toolkit: string;
  readonly principal: string;
  readonly at: string;
}

export interface InboxPageData {
  readonly total: number;
  /** The newest approval there was: give it as `until` to page through the same list. */
  readonly as_of: number;
  /** How many more the filter matches that were asked after `until`. */
  readonly newer: number;
  readonly items: readonly Brief[];
  /** How many stand under each heading; by risk the headings have numbers, the gravest first. */
  readonly groups: readonly { readonly value: string; readonly count: number }[];
  /** With `facets=1`: how many of the filter each value has, most first; an age is `newer 1h`. */
  readonly facets?: Readonly<
    Record<
      'requester' | 'tool' | 'toolkit' | 'environment' | 'effect' | 'run_id' | 'signature' | 'age',
      readonly { readonly value: string; readonly count: number }[]
    >
  >;
  readonly indeterminate: readonly Unsettled[];
}

export interface InsightsData {
  readonly from: string;
  readonly bucket: 'hour' | 'day';
  readonly series: readonly {
    readonly at: string;
    readonly calls: number;
    readonly errors: number;
    readonly latency_ms: number;
  }[];
  readonly approvals: readonly { readonly at: string; readonly state: string; readonly count: number }[];
  readonly tools: readonly {
    readonly tool: string;
    readonly totalCalls: number;
    readonly failureCount: number;
    readonly p50Ms: number;
    readonly p95Ms: number;
    readonly maxMs: number;
  }[];
  readonly errors: readonly {
    readonly tool: string;
    readonly code: string;
    readonly count: number;
    readonly lastAt: string;
  }[];
}

export interface Call {
  readonly call_id: string;
  readonly at: string;
  /** What happened in words, or what was asked for where it did not. */
  readonly title: string;
  /** The main content in one line. */
  readonly gist: string | null;
  /** Null where it is not known. */
  readonly environment: Environment | null;
  readonly tool: string;
  readonly toolkit: string;
  readonly category: string;
  readonly effect: string;
  readonly principal: string;
  readonly client: string | null;
  readonly transport: string;
  readonly run_id: string | null;
  readonly status: string;
  readonly code: string | null;
  readonly decision: string;
  readonly rule: string | null;
  readonly latency_ms: number;
  readonly evidence_hash: string | null;
  readonly approval_id: number | null;
  /** How the approval stands that it asked for, or ran under. */
  readonly approval_state: string | null;
  readonly replay_of: string | null;
}

/** One call in `GET /activity`. */
export interface ListedCall extends Call {
  /** What is stored about it is not what its entries say, or it has none. */
  readonly differs: boolean;
}

/** One call with its evidence. */
export interface CallDetail extends Call {
  readonly args: JsonValue;
  readonly result: JsonValue;
  /** The arguments as a person reads them. */
  readonly fields: readonly FieldRow[];
  readonly tool_title: string;
  readonly rule_title: string | null;
  readonly undo: Item['undo'];
  readonly finished_at: string | null;
  readonly proof: ProofFile | null;
  /** Where the stored row, arguments or result differ from the entries of the call. */
  readonly differences: readonly string[];
}

/** One step of a call's story; each comes from one audit entry. */
export interface StoryStep {
  readonly kind: 'asked' | 'evaluated' | 'edited' | 'decided' | 'began' | 'ended' | 'settled' | 'undone';
  readonly at: string;
  /** The principal, as the log names it. */
  readonly by: string | null;
  readonly text: string;
  readonly detail: string | null;
  /** The rule that decided, for an evaluation. */
  readonly rule: string | null;
  /** The arguments before and after an edit, where they are still stored and match the digests in the entry. */
  readonly change: { readonly before: JsonObject; readonly after: JsonObject } | null;
  /** The call that the entry is about. */
  readonly call_id: string | null;
  /** The entry's hash, and whether the stored entry still matches it. Its inclusion proof is in `CallDetail.proof`. */
  readonly entry: { readonly hash: string; readonly valid: boolean };
}

/** `GET /activity/:id/story`. */
export interface CallStory {
  readonly call_id: string;
  readonly title: string;
  readonly approval_id: number | null;
  readonly steps: readonly StoryStep[];
  /** How many entries it was computed from. */
  readonly entries: number;
  /** There are entries, and all it was computed from are unchanged. */
  readonly valid: boolean;
}

export interface Agent {
  readonly name: string;
  readonly created_at: string;
  readonly revoked_at: string | null;
  readonly paused_by?: string | null;
  readonly damaged?: string;
}

/** One agent in `GET /agents/overview`. */
export interface AgentBrief {
  readonly name: string;
  readonly principal: string;
  /** The client that it last used, as that client calls itself. */
  readonly client: string | null;
  /** Set where the row of its token cannot be read: what to show. */
  readonly damaged?: string;
  /** Null for names without a token. */
  readonly token_since: string | null;
  readonly revoked_at: string | null;
  readonly paused_by: string | null;
  readonly last_call_at: string | null;
  /** Calls of each of the last 14 days, oldest first; counting stops at a limit. */
  readonly days: readonly number[];
  /** Of the calls that people decided in these days. */
  readonly decisions: {
    readonly asked: number;
    readonly approved: number;
    readonly edited: number;
    readonly rejected: number;
    readonly pending: number;
  };
}

export interface AgentsData {
  readonly agents: readonly AgentBrief[];
  readonly days: number;
}

/** `GET /agents/:name/overview`. */
export interface AgentDetail extends AgentBrief {
  readonly refused: { readonly by_policy: number; readonly by_limit: number };
  /** Changes it may make without a person, as policy stands, by toolkit. */
  readonly alone: readonly {
    readonly toolkit: string;
    readonly title: string;
    readonly tools: readonly { readonly tool: string; readonly title: string; readonly depends: boolean }[];
  }[];
  readonly reads: { readonly allowed: number; readonly of: number };
  readonly standing: readonly StandingView[];
  readonly last: readonly {
    readonly approval_id: number;
    readonly call_id: string | null;
    readonly title: string;
    readonly gist: string | null;
    readonly state: string;
    readonly edited: boolean;
    readonly decided_at: string | null;
    readonly decided_by: string | null;
    readonly reason: string | null;
  }[];
}

import type { Generated } from 'kysely';

/** The kernel's tables. Times are ISO-8601 text, booleans 0/1, JSON text: the same on both engines. */
export interface Tables {
  calls: CallsTable;
  idempotency: IdempotencyTable;
  counters: CountersTable;
  leases: LeasesTable;
  settings: SettingsTable;
  agents: AgentsTable;
  approvals: ApprovalsTable;
  approval_edits: ApprovalEditsTable;
  approval_previews: ApprovalPreviewsTable;
  standing_approvals: StandingApprovalsTable;
  audit_log: AuditLogTable;
  audit_nodes: AuditNodesTable;
  audit_head: AuditHeadTable;
  audit_checkpoints: AuditCheckpointsTable;
  audit_payloads: AuditPayloadsTable;
  artifacts: ArtifactsTable;
  call_artifacts: CallArtifactsTable;
  events: EventsTable;
  listeners: ListenersTable;
  web_sessions: WebSessionsTable;
  holds: HoldsTable;
  call_stats: CallStatsTable;
  call_stats_head: CallStatsHeadTable;
  call_words_head: CallStatsHeadTable;
  passkey_requests: PasskeyRequestsTable;
  approval_signatures: ApprovalSignaturesTable;
}

/** One row per invocation. A change's row is written with its intent as `running` and finished with its outcome. */
export interface CallsTable {
  call_id: string;
  parent_id: string | null;
  started_at: string;
  finished_at: string | null;
  tool: string;
  toolkit: string;
  category: string;
  effect: string;
  principal: string;
  client: string | null;
  transport: string;
  run_id: string | null;
  digest: string;
  /** running | ok | routed | dry_run | refused | failed | indeterminate | needs_person */
  status: string;
  code: string | null;
  decision: string;
  rule: string | null;
  latency_ms: number;
  evidence_hash: string | null;
  approval_id: number | null;
  approver: string | null;
  replay_of: string | null;
  /** While running: which process owns it and until when it may be believed alive. */
  holder_host: string | null;
  holder_pid: number | null;
  lease_until: string | null;
}

/** Approved calls that wait a few seconds on one of the servers. */
export interface HoldsTable {
  key: string;
  person: string;
  state: string;
  /** As a page shows it. */
  view: string;
  until: string;
  changed_at: string;
}

export interface IdempotencyTable {
  scope_key: string;
  digest: string;
  call_id: string;
  state: 'running' | 'ok' | 'indeterminate';
  outcome: string | null;
  created_at: string;
  expires_at: string | null;
}

export interface CountersTable {
  key: string;
  window_start: number;
  used: number;
}

export interface LeasesTable {
  name: string;
  holder: string;
  expires_at: string;
}

export interface SettingsTable {
  key: string;
  value: string;
}

export interface AgentsTable {
  name: string;
  token_hash: string;
  created_at: string;
  revoked_at: string | null;
}

export interface ApprovalsTable {
  id: Generated<number>;
  uuid: string;
  kind: string;
  state: string;
  tool: string;
  toolkit: string;
  effect: string;
  args: string;
  digest: string;
  binding: string | null;
  requester: string;
  requester_label: string | null;
  reason: string;
  rule: string;
  summary: string;
  gist: string | null;
  environment: string | null;
  /** How many people must sign it with a passkey. */
  signers: Generated<number>;
  risks: string;
  context: string;
  run_id: string | null;
  group_id: string | null;
  created_at: string;
  expires_at: string | null;
  decided_at: string | null;
  decided_by: string | null;
  decision_reason: string | null;
  feedback: string | null;
  call_id: string | null;
  outcome: string | null;
  version: number;
}

export interface ApprovalEditsTable {
  approval_id: number;
  edited_at: string;
  editor: string;
  old_args: string;
  new_args: string;
  old_digest: string;
  new_digest: string;
}

/** The `Presentation` as it was asked. Apart from the rows, because a list of approvals must not read every diff. */
export interface ApprovalPreviewsTable {
  approval_id: number;
  body: string;
}

/** What a person approved in advance; `used` counts the intents in the log that name it. */
export interface StandingApprovalsTable {
  id: Generated<number>;
  uuid: string;
  /** The principal it is for: `agent:mira`. */
  agent: string;
  tool: string;
  toolkit: string;
  /** Fingerprint of the tool's definition as the person saw it. */
  definition: string;
  predicates: string;
  expires_at: string;
  max_uses: number;
  used: number;
  created_at: string;
  created_by: string;
  revoked_at: string | null;
  revoked_by: string | null;
}

export interface AuditLogTable {
  seq: number;
  hash: string;
  call_id: string | null;
  run_id: string | null;
  kind: string;
  at: string;
  /** RFC 8785 canonical JSON; `hash` is its RFC 6962 leaf hash in hex. */
  body: string;
}

/** Complete subtrees of the Merkle tree, of 256 entries and more: a proof reads these and the entries of one or two tiles. */
export interface AuditNodesTable {
  level: number;
  idx: number;
  hash: string;
}

export interface AuditHeadTable {
  id: number;
  size: number;
  /** JSON array: the hash of the complete subtree at each level, or null. */
  frontier: string;
}

export interface AuditCheckpointsTable {
  size: number;
  root: string;
  note: string;
  at: string;
}

/** What an entry only holds the hash of; rows can be erased without breaking a proof. */
export interface AuditPayloadsTable {
  call_id: string;
  kind: string;
  hash: string;
  salt: string;
  body: string | null;
  at: string;
  erased_at: string | null;
}

export interface ArtifactsTable {
  id: string;
  media_type: string;
  size: number;
  created_at: string;
}

export interface CallArtifactsTable {
  call_id: string;
  artifact_id: string;
  name: string;
}

export interface EventsTable {
  id: Generated<number>;
  topic: string;
  data: string;
  at: string;
}

export interface ListenersTable {
  id: string;
  expires_at: string;
  /** What the page shows, as the one who publishes names it. */
  place: string | null;
}

export interface WebSessionsTable {
  id_hash: string;
  kind: string;
  person: string;
  created_at: string;
  expires_at: string;
}

/** A statement that waits for its signature; deleted with it, so that each is signed once, whichever server finishes it. */
export interface PasskeyRequestsTable {
  nonce: string;
  /** The session that asked for it, as a hash. */
  session: string;
  statement: string;
  /** What belongs to it and is not signed itself: the items and their salts. */
  more: string;
  until: string;
}

/** Where the signatures of a pending approval are in the log. Only the log proves them. */
export interface ApprovalSignaturesTable {
  approval_id: number;
  version: number;
  person: string;
  /** The leaf hash of the signature's entry. */
  entry: string;
  salt: string;
}

/** Figures of finished calls, by hour and by day. Made from `calls`, and made again if they are lost. */
export interface CallStatsTable {
  unit: 'hour' | 'day';
  /** The beginning of the times it covers: `2026-11-17T05` or `2026-11-17`. */
  span: string;
  tool: string;
  toolkit: string;
  category: string;
  status: string;
  /** Empty without one: a key has no nulls. */
  code: string;
  /** Which step of a logarithmic scale the latency is on. */
  step: number;
  calls: number;
  total_ms: number;
  min_ms: number;
  max_ms: number;
  last_at: string;
}

/** Calls that finished in entries before `seq` are in the figures, or can be found by their words. */
export interface CallStatsHeadTable {
  id: number;
  seq: number;
}

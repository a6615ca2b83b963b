/** The assistant's tables. Times are ISO-8601 text, booleans 0/1, JSON text. */
export interface AssistantTables {
  assistant_sessions: SessionsTable;
  assistant_runs: RunsTable;
  assistant_entries: EntriesTable;
}

export interface SessionsTable {
  id: string;
  /** The caller's principal: a key only means something within it. */
  scope: string;
  key: string;
  created_at: string;
  updated_at: string;
  model: string | null;
  input_tokens: number;
  output_tokens: number;
  /** What the last model request read, and what fits. */
  context_tokens: number;
  window_tokens: number;
  cost_usd: number;
  turns: number;
  compactions: number;
  aborted_last_run: number;
}

export type RunState = 'queued' | 'running' | 'done' | 'failed' | 'cancelled' | 'interrupted';

/** States in which a run still has a place in its session's queue. */
export const OPEN_STATES = ['queued', 'running'] as const;

export interface RunsTable {
  id: string;
  session_id: string;
  seq: number;
  call_id: string;
  message: string;
  message_hash: string;
  state: RunState;
  /** Its work has begun at least once, so that tools may have been used. */
  started: number;
  /** Its caller timed out; the work continues without one. */
  detached: number;
  /** A caller has been given how it ended. */
  delivered: number;
  /** A later caller has seen that it was interrupted. */
  told: number;
  /** The process that holds it, believed alive until `lease_until`. */
  owner: string | null;
  lease_until: string;
  doing: string | null;
  answer: string | null;
  fault: string | null;
  created_at: string;
  finished_at: string | null;
}

export interface EntriesTable {
  session_id: string;
  seq: number;
  run_id: string;
  /** message | compaction | note */
  type: string;
  in_context: number;
  tokens: number;
  model: string | null;
  body: string;
  created_at: string;
}

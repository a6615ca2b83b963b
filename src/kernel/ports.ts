import type { PasskeyMode } from '../contract/passkeys.ts';
import type { DialogMode, Log } from '../contract/ports.ts';
import type { BoundTool } from '../contract/toolkit.ts';
import type { ApprovalQueue } from './approvals/queue.ts';
import type { StandingApprovals } from './approvals/standing.ts';
import type { Invoke } from './call/pipeline.ts';
import type { Recorder } from './call/recorder.ts';
import type { Tracing } from './call/tracing.ts';
import type { UnrecordedOutcomes } from './call/unrecorded.ts';
import type { ArtifactStore } from './log/artifacts.ts';
import type { CallMetrics } from './metrics.ts';
import type { Policy } from './policy/index.ts';
import type { Database } from './store/database.ts';

/** What the steps of the pipeline may use. */
export interface Ports {
  readonly database: Database;
  readonly recorder: Recorder;
  readonly unrecorded: UnrecordedOutcomes;
  readonly queue: ApprovalQueue;
  readonly standing: Pick<StandingApprovals, 'find'>;
  readonly artifacts: ArtifactStore;
  readonly log: Log;
  readonly limits: CallLimits;
  /** The active policy, the stamp it was made under, and a way to read it again. */
  readonly policy: PolicySource;
  readonly metrics: CallMetrics;
  /** Set where an operator configured a collector. */
  readonly tracing?: Tracing;
  /** Any tool that exists, not only those the session is shown. */
  resolve(name: string): Promise<BoundTool | undefined>;
  /** The pipeline itself, for a call made as part of another. */
  invoke: Invoke;
  now(): Date;
  /** The database's own time, by which idempotency keys expire. */
  databaseNow(): Date;
}

export interface PolicySource {
  readonly current: Policy;
  readonly stamp: string;
  /** True where tools came or went since it was made: rules that name them are not in `current` yet. */
  readonly isBehind?: boolean;
  refresh(): Promise<void>;
}

export interface CallLimits {
  readonly deadlineMs: number;
  readonly agentsMayApprove: boolean;
  /** What a dialog in the client decides; `local` where nothing is said. */
  readonly dialogs?: DialogMode;
  readonly approvalExpiryMs: number;
  /** Pending approvals that one agent may have. */
  readonly maxPending: number;
  readonly maxKeyLength: number;
  /** Which approvals must be signed with a passkey; the log may require more. */
  readonly passkey?: PasskeyMode;
}

import type { Log } from '../contract/ports.ts';
import type { ApprovalQueue } from './approvals/queue.ts';
import type { ArtifactStore } from './audit/artifacts.ts';
import type { BoundTool } from './call.ts';
import type { Database } from './database.ts';
import type { Invoke } from './pipeline.ts';
import type { Policy } from './policy/index.ts';
import type { Recorder } from './recorder.ts';

/** What the steps of the pipeline may use. */
export interface Ports {
  readonly database: Database;
  readonly recorder: Recorder;
  readonly queue: ApprovalQueue;
  readonly artifacts: ArtifactStore;
  readonly log: Log;
  readonly limits: CallLimits;
  /** The policy in force, the stamp it was made under, and a way to read it anew. */
  readonly policy: PolicySource;
  /** Any tool that exists, whatever the session is shown. */
  resolve(name: string): Promise<BoundTool | undefined>;
  /** The pipeline itself, for a call made as part of another. */
  invoke: Invoke;
  now(): Date;
}

export interface PolicySource {
  readonly current: Policy;
  readonly stamp: string;
  refresh(): Promise<void>;
}

export interface CallLimits {
  readonly deadlineMs: number;
  readonly agentsMayApprove: boolean;
  readonly approvalExpiryMs: number;
}

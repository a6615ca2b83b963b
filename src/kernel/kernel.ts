import type {
  Approval,
  ApprovalsPort,
  ArtifactsPort,
  LeasePort,
  Log,
  TelemetryPort,
} from '../contract/ports.ts';
import { type Principal, principalName } from '../contract/principal.ts';
import { isPaused, setPaused } from './admission/pause.ts';
import { type Agents, createAgents } from './agents.ts';
import { createApprovals } from './approvals/decide.ts';
import { ApprovalQueue } from './approvals/queue.ts';
import { ArtifactStore } from './audit/artifacts.ts';
import { type EntryInput, prepareEntry } from './audit/entry.ts';
import { appendEntries } from './audit/log.ts';
import type { BoundTool } from './call.ts';
import { changeConfig } from './config-change.ts';
import type { Database } from './database.ts';
import { createEvents, type EventFeed } from './events.ts';
import { createLeases } from './leases.ts';
import { createPipeline, type Invoke } from './pipeline.ts';
import type { CallLimits, PolicySource, Ports } from './ports.ts';
import { Recorder } from './recorder.ts';
import { closeLostReads, markInterrupted, reconcileAll, resumeApproved, settleCall } from './recovery.ts';
import { createTelemetry } from './telemetry/index.ts';

export interface KernelOptions {
  readonly database: Database;
  readonly dataDir: string;
  readonly log: Log;
  readonly limits: CallLimits;
  readonly policy: PolicySource;
  resolve(name: string): Promise<BoundTool | undefined>;
  now?(): Date;
  notify?(approval: Approval): void;
}

export interface Kernel {
  /** The only way to run a tool. */
  readonly invoke: Invoke;
  readonly approvals: ApprovalsPort;
  readonly queue: ApprovalQueue;
  readonly telemetry: TelemetryPort;
  readonly artifacts: ArtifactsPort & ArtifactStore;
  readonly leases: LeasePort;
  readonly events: ReturnType<typeof createEvents> & EventFeed;
  readonly agents: Agents;
  readonly database: Database;
  /** Marks interrupted calls, settles what the far side can tell, and runs what was approved but not run. */
  recover(): Promise<{ interrupted: number; settled: number; open: number; resumed: number }>;
  /** A person's word on an indeterminate call. */
  settle(callId: string, happened: boolean, by: Principal): Promise<boolean>;
  isPaused(): Promise<boolean>;
  setPaused(paused: boolean, by: Principal): Promise<void>;
  /** Writes an entry about something outside of the store that belongs to no call (an export, a sign-in). */
  note(entry: Omit<EntryInput, 'at'>): Promise<void>;
  /** Makes pending evidence durable. */
  flush(): Promise<void>;
}

/** Builds the kernel on a store. It knows no transport and no tool. */
export function createKernel(options: KernelOptions): Kernel {
  const { database, log, limits, resolve } = options;
  const now = options.now ?? (() => new Date());
  const recorder = new Recorder(database, log);
  const artifacts = new ArtifactStore(database, options.dataDir, now);
  const notify = options.notify ?? (() => {});
  const queue = new ApprovalQueue({ database, log, expiryMs: limits.approvalExpiryMs, resolve, now, notify });
  const ports: Ports = {
    database,
    recorder,
    queue,
    artifacts,
    log,
    limits,
    policy: options.policy,
    resolve,
    now,
    invoke: (request) => invoke(request),
  };
  const invoke = createPipeline(ports);
  const approvals = createApprovals({ queue, agentsMayApprove: limits.agentsMayApprove, invoke });

  const note = async (entry: Omit<EntryInput, 'at'>): Promise<void> => {
    const prepared = prepareEntry({ ...entry, at: now().toISOString() });
    await database.write((trx) => appendEntries(trx, database.engine, [prepared]));
  };

  return {
    invoke,
    approvals,
    queue,
    artifacts,
    database,
    note,
    telemetry: createTelemetry(database, recorder),
    leases: createLeases(database, now),
    events: createEvents(database, now),
    agents: createAgents(database, now),
    async recover() {
      const interrupted = await markInterrupted(ports);
      await closeLostReads(ports);
      const { settled, open } = await reconcileAll(ports);
      const resumed = await resumeApproved(ports, approvals);
      return { interrupted, settled, open, resumed };
    },
    settle: (callId, happened, by) =>
      settleCall(ports, callId, happened ? { settled: 'done', data: null } : { settled: 'not_done' }, by),
    isPaused: () => isPaused(database.db),
    async setPaused(paused, by) {
      await changeConfig(database, by, now(), async (trx) => {
        await setPaused(trx, paused, principalName(by));
        return { paused };
      });
    },
    flush: () => recorder.flush(),
  };
}

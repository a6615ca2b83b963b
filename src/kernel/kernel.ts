import { ToolError } from '../contract/errors.ts';
import type {
  Approval,
  ApprovalsPort,
  ArtifactsPort,
  LeasePort,
  Log,
  TelemetryPort,
} from '../contract/ports.ts';
import { type Principal, principalName } from '../contract/principal.ts';
import type { BoundTool } from '../contract/toolkit.ts';
import { type Agents, createAgents } from './agents.ts';
import { ApprovalQueue } from './approvals/queue.ts';
import { createApprovals } from './approvals/service.ts';
import type { Signing } from './approvals/sign.ts';
import { StandingApprovals } from './approvals/standing.ts';
import { createForecaster, type Forecaster } from './call/forecast.ts';
import { createForesight } from './call/foresight.ts';
import { createPipeline, type Invoke } from './call/pipeline.ts';
import { type EvidenceState, Recorder } from './call/recorder.ts';
import type { Tracing } from './call/tracing.ts';
import { UnrecordedOutcomes } from './call/unrecorded.ts';
import { updateCallStats } from './call-stats.ts';
import { indexCallWords } from './call-words.ts';
import { ArtifactStore } from './log/artifacts.ts';
import { changeConfig } from './log/config-change.ts';
import { type EntryInput, prepareEntry } from './log/entry.ts';
import { appendEntries } from './log/log.ts';
import { isPausedInLog } from './log/rows/config-entries.ts';
import { CallMetrics } from './metrics.ts';
import { createRequirement, type SignersFor } from './passkeys/requirement.ts';
import { createPasskeys, type Passkeys } from './passkeys/service.ts';
import { limitsOf, ruleLabel } from './policy/usage.ts';
import type { CallLimits, PolicySource, Ports } from './ports.ts';
import {
  closeLostReads,
  markInterrupted,
  reconcileAll,
  resumeApproved,
  runHandedOver,
  settleCall,
} from './recovery.ts';
import { createLeases, type Database } from './store/database.ts';
import { createEvents, type EventFeed } from './store/events.ts';
import { isPaused, setPaused } from './store/pause.ts';
import { createTelemetry } from './telemetry.ts';

export interface KernelOptions {
  readonly database: Database;
  readonly dataDir: string;
  readonly log: Log;
  readonly limits: CallLimits;
  readonly policy: PolicySource;
  readonly tracing?: Tracing;
  resolve(name: string): Promise<BoundTool | undefined>;
  now?(): Date;
  /** The database's own time; `now` where it is left out. */
  databaseNow?(): Date;
  notify?(approval: Approval): void;
  /** Where a person finds an approval, to sign it. */
  inboxUrl?(id: number): Promise<string | undefined>;
  /** The same, or the whole inbox; undefined while nothing serves it. */
  runningInbox?(id?: number): Promise<string | undefined>;
  /** Names of agents that toolkits act as: no token may have them. */
  readonly reservedNames?: readonly string[];
}

export interface Kernel {
  /** The only way to run a tool. */
  readonly invoke: Invoke;
  readonly approvals: ApprovalsPort;
  readonly queue: ApprovalQueue;
  /** Decisions signed with a passkey. */
  readonly signing: Signing;
  readonly passkeys: Passkeys;
  readonly signersFor: SignersFor;
  readonly standing: StandingApprovals;
  /** What would happen to a call, without running or counting anything. */
  readonly forecast: Forecaster;
  readonly telemetry: TelemetryPort;
  readonly artifacts: ArtifactsPort & ArtifactStore;
  readonly leases: LeasePort;
  readonly events: ReturnType<typeof createEvents> & EventFeed;
  readonly agents: Agents;
  readonly database: Database;
  readonly metrics: CallMetrics;
  /** Marks interrupted calls, settles what the remote service can show, and runs what was approved but not run. */
  recover(): Promise<{ interrupted: number; settled: number; open: number; resumed: number }>;
  /** Runs calls of this toolkit that people approved in processes which cannot run them. */
  runHandedOver(toolkit: string): Promise<void>;
  /** A person's word on an indeterminate call. */
  settle(callId: string, happened: boolean, by: Principal): Promise<boolean>;
  isPaused(): Promise<boolean>;
  setPaused(paused: boolean, by: Principal): Promise<void>;
  /** Writes an entry about something outside of the store that belongs to no call (an export, a sign-in). */
  note(entry: Omit<EntryInput, 'at'>): Promise<void>;
  /** Whether evidence of reads can be written, and how much waits. */
  evidence(): EvidenceState;
  /** Makes pending evidence durable. */
  flush(): Promise<void>;
  /** Tries to make pending evidence durable and returns why that failed; undefined when it did not. */
  evidenceProblem(): Promise<unknown>;
  /** Keeps the figures about calls and the index of their words close to the end of the log; to be called now and then. */
  updateStats(): Promise<void>;
}

/** The rest of the upkeep must not wait for an old log to be indexed. */
const WORDS_PER_ROUND = 20_000;

/** Builds the kernel on a store. It knows no transport and no tool. */
export function createKernel(options: KernelOptions): Kernel {
  const { database, log, limits, resolve } = options;
  const now = options.now ?? (() => new Date());
  const recorder = new Recorder(database, log);
  const unrecorded = new UnrecordedOutcomes(log);
  const metrics = new CallMetrics();
  const artifacts = new ArtifactStore(database, options.dataDir, now);
  const notify = options.notify ?? (() => {});
  const signersFor = createRequirement({
    database,
    policy: options.policy,
    mode: limits.passkey ?? 'off',
    now,
  });
  const expiryMs = limits.approvalExpiryMs;
  const { inboxUrl, runningInbox } = options;
  const queue = new ApprovalQueue({
    database,
    log,
    expiryMs,
    maxPending: limits.maxPending,
    resolve,
    signersFor,
    foresee: createForesight({ database, policy: options.policy, now }),
    now,
    notify,
    ...(inboxUrl && { inboxUrl }),
    ...(runningInbox && { runningInbox }),
  });
  const standing = new StandingApprovals({ database, resolve, now, signersFor });
  const ports: Ports = {
    database,
    recorder,
    unrecorded,
    queue,
    standing,
    artifacts,
    log,
    limits,
    policy: options.policy,
    metrics,
    tracing: options.tracing,
    resolve,
    now,
    databaseNow: options.databaseNow ?? now,
    invoke: (request) => invoke(request),
  };
  const invoke = createPipeline(ports);
  const approvals = createApprovals({
    queue,
    agentsMayApprove: limits.agentsMayApprove,
    ruleLabel: (id) => ruleLabel(options.policy.current, id),
    limitsOf: (bound, { args, requester }) =>
      limitsOf(args, database, options.policy.current, bound, requester, now()),
    async run(bound, approval) {
      const { args, requester } = approval;
      const request = { bound, args, principal: requester, transport: 'approval', approval };
      return (await invoke(request)).outcome;
    },
    async invoke(tool, args, principal) {
      const bound = await resolve(tool);
      if (!bound) throw new ToolError('not_found', `Tool ${tool} not found.`);
      return (await invoke({ bound, args, principal, transport: 'approval' })).outcome;
    },
  });

  const leases = createLeases(database, now);
  const note = async (entry: Omit<EntryInput, 'at'>): Promise<void> => {
    const prepared = prepareEntry({ ...entry, at: now().toISOString() });
    await database.write((trx) => appendEntries(trx, database.engine, [prepared]));
  };

  return {
    invoke,
    approvals,
    queue,
    signing: approvals.signing,
    passkeys: createPasskeys(database, now),
    signersFor,
    standing,
    forecast: createForecaster(ports),
    artifacts,
    database,
    metrics,
    note,
    telemetry: createTelemetry(database, recorder),
    leases,
    events: createEvents(database, now),
    agents: createAgents(database, now, options.reservedNames),
    async recover() {
      await unrecorded.retry();
      const interrupted = await markInterrupted(ports);
      await closeLostReads(ports);
      const { settled, open } = await reconcileAll(ports);
      const resumed = await resumeApproved(ports, approvals);
      return { interrupted, settled, open, resumed };
    },
    runHandedOver: (toolkit) => runHandedOver(ports, approvals, leases, toolkit),
    settle: (callId, happened, by) =>
      settleCall(ports, callId, happened ? { settled: 'done', data: null } : { settled: 'not_done' }, by),
    isPaused: async () => (await isPaused(database.db)) || isPausedInLog(database.db, database.engine),
    async setPaused(paused, by) {
      await changeConfig(database, by, now(), async (trx) => {
        await setPaused(trx, paused, principalName(by));
        return { paused };
      });
    },
    evidence: () => recorder.state,
    async flush() {
      await unrecorded.retry();
      await recorder.flush();
    },
    async evidenceProblem() {
      await recorder.flush();
      return recorder.problem;
    },
    async updateStats() {
      await updateCallStats(database);
      await indexCallWords(database, WORDS_PER_ROUND);
    },
  };
}

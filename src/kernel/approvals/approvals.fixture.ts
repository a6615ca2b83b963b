import { randomUUID } from 'node:crypto';
import type { Insertable } from 'kysely';
import { plain } from '../../catalogue/dialect.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { Outcome } from '../../contract/outcome.ts';
import type { Approval, Proposal } from '../../contract/ports.ts';
import { LOCAL_AGENT, type Principal, principalName } from '../../contract/principal.ts';
import type { Tool } from '../../contract/tool.ts';
import type { BoundTool } from '../../contract/toolkit.ts';
import { digest } from '../../lib/canonical.ts';
import { toolNamed } from '../call/steps.fixture.ts';
import { type EntryInput, prepareEntry } from '../log/entry.ts';
import { appendEntries } from '../log/log.ts';
import type { Database } from '../store/database.ts';
import type { ApprovalsTable } from '../store/tables.ts';
import { ApprovalQueue, type QueuePorts } from './queue.ts';
import { createApprovals, type DecisionPorts } from './service.ts';

export const AT = new Date('2026-03-01T12:00:00Z');
export const ADA: Principal = { kind: 'person', id: 'ada' };
export const OK: Outcome = { status: 'ok', data: 1, notes: {}, replayed: false };

export const minutesLater = (minutes: number): Date => new Date(AT.getTime() + minutes * 60_000);

/** An approval that is in no database; its digest is that of its arguments. */
export function approvalOf(more: Partial<Approval> = {}): Approval {
  const args: JsonObject = more.args ?? { text: 'hello' };
  const { kind = 'call', tool = 'ledger_write', binding } = more;
  return {
    id: 7,
    uuid: randomUUID(),
    kind,
    state: 'pending',
    tool,
    toolkit: 'ledger',
    effect: 'change',
    args,
    digest: digest(tool, kind === 'permit' ? { args, binding: binding ?? {} } : args),
    binding,
    requester: LOCAL_AGENT,
    reason: 'please',
    rule: 'ask',
    summary: 'Write “hello” to the ledger',
    gist: undefined,
    environment: undefined,
    signers: 0,
    risks: [],
    context: {},
    runId: undefined,
    groupId: undefined,
    createdAt: AT,
    expiresAt: undefined,
    decidedAt: undefined,
    decidedBy: undefined,
    decisionReason: undefined,
    feedback: undefined,
    callId: undefined,
    outcome: undefined,
    version: 1,
    ...more,
  };
}

/** A row that is as good as asked for; columns can be replaced. */
export function rowOf(more: Partial<Insertable<ApprovalsTable>> = {}): Insertable<ApprovalsTable> {
  const { uuid, digest: wanted } = approvalOf();
  return {
    uuid,
    kind: 'call',
    state: 'pending',
    tool: 'ledger_write',
    toolkit: 'ledger',
    effect: 'change',
    args: '{"text":"hello"}',
    digest: wanted,
    binding: null,
    requester: principalName(LOCAL_AGENT),
    requester_label: null,
    reason: 'please',
    rule: 'ask',
    summary: 'Write “hello” to the ledger',
    gist: null,
    environment: null,
    signers: 0,
    risks: '[]',
    context: '{}',
    run_id: null,
    group_id: null,
    created_at: AT.toISOString(),
    expires_at: null,
    decided_at: null,
    decided_by: null,
    decision_reason: null,
    feedback: null,
    call_id: null,
    outcome: null,
    version: 1,
    ...more,
  };
}

/** Adds entries to the log as they are. */
export const appendToLog = ({ engine, write }: Database, entries: readonly EntryInput[]): Promise<void> =>
  write((trx) => appendEntries(trx, engine, entries.map(prepareEntry)));

export interface TestQueue {
  readonly queue: ApprovalQueue;
  readonly bound: BoundTool;
  readonly notified: Approval[];
  /** Moves the clock of the queue. */
  setClock(now: Date): void;
}

export interface TestQueueOptions extends Partial<QueuePorts> {
  readonly tool?: Tool;
  readonly toolkit?: Partial<BoundTool['toolkit']>;
}

/** A queue that knows one tool, whose services are the word itself. */
export function openQueue(
  database: Database,
  { tool = toolNamed('ledger_write'), toolkit, ...ports }: TestQueueOptions = {},
): TestQueue {
  let clock = AT;
  const notified: Approval[] = [];
  const bound: BoundTool = {
    tool,
    toolkit: { id: 'ledger', dialect: plain, ...toolkit },
    services: async () => 'services',
  };
  const queue = new ApprovalQueue({
    database,
    log: { debug() {}, info() {}, warn() {}, error() {} },
    expiryMs: 60 * 60_000,
    maxPending: 100,
    resolve: async (name) => (name === tool.name ? bound : undefined),
    signersFor: async () => 0,
    foresee: async () => undefined,
    now: () => clock,
    notify: (approval) => notified.push(approval),
    ...ports,
  });
  return {
    queue,
    bound,
    notified,
    setClock(now) {
      clock = now;
    },
  };
}

export interface DecisionOptions extends TestQueueOptions, Partial<Omit<DecisionPorts, 'queue' | 'run'>> {
  /** What running an approved call gives, while the call itself leaves the row as it is. */
  readonly outcome?: Outcome;
}

/** The decisions on a queue whose calls run nowhere. */
export function openDecisions(database: Database, options: DecisionOptions = {}) {
  const { agentsMayApprove = false, outcome = OK, invoke, limitsOf, ruleLabel, ...ports } = options;
  const test = openQueue(database, ports);
  const ran: Approval[] = [];
  const invoked: unknown[] = [];
  const approvals = createApprovals({
    queue: test.queue,
    agentsMayApprove,
    async run(_bound, approval) {
      ran.push(approval);
      return outcome;
    },
    async invoke(...call) {
      invoked.push(call);
      return invoke ? invoke(...call) : OK;
    },
    limitsOf: limitsOf ?? (async () => []),
    ruleLabel: ruleLabel ?? (() => undefined),
  });
  return {
    ...test,
    approvals,
    ran,
    invoked,
    ask: (more: Partial<Proposal> = {}): Promise<Approval> =>
      approvals.propose({
        tool: test.bound.tool.name,
        args: { text: 'hello' },
        requester: LOCAL_AGENT,
        reason: 'please',
        ...more,
      }),
    async read({ id }: Approval): Promise<Approval> {
      const approval = await approvals.get(id);
      if (!approval) throw new Error('It is gone.');
      return approval;
    },
  };
}

import { openTestStore, type TestStore } from '../../../test/support/engines.ts';
import { openTestKernel } from '../../../test/support/kernel.ts';
import { ledgerToolkit } from '../../../test/support/ledger.ts';
import { plain } from '../../catalogue/dialect.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { Outcome } from '../../contract/outcome.ts';
import type { Log } from '../../contract/ports.ts';
import { LOCAL_AGENT } from '../../contract/principal.ts';
import type { Tool } from '../../contract/tool.ts';
import { CallMetrics } from '../metrics.ts';
import type { Decision } from '../policy/index.ts';
import type { Ports } from '../ports.ts';
import type { CallsTable } from '../store/tables.ts';
import type { CallRequest, CallState } from './call.ts';
import { newCall } from './pipeline.ts';
import { Recorder } from './recorder.ts';
import { UnrecordedOutcomes } from './unrecorded.ts';
import { validateInput } from './validate.ts';

export const DONE: Outcome = { status: 'ok', data: { done: true }, notes: {}, replayed: false };

export const ALLOW: Decision = {
  action: 'allow',
  rule: 'default',
  reason: 'no rule restricts this call',
  trace: [],
  policyVersion: 'v',
};

const ledger = ledgerToolkit();

/** A tool of the ledger; parts of it can be replaced. */
export function toolNamed(name: string, more: Partial<Tool> = {}): Tool {
  const found = ledger.tools.find((tool) => tool.name === name);
  if (!found) throw new Error(`No tool ${name}`);
  return { ...found, ...more };
}

/** A call as it enters the first step. */
export function rawCall(tool: Tool, args: unknown, more: Partial<CallRequest> = {}): CallState {
  const bound = { tool, toolkit: { id: 'ledger', dialect: plain }, services: async () => ({}) };
  return newCall({ bound, args, principal: LOCAL_AGENT, transport: 'test', ...more }, new Date());
}

/** A call whose arguments were validated. */
export async function validCall(
  tool: Tool,
  args: object,
  more: Partial<CallRequest> = {},
): Promise<CallState> {
  const call = rawCall(tool, args, more);
  await validateInput()(call, async () => DONE);
  return call;
}

export interface Logged {
  readonly log: Log;
  readonly lines: string[];
}

export function listeningLog(): Logged {
  const lines: string[] = [];
  const write = (text: string): void => void lines.push(text);
  return { log: { debug: write, info: write, warn: write, error: write }, lines };
}

export interface StepStore extends Logged {
  readonly store: TestStore;
  readonly ports: Ports;
  /** The kinds of the audit entries, in order. */
  kinds(): Promise<string[]>;
  statusOf(call: CallState): Promise<string | undefined>;
  rowOf(call: CallState): Promise<CallsTable | undefined>;
  /** The audit entries about this call, in order. */
  entriesOf(call: CallState): Promise<JsonObject[]>;
}

/** What the steps need of a real SQLite database. */
export async function openSteps(decision: Decision = ALLOW): Promise<StepStore> {
  const store = await openTestStore('sqlite');
  const { database, dataDir } = store;
  const { kernel } = await openTestKernel(database, dataDir);
  const { log, lines } = listeningLog();
  const recorder = new Recorder(database, log);
  const ports: Ports = {
    database,
    recorder,
    unrecorded: new UnrecordedOutcomes(log),
    standing: { find: async () => undefined },
    queue: kernel.queue,
    artifacts: kernel.artifacts,
    log,
    limits: {
      deadlineMs: 5_000,
      agentsMayApprove: false,
      approvalExpiryMs: 1_000,
      maxPending: 10_000,
      maxKeyLength: 512,
    },
    policy: {
      current: { decide: () => decision, limitsFor: () => [] } as unknown as Ports['policy']['current'],
      stamp: 'none',
      refresh: async () => {},
    },
    metrics: new CallMetrics(),
    resolve: async () => undefined,
    invoke: kernel.invoke,
    now: () => new Date(),
    databaseNow: () => new Date(),
  };
  return {
    store,
    ports,
    log,
    lines,
    async kinds() {
      await recorder.flush();
      const rows = await database.db.selectFrom('audit_log').select('kind').orderBy('seq').execute();
      return rows.map(({ kind }) => kind);
    },
    async statusOf({ id }) {
      await recorder.flush();
      const row = await database.db
        .selectFrom('calls')
        .select('status')
        .where('call_id', '=', id)
        .executeTakeFirst();
      return row?.status;
    },
    async rowOf({ id }) {
      await recorder.flush();
      return database.db.selectFrom('calls').selectAll().where('call_id', '=', id).executeTakeFirst();
    },
    async entriesOf({ id }) {
      await recorder.flush();
      const rows = await database.db
        .selectFrom('audit_log')
        .select('body')
        .where('call_id', '=', id)
        .orderBy('seq')
        .execute();
      return rows.map(({ body }) => JSON.parse(body));
    },
  };
}

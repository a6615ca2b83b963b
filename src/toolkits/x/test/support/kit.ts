import type { Kysely } from 'kysely';
import { openTestStore } from '../../../../../test/support/engines.ts';
import { AGENT } from '../../../../../test/support/kernel.ts';
import { createInventory } from '../../../../catalogue/inventory.ts';
import type { ConfigSection } from '../../../../contract/config.ts';
import type { JsonObject, JsonValue } from '../../../../contract/json.ts';
import type { Outcome } from '../../../../contract/outcome.ts';
import { type McpPolicyConfig, mcpPolicy } from '../../../../contract/policy.ts';
import type { KernelPorts } from '../../../../contract/ports.ts';
import type { Toolkit, ToolkitHost } from '../../../../contract/toolkit.ts';
import type { CallRequest, CallResult } from '../../../../kernel/call/call.ts';
import { createHealth } from '../../../../kernel/health.ts';
import { createKernel, type Kernel } from '../../../../kernel/kernel.ts';
import { compilePolicy } from '../../../../kernel/policy/index.ts';
import { createPolicyPort } from '../../../../kernel/policy/port.ts';
import type { Database } from '../../../../kernel/store/database.ts';
import { type Sandbox, sharedSandbox } from '../../emulator/start.ts';
import type { SandboxTables } from '../../emulator/stored-state.ts';
import { policy as xPolicy } from '../../policy.ts';
import type { XServices } from '../../services.ts';
import { toolkit } from '../../toolkit.ts';
import { type FakeClock, fakeClock, silentLog } from './sandbox.ts';

export interface XKitOptions {
  /** Tables of the configuration, as a person would write them. */
  readonly config?: Readonly<Record<string, JsonObject>>;
  readonly policy?: Partial<McpPolicyConfig>;
  readonly mode?: 'autopilot' | 'composer';
  readonly clock?: FakeClock;
}

/** One process: a kernel with the x toolkit on a store and a sandbox that others may share. */
export interface XProcess {
  readonly kernel: Kernel;
  readonly services: XServices;
  readonly host: ToolkitHost;
  call(tool: string, args: JsonObject, more?: Partial<CallRequest>): Promise<CallResult>;
  /** Only for calls that must succeed: their data. */
  data(tool: string, args: JsonObject, more?: Partial<CallRequest>): Promise<JsonObject>;
  close(): Promise<void>;
}

export interface XKit extends XProcess {
  readonly database: Database;
  readonly dataDir: string;
  readonly clock: FakeClock;
  readonly sandbox: Sandbox;
  /** Another process on the same store and the same X. */
  second(options?: XKitOptions): Promise<XProcess>;
  /** Texts the account has posted on X through this kit, oldest first. */
  posted(): Promise<string[]>;
  fault(params: JsonObject): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Generous limits, so that a test meets only the one it is about. */
const LIMITS: JsonObject = {
  max_replies_per_day: 1000,
  max_tweets_per_day: 1000,
  max_threads_per_week: 1000,
  max_replies_per_author_per_day: 1000,
  min_action_delay_seconds: 0,
  max_action_delay_seconds: 0,
};
const POLICY: Partial<McpPolicyConfig> = { template: 'none', max_mutations_per_hour: 100_000 };

export async function openXKit(options: XKitOptions = {}): Promise<XKit> {
  const store = await openTestStore('sqlite');
  const clock = options.clock ?? fakeClock();
  const sandboxDb = store.database.db as unknown as Kysely<SandboxTables>;
  const sandbox = await sharedSandbox({ db: sandboxDb, now: clock.now, sleep: async () => {} });
  const seeded = new Set((await ownPosts(sandbox)).map(({ id }) => id));
  const open = (more: XKitOptions) =>
    openProcess(store.database, store.dataDir, { ...options, ...more, clock });
  const first = await open({});
  const others: XProcess[] = [];
  return {
    ...first,
    database: store.database,
    dataDir: store.dataDir,
    clock,
    sandbox,
    async second(more = {}) {
      const other = await open(more);
      others.push(other);
      return other;
    },
    posted: async () => (await ownPosts(sandbox)).filter(({ id }) => !seeded.has(id)).map(({ text }) => text),
    fault: async (params) => {
      await sandbox.control('fault', params as never);
    },
    async [Symbol.asyncDispose]() {
      for (const one of [...others, first]) await one.close();
      await sandbox.close();
      await store.close();
    },
  };
}

const OWN_ID = '2001000001';

async function ownPosts(sandbox: Sandbox): Promise<{ id: string; text: string }[]> {
  const { items } = (await sandbox.control('look', { collection: 'posts' })) as unknown as {
    items: { id: string; text: string; author_id: string; created_at: string }[];
  };
  return items.filter((post) => post.author_id === OWN_ID).sort((a, b) => (a.id < b.id ? -1 : 1));
}

async function openProcess(
  database: Database,
  dataDir: string,
  options: XKitOptions & { readonly clock: FakeClock },
): Promise<XProcess> {
  const { now } = options.clock;
  const mode = options.mode ?? 'autopilot';
  const policy = await compilePolicy({
    mode,
    approvalMode: mode === 'composer',
    policy: mcpPolicy.schema.parse({ ...POLICY, ...options.policy }),
    catalogue: toolkit.tools.map((tool) => ({
      name: tool.name,
      toolkit: 'x',
      category: tool.category,
      effect: tool.effect,
      policyName: tool.policyName,
      inputJson: tool.input.json,
    })),
    toolkits: [xPolicy],
  });
  const tables: Record<string, JsonObject> = {
    ...options.config,
    limits: { ...LIMITS, ...options.config?.limits },
  };
  const host: ToolkitHost = {
    section: (section: ConfigSection) => section.schema.parse(tables[section.key] ?? {}) as never,
    mode,
    approvalMode: mode === 'composer',
    dataDir,
    engine: 'sqlite',
    db: () => database.db as never,
    get kernel(): KernelPorts {
      return ports;
    },
    log: silentLog,
    env: {},
    now,
  };
  const inventory = await createInventory(
    [{ id: 'x', load: async () => toolkit as unknown as Toolkit }],
    async () => host,
  );
  const kernel = createKernel({
    database,
    dataDir,
    log: silentLog,
    now,
    limits: {
      deadlineMs: 30_000,
      agentsMayApprove: tables.approvals?.agents_may_approve === true,
      approvalExpiryMs: 86_400_000,
      maxPending: 10_000,
      maxKeyLength: 512,
    },
    policy: { current: policy, stamp: 'none', refresh: async () => {} },
    resolve: (name) => inventory.resolve(name),
  });
  const call: XProcess['call'] = async (tool, args, more) => {
    const bound = await inventory.resolve(tool);
    if (!bound) throw new Error(`No tool ${tool}`);
    return kernel.invoke({ bound, args, principal: AGENT, transport: 'test', ...more });
  };
  const ports: KernelPorts = {
    approvals: kernel.approvals,
    telemetry: kernel.telemetry,
    audit: { proof: async () => undefined, differences: async () => [], checkpoint: async () => undefined },
    policy: createPolicyPort(() => policy, database, now),
    config: { path: '/tmp/config.toml', masked: () => ({ ...tables }), problems: async () => [] },
    health: createHealth({ kernel, database, startedAt: now(), now, version: '0' }),
    leases: kernel.leases,
    events: kernel.events,
    artifacts: kernel.artifacts,
    invoke: async (tool, args, principal, how) =>
      (await call(tool, args, { principal, ...how, transport: 'internal' })).outcome,
    tools: () => [],
  };
  const loaded = await inventory.load('x');
  const services = (await loaded.services()) as XServices;
  return {
    kernel,
    services,
    host,
    call,
    async data(tool, args, more) {
      return dataOf((await call(tool, args, more)).outcome);
    },
    async close() {
      await kernel.flush();
    },
  };
}

/** The data of a call that must have succeeded. */
export function dataOf(outcome: Outcome): JsonObject {
  if (outcome.status !== 'ok') {
    const said =
      'fault' in outcome ? `${outcome.fault.code}: ${outcome.fault.message}` : JSON.stringify(outcome);
    throw new Error(`The call was ${outcome.status}: ${said}`);
  }
  return outcome.data as JsonValue as JsonObject;
}

/** The code of a call that must have failed or been refused. */
export function codeOf(outcome: Outcome): string {
  if ('fault' in outcome) return outcome.fault.code;
  throw new Error(`The call was ${outcome.status}`);
}

import type { Kysely } from 'kysely';
import { createInventory, type Inventory } from '../../src/catalogue/inventory.ts';
import type { JsonObject } from '../../src/contract/json.ts';
import { type McpPolicyConfig, mcpPolicy } from '../../src/contract/policy.ts';
import type { Approval, Log } from '../../src/contract/ports.ts';
import { LOCAL_AGENT, type Principal } from '../../src/contract/principal.ts';
import type { ToolkitHost } from '../../src/contract/toolkit.ts';
import type { CallRequest, CallResult } from '../../src/kernel/call/call.ts';
import { createKernel, type Kernel } from '../../src/kernel/kernel.ts';
import { compilePolicy, type Policy } from '../../src/kernel/policy/index.ts';
import type { Database } from '../../src/kernel/store/database.ts';
import { createLedgerTable, Gate, ledgerRows, ledgerToolkit } from './ledger.ts';

export const PERSON: Principal = { kind: 'person', id: 'ada' };
export const AGENT: Principal = LOCAL_AGENT;
export const OTHER: Principal = { kind: 'agent', id: 'other' };

export interface TestKernel {
  readonly kernel: Kernel;
  readonly inventory: Inventory;
  readonly notified: Approval[];
  call(tool: string, args: JsonObject, more?: Partial<CallRequest>): Promise<CallResult>;
  setPolicy(policy: Partial<McpPolicyConfig>): Promise<void>;
  lines(): Promise<string[]>;
  readonly gate: Gate;
  /** Lets calls with `hold: true` go on. */
  release(): void;
}

export interface TestKernelOptions {
  readonly policy?: Partial<McpPolicyConfig>;
  readonly mode?: 'autopilot' | 'composer';
  readonly agentsMayApprove?: boolean;
  readonly maxPending?: number;
  readonly passkey?: 'off' | 'destructive' | 'always';
  readonly now?: () => Date;
  readonly log?: Log;
}

const quiet: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** A kernel with the ledger toolkit on a store; what another process would build on the same store. */
export async function openTestKernel(
  database: Database,
  dataDir: string,
  options: TestKernelOptions = {},
): Promise<TestKernel> {
  await createLedgerTable(database.db as unknown as Kysely<unknown>);
  const gate = new Gate();
  const toolkit = ledgerToolkit(gate);
  const host = { db: () => database.db } as unknown as ToolkitHost;
  const inventory = await createInventory([{ id: 'ledger', load: async () => toolkit }], async () => host);
  const compile = (policy: Partial<McpPolicyConfig>): Promise<Policy> =>
    compilePolicy({
      mode: options.mode ?? 'autopilot',
      approvalMode: options.mode === 'composer',
      policy: mcpPolicy.schema.parse({ max_mutations_per_hour: 100_000, ...policy }),
      catalogue: toolkit.tools.map((tool) => ({
        name: tool.name,
        toolkit: 'ledger',
        category: tool.category,
        effect: tool.effect,
        policyName: tool.policyName,
        inputJson: tool.input.json,
      })),
      toolkits: [],
    });
  let policy = await compile(options.policy ?? {});
  const notified: Approval[] = [];
  const kernel = createKernel({
    database,
    dataDir,
    log: options.log ?? quiet,
    now: options.now,
    limits: {
      deadlineMs: 5_000,
      agentsMayApprove: options.agentsMayApprove ?? false,
      approvalExpiryMs: 86_400_000,
      maxPending: options.maxPending ?? 10_000,
      maxKeyLength: 512,
      passkey: options.passkey ?? 'off',
    },
    policy: {
      get current() {
        return policy;
      },
      stamp: 'none',
      refresh: async () => {},
    },
    resolve: (name) => inventory.resolve(name),
    notify: (approval) => notified.push(approval),
  });
  return {
    kernel,
    inventory,
    notified,
    async call(tool, args, more) {
      const bound = await inventory.resolve(tool);
      if (!bound) throw new Error(`No tool ${tool}`);
      return kernel.invoke({ bound, args, principal: AGENT, transport: 'test', ...more });
    },
    async setPolicy(next) {
      policy = await compile(next);
    },
    lines: async () => (await ledgerRows(database.db as unknown as Kysely<unknown>)).map(({ text }) => text),
    gate,
    release: () => gate.open(),
  };
}

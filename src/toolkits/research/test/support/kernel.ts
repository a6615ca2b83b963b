import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freshSqlite } from '../../../../../test/support/engines.ts';
import { openStorage } from '../../../../app/open-storage.ts';
import { createInventory } from '../../../../catalogue/inventory.ts';
import type { JsonObject, JsonValue } from '../../../../contract/json.ts';
import type { Outcome } from '../../../../contract/outcome.ts';
import { mcpPolicy } from '../../../../contract/policy.ts';
import type { KernelPorts } from '../../../../contract/ports.ts';
import type { Principal } from '../../../../contract/principal.ts';
import type { Toolkit, ToolkitHost } from '../../../../contract/toolkit.ts';
import type { CallRequest } from '../../../../kernel/call/call.ts';
import { createKernel, type Kernel } from '../../../../kernel/kernel.ts';
import { compilePolicy } from '../../../../kernel/policy/index.ts';
import { research } from '../../config.ts';
import type { ResearchServices } from '../../services.ts';
import { toolkit } from '../../toolkit.ts';
import { makeQualCoderProject } from './qualcoder.ts';
import { silentLog } from './research.ts';

export const ADA: Principal = { kind: 'person', id: 'ada' };
export const CLAUDE: Principal = { kind: 'agent', id: 'local', label: 'claude-code' };

export interface ResearchWorld {
  readonly dir: string;
  readonly kernel: Kernel;
  services(): Promise<ResearchServices>;
  /** Calls a tool through the whole pipeline, as the agent unless said otherwise. */
  call(tool: string, args?: JsonObject, more?: Partial<CallRequest>): Promise<Outcome>;
  /** The data of a call that must succeed. */
  data<T = JsonObject>(tool: string, args?: JsonObject, more?: Partial<CallRequest>): Promise<T>;
  /** The code of the fault of a call that must fail. */
  fault(tool: string, args?: JsonObject, more?: Partial<CallRequest>): Promise<string>;
  view<T = JsonValue>(name: string, params?: JsonObject): Promise<T>;
  close(): Promise<void>;
}

export interface WorldOptions {
  readonly config?: JsonObject;
  /** Use the folder and the store another process left. */
  readonly dir?: string;
  readonly agentsMayApprove?: boolean;
  /** A person must approve every change, not only what deletes. */
  readonly asksForChanges?: boolean;
  /** The address of the database; left out: a file in the folder. */
  readonly url?: string;
}

/** The research toolkit on a real kernel and a real store. */
export async function openResearchWorld(options: WorldOptions = {}): Promise<ResearchWorld> {
  const dir = options.dir ?? mkdtempSync(join(tmpdir(), 'countersign-research-'));
  const path = join(dir, 'store.db');
  const url = options.url ?? (existsSync(path) ? path : freshSqlite(path));
  const database = await openStorage({ url });
  const now = () => new Date();
  let kernel: Kernel;
  const host = {
    section: () => research.schema.parse(options.config ?? {}),
    mode: 'autopilot',
    approvalMode: false,
    dataDir: join(dir, 'data'),
    engine: database.engine,
    db: () => database.db as never,
    get kernel() {
      return {
        approvals: kernel.approvals,
        telemetry: kernel.telemetry,
        events: kernel.events,
        leases: kernel.leases,
        audit: {
          proof: async () => undefined,
          differences: async () => [],
          checkpoint: async () => 'a checkpoint',
        },
      } as unknown as KernelPorts;
    },
    log: silentLog,
    env: {},
    now,
  } as unknown as ToolkitHost;
  const inventory = await createInventory(
    [{ id: 'research', load: async () => toolkit as unknown as Toolkit }],
    async () => host,
  );
  const policy = await compilePolicy({
    mode: 'autopilot',
    approvalMode: false,
    policy: mcpPolicy.schema.parse({
      max_mutations_per_hour: 100_000,
      rules: options.asksForChanges
        ? [{ id: 'ask-all', toolkits: ['research'], principals: ['agent'], action: 'ask' }]
        : [],
    }),
    catalogue: toolkit.tools.map((tool) => ({
      name: tool.name,
      toolkit: 'research',
      category: tool.category,
      effect: tool.effect,
      inputJson: tool.input.json,
    })),
    toolkits: [],
  });
  kernel = createKernel({
    database,
    dataDir: join(dir, 'data'),
    log: silentLog,
    now,
    limits: {
      deadlineMs: 60_000,
      agentsMayApprove: options.agentsMayApprove ?? false,
      approvalExpiryMs: 86_400_000,
      maxPending: 10_000,
      maxKeyLength: 512,
    },
    policy: { current: policy, stamp: 'none', refresh: async () => {} },
    resolve: (name) => inventory.resolve(name),
    notify: () => {},
  });
  const bound = async (name: string) => {
    const found = await inventory.resolve(name);
    if (!found) throw new Error(`No tool ${name}`);
    return found;
  };
  const world: ResearchWorld = {
    dir,
    kernel,
    services: async () => (await (await bound('list_codes')).services()) as ResearchServices,
    async call(tool, args = {}, more) {
      const { outcome } = await kernel.invoke({
        bound: await bound(tool),
        args,
        principal: CLAUDE,
        transport: 'test',
        ...more,
      });
      return outcome;
    },
    async data<T>(tool: string, args?: JsonObject, more?: Partial<CallRequest>) {
      const outcome = await world.call(tool, args, more);
      if (outcome.status !== 'ok') throw new Error(`${tool}: ${describe(outcome)}`);
      const schema = toolkit.tools.find(({ name }) => name === tool)?.output.parse(outcome.data);
      if (!schema?.ok) throw new Error(`${tool} broke its output schema: ${JSON.stringify(schema?.issues)}`);
      return JSON.parse(JSON.stringify(outcome.data)) as T;
    },
    async fault(tool, args, more) {
      const outcome = await world.call(tool, args, more);
      if (!('fault' in outcome)) throw new Error(`${tool} did not fail: ${describe(outcome)}`);
      return outcome.fault.code;
    },
    async view<T>(name: string, params: JsonObject = {}) {
      const view = toolkit.views?.[name];
      if (!view) throw new Error(`No view ${name}`);
      const data = await view(params, { services: await world.services(), person: ADA });
      return JSON.parse(JSON.stringify(data)) as T;
    },
    async close() {
      await inventory.close();
      await kernel.flush();
      await database.close();
      if (!options.dir) rmSync(dir, { recursive: true, force: true });
    },
  };
  return world;
}

/** A world with a QualCoder project open in it. */
export async function openWithProject(
  options: WorldOptions = {},
  version = 14,
): Promise<ResearchWorld & { readonly path: string; readonly file: string }> {
  const world = await openResearchWorld(options);
  const { path, file } = makeQualCoderProject(world.dir, version);
  await world.data('open_project', { path }, { principal: ADA });
  return { ...world, path, file };
}

const describe = (outcome: Outcome): string =>
  'fault' in outcome ? `${outcome.fault.code}: ${outcome.fault.message}` : JSON.stringify(outcome);

import { userInfo } from 'node:os';
import type { Config } from './config/config.ts';
import { ConfigError } from './config/error.ts';
import { loadConfig } from './config/load.ts';
import { ToolFault } from './contract/faults.ts';
import type { JsonObject } from './contract/json.ts';
import type { KernelPorts, Log, ToolOffer } from './contract/ports.ts';
import type { Principal } from './contract/principal.ts';
import type { RunningSandbox } from './contract/sandbox.ts';
import type { Toolkit, ToolkitHost } from './contract/toolkit.ts';
import { createNotifier } from './kernel/approvals/notify.ts';
import { CheckpointWriter } from './kernel/audit/checkpoint-writer.ts';
import { createAuditPort } from './kernel/audit/port.ts';
import type { Database } from './kernel/database.ts';
import { createHealth } from './kernel/health.ts';
import { createKernel, type Kernel } from './kernel/kernel.ts';
import { PolicyError } from './kernel/policy/error.ts';
import type { PolicyInput } from './kernel/policy/index.ts';
import { PolicyInForce } from './kernel/policy-in-force.ts';
import { createPolicyPort } from './kernel/policy-port.ts';
import { createLog } from './lib/log.ts';
import { VERSION } from './lib/version.ts';
import { createInventory, type Inventory, type ToolkitSource } from './registry/inventory.ts';
import { openStorage } from './storage/open.ts';
import { toolkitEntries } from './toolkits/index.generated.ts';

export interface AppOptions {
  readonly configPath?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags?: Readonly<Record<string, unknown>>;
  /** Toolkits beyond the product's own (test fixtures). */
  readonly extraToolkits?: readonly ToolkitSource[];
  readonly log?: Log;
  readonly now?: () => Date;
}

export interface App {
  readonly config: Config;
  readonly log: Log;
  readonly database: Database;
  readonly kernel: Kernel;
  readonly inventory: Inventory;
  readonly ports: KernelPorts;
  readonly checkpoints: CheckpointWriter;
  /** The person this process acts for: whoever runs it. */
  readonly person: Principal;
  readonly env: AppOptions['env'];
  readonly policy: PolicyInForce;
  hostFor(toolkit: Toolkit): ToolkitHost;
  now(): Date;
  close(): Promise<void>;
}

/** Puts everything together by hand: configuration, store, kernel, toolkits. Transports come on top. */
export async function openApp(options: AppOptions): Promise<App> {
  const { env } = options;
  const extra = options.extraToolkits ?? [];
  const config = readConfig(options);
  const log = options.log ?? createLog(config.log.level);
  const now = options.now ?? (() => new Date());
  const database = await openStorage({ url: config.storageUrl });

  const sandbox = createSandbox(database, now);
  const hostFor = (toolkit: Toolkit): ToolkitHost => ({
    section: (section) => config.section(section),
    get mode() {
      return policy.modes.mode;
    },
    get approvalMode() {
      return policy.modes.approvalMode;
    },
    dataDir: config.dataDir,
    engine: database.engine,
    // Each toolkit sees its own tables; the database is one.
    db: () => database.db as never,
    kernel: ports,
    log: prefixed(log, toolkit.id),
    env,
    sandbox: () => sandbox.start(),
    now,
  });
  const inventory = await createInventory(
    [...toolkitEntries, ...extra],
    async (toolkit) => {
      if (toolkit.usesTools) await Promise.all(config.toolkits.map((id) => inventory.load(id)));
      return hostFor(toolkit);
    },
    config.withheld,
  );
  const policy = new PolicyInForce(
    {
      mode: config.mode,
      approvalMode: config.approvalMode,
      policy: config.policy,
      catalogue: (needsSchemas) => policyCatalogue(inventory, needsSchemas),
    },
    database,
    now,
  );
  const kernel = createKernel({
    database,
    dataDir: config.dataDir,
    log,
    now,
    limits: {
      deadlineMs: config.calls.timeout_seconds * 1000,
      agentsMayApprove: config.approvals.agents_may_approve,
      approvalExpiryMs: config.approvals.expiry_hours * 3_600_000,
    },
    policy,
    resolve: (name) => inventory.resolve(name),
    notify: createNotifier({ ...notifySettings(config), log, env }),
  });
  const checkpoints = new CheckpointWriter({
    database,
    dataDir: config.dataDir,
    log,
    intervalMs: config.audit.checkpoint_seconds * 1000,
    now,
  });
  const ports: KernelPorts = {
    approvals: kernel.approvals,
    telemetry: kernel.telemetry,
    audit: createAuditPort(database, checkpoints, () => kernel.flush()),
    policy: createPolicyPort(() => policy.current, database, now),
    config: { path: config.path, masked: () => config.masked(), problems: () => configProblems(options) },
    health: createHealth({ kernel, database, startedAt: now(), now, version: VERSION }),
    leases: kernel.leases,
    events: kernel.events,
    artifacts: kernel.artifacts,
    invoke: (name, args, principal, how) => invokeInside(kernel, inventory, name, args, principal, how),
    tools: () => offers(inventory, config),
  };
  try {
    await policy.refresh();
  } catch (error) {
    // Rules of the web app stand in no file, and among the others they shift the count.
    const inFile = error instanceof PolicyError && (await policy.overrides()).rules.length === 0;
    await database.close();
    throw inFile ? config.errorFor(error.problems) : error;
  }

  return {
    config,
    log,
    database,
    kernel,
    inventory,
    ports,
    checkpoints,
    env,
    person: { kind: 'person', id: userName() },
    policy,
    hostFor,
    now,
    async close() {
      await inventory.close();
      await sandbox.close();
      await kernel.flush();
      await checkpoints.close();
      await database.close();
    },
  };
}

/** The configuration alone, for what must work without a store. */
export const readConfig = ({ configPath, env, flags, extraToolkits = [] }: AppOptions): Config =>
  loadConfig({
    path: configPath,
    env,
    flags,
    sections: toolkitEntries.flatMap(({ sections }) => sections),
    toolkits: [...toolkitEntries, ...extraToolkits].map(({ id }) => id),
  });

/** The local X API: started by whoever needs it first, in this process, with its state in the store. */
function createSandbox(database: Database, now: () => Date) {
  let running: Promise<RunningSandbox> | undefined;
  return {
    start(): Promise<RunningSandbox> {
      running ??= import('./sandbox/start.ts').then(({ startSandbox }) =>
        startSandbox({ db: database.db as never, now }),
      );
      return running;
    },
    async close(): Promise<void> {
      await (await running)?.close();
    },
  };
}

/** Schemas of every tool are loaded only for a policy that has conditions to check against them. */
async function policyCatalogue(
  inventory: Inventory,
  needsSchemas: boolean,
): Promise<PolicyInput['catalogue']> {
  const schemas = new Map<string, JsonObject>();
  if (needsSchemas) {
    for (const { id } of inventory.sources) {
      for (const { tool } of (await inventory.load(id)).tools)
        schemas.set(tool.name, tool.input.json as JsonObject);
    }
  }
  return inventory.catalogue.map((entry) => ({ ...entry, inputJson: schemas.get(entry.name) ?? {} }));
}

/** Toolkits act for themselves only: as the system's own clock, or as the assistant. Never as a person or an agent. */
async function invokeInside(
  kernel: Kernel,
  inventory: Inventory,
  name: string,
  args: JsonObject,
  principal: Principal,
  how: Parameters<KernelPorts['invoke']>[3],
): ReturnType<KernelPorts['invoke']> {
  const allowed = principal.kind === 'system' || (principal.kind === 'agent' && principal.id === 'assistant');
  if (!allowed) throw new ToolFault('internal', 'A toolkit tried to act in somebody else’s name.');
  const bound = await inventory.resolve(name);
  if (!bound) throw new ToolFault('not_found', `There is no tool named ${name}.`);
  const { outcome } = await kernel.invoke({
    bound,
    args,
    principal,
    transport: 'internal',
    idempotencyKey: how?.idempotencyKey,
    signal: how?.signal,
    reason: how?.reason,
  });
  return outcome;
}

function offers(inventory: Inventory, config: Config): ToolOffer[] {
  const enabled = new Set(config.toolkits);
  return inventory.loaded().flatMap(({ toolkit, tools }) =>
    enabled.has(toolkit.id)
      ? tools
          .filter(({ tool }) => tool.profiles.includes(config.profile))
          .map(({ tool }) => ({
            name: tool.name,
            summary: tool.summary,
            effect: tool.effect,
            toolkit: toolkit.id,
            inputJson: tool.input.json as JsonObject,
          }))
      : [],
  );
}

async function configProblems(options: AppOptions): Promise<{ path: string; message: string }[]> {
  try {
    loadConfig({
      path: options.configPath,
      env: options.env,
      flags: options.flags,
      sections: toolkitEntries.flatMap(({ sections }) => sections),
    });
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map(({ path, message }) => ({ path, message }));
  }
}

const notifySettings = ({ approvals }: Config) => ({
  webhook: approvals.notify.webhook,
  desktop: approvals.notify.desktop,
});

const prefixed = (log: Log, toolkit: string): Log => ({
  debug: (message, fields) => log.debug(message, { toolkit, ...fields }),
  info: (message, fields) => log.info(message, { toolkit, ...fields }),
  warn: (message, fields) => log.warn(message, { toolkit, ...fields }),
  error: (message, fields) => log.error(message, { toolkit, ...fields }),
});

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'unknown';
  }
}

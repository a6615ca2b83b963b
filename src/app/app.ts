import { userInfo } from 'node:os';
import { createInventory, type Inventory, type ToolkitSource } from '../catalogue/inventory.ts';
import type { Config } from '../config/config.ts';
import { loadConfig } from '../config/load.ts';
import { ConfigError } from '../config/path.ts';
import { ToolError } from '../contract/errors.ts';
import type { JsonObject } from '../contract/json.ts';
import type { KernelPorts, Log, ToolOffer } from '../contract/ports.ts';
import type { Principal } from '../contract/principal.ts';
import type { Toolkit, ToolkitHost } from '../contract/toolkit.ts';
import { findInboxUrl, findRunningInbox } from '../daemon/running-server.ts';
import type { Gateway, GatewayOptions } from '../gateway/gateway.ts';
import { createNotifier } from '../kernel/approvals/notify.ts';
import { createHealth } from '../kernel/health.ts';
import { createKernel, type Kernel } from '../kernel/kernel.ts';
import { createAuditPort } from '../kernel/log/port.ts';
import { CheckpointWriter } from '../kernel/log/signing/checkpoint-writer.ts';
import { PolicyError } from '../kernel/policy/catalogue.ts';
import { PolicyInForce } from '../kernel/policy/in-force.ts';
import type { PolicyInput } from '../kernel/policy/index.ts';
import { createPolicyPort } from '../kernel/policy/port.ts';
import { databaseClock } from '../kernel/store/clock.ts';
import { type Database, hasServers } from '../kernel/store/database.ts';
import { createLog, VERSION } from '../lib/log.ts';
import { toolkitEntries } from '../toolkits/index.generated.ts';
import { openStorage } from './open-storage.ts';
import { startOpenTelemetry } from './open-telemetry.ts';

export interface AppOptions {
  readonly configPath?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags?: Readonly<Record<string, unknown>>;
  /** Toolkits beyond the product's own (test fixtures). */
  readonly extraToolkits?: readonly ToolkitSource[];
  readonly log?: Log;
  readonly now?: () => Date;
  /** It is opened to serve agents, not for one command: then everything that is configured has to work. */
  readonly isServing?: boolean;
  /** A database that does not belong to the data directory, opened to look at it: the key does not sign it. */
  readonly isOtherStore?: boolean;
}

export interface App {
  readonly config: Config;
  readonly log: Log;
  readonly database: Database;
  readonly kernel: Kernel;
  readonly inventory: Inventory;
  readonly ports: KernelPorts;
  readonly checkpoints: CheckpointWriter;
  /** The person this process acts for: the one who runs it. */
  readonly person: Principal;
  readonly env: AppOptions['env'];
  readonly policy: PolicyInForce;
  /** Third-party servers; undefined where none is configured. */
  readonly gateway: Gateway | undefined;
  hostFor(toolkit: Pick<Toolkit, 'id'>): ToolkitHost;
  now(): Date;
  /** The database's own time. */
  databaseNow(): Date;
  close(): Promise<void>;
}

/** Puts everything together by hand: configuration, store, kernel, toolkits. Transports come on top. */
export async function openApp(options: AppOptions): Promise<App> {
  const { env } = options;
  const extra = options.extraToolkits ?? [];
  const config = readConfig(options);
  const log = options.log ?? createLog(config.log.level);
  const now = options.now ?? (() => new Date());
  const hidden = hiddenTools(config, env);
  const otel = await startOpenTelemetry(config, log, { isServing: options.isServing ?? false });
  const database = await openStorage({
    url: config.storageUrl,
    dataDir: options.isOtherStore ? undefined : config.dataDir,
  });
  const databaseNow = options.now ?? (await databaseClock(database));

  const hostFor = (toolkit: Pick<Toolkit, 'id'>): ToolkitHost => ({
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
    now,
  });
  const gateway = await openGateway(config, database, { env, log, now });
  const inventory = await createInventory(
    [...toolkitEntries, ...extra, ...(gateway?.sources ?? [])],
    async (toolkit) => {
      if (toolkit.usesTools) await Promise.all(config.toolkits.map((id) => inventory.load(id)));
      return hostFor(toolkit);
    },
    config.withheld,
    hidden,
  );
  gateway?.follow((sources) => inventory.replace(sources));
  const policy = new PolicyInForce(
    {
      mode: config.mode,
      approvalMode: config.approvalMode,
      policy: config.policy,
      toolkits: [
        ...toolkitEntries.flatMap(({ policy }) => policy ?? []),
        ...Object.entries(config.servers).map(([toolkit, { changes }]) => ({ toolkit, changes })),
      ],
      catalogue: (needsSchemas) => policyCatalogue(inventory, needsSchemas),
      expected: () =>
        inventory.sources.filter(({ catalogue }) => catalogue?.length === 0).map(({ id }) => id),
      catalogueVersion: () => inventory.version,
    },
    database,
    now,
  );
  const openAt = (id: number) => findInboxUrl({ database, config }, id);
  const kernel = createKernel({
    database,
    dataDir: config.dataDir,
    log,
    now,
    databaseNow,
    limits: {
      deadlineMs: config.calls.timeout_seconds * 1000,
      agentsMayApprove: config.approvals.agents_may_approve,
      dialogs: config.approvals.dialogs,
      passkey: config.approvals.passkey,
      approvalExpiryMs: config.approvals.expiry_hours * 3_600_000,
      maxPending: config.approvals.max_pending_per_agent,
      maxKeyLength: config.calls.max_idempotency_key_length,
    },
    policy,
    tracing: otel?.tracing,
    resolve: (name) => inventory.resolve(name),
    reservedNames: ACTED_NAMES,
    inboxUrl: openAt,
    runningInbox: (id) => findRunningInbox({ database, config }, id),
    notify: createNotifier({ ...notifySettings(config), log, env, inboxUrl: openAt }),
  });
  otel?.measure(kernel, now);
  const checkpoints = new CheckpointWriter({
    database,
    dataDir: config.dataDir,
    log,
    intervalMs: config.audit.checkpoint_seconds * 1000,
    origin: config.audit.origin,
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
    gateway,
    hostFor,
    now,
    databaseNow,
    async close() {
      await inventory.close();
      await gateway?.close();
      await kernel.flush();
      await otel?.close();
      if (!options.isOtherStore) await checkpoints.close();
      await database.close();
    },
  };
}

export const DEFAULT_TOOLKITS: readonly string[] = toolkitEntries
  .flatMap(({ id, rank }) => (rank === undefined ? [] : [{ id, rank }]))
  .sort((a, b) => a.rank - b.rank)
  .map(({ id }) => id);

/** Toolkits that no folder stands for. */
const RESERVED = new Set(['gateway', 'discovery']);

/** A start without servers loads nothing of the gateway. */
async function openGateway(
  config: Config,
  database: Database,
  rest: Pick<GatewayOptions, 'env' | 'log' | 'now'>,
): Promise<Gateway | undefined> {
  const { servers, dataDir } = config;
  const names = Object.keys(servers);
  if (names.length === 0 && !(await hasServers(database))) return undefined;
  const taken = names.filter((name) => RESERVED.has(name) || toolkitEntries.some(({ id }) => id === name));
  if (taken.length > 0)
    throw config.errorFor(
      taken.map((name) => ({ path: ['servers', name], message: 'is the name of a toolkit; choose another' })),
    );
  const problems = await patternProblemsOf(config);
  if (problems.length > 0) throw config.errorFor(problems);
  const { Gateway } = await import('../gateway/gateway.ts');
  return Gateway.open({ servers, dataDir, db: database.db as never, ...rest });
}

/** Patterns are few, and checking one takes an engine that a start without them does not load. */
async function patternProblemsOf({
  servers,
}: Config): ReturnType<typeof import('../gateway/reconcile.ts').patternProblems> {
  const hasPattern = Object.values(servers).some(
    ({ mask, reconcile }) => mask.length > 0 || Object.keys(reconcile).length > 0,
  );
  return hasPattern ? (await import('../gateway/reconcile.ts')).patternProblems(servers) : [];
}

/** The configuration alone, for what must work without a store. */
export const readConfig = ({ configPath, env, flags, extraToolkits = [] }: AppOptions): Config =>
  loadConfig({
    path: configPath,
    env,
    flags,
    sections: toolkitEntries.flatMap(({ sections }) => sections),
    toolkits: [...toolkitEntries, ...extraToolkits].map(({ id }) => id),
    defaultToolkits: DEFAULT_TOOLKITS,
  });

/** Tools that a toolkit's own allowlist leaves out are not listed. A misspelt name would silently forbid what it was meant to allow. */
function hiddenTools(config: Config, env: AppOptions['env']): ReadonlySet<string> {
  const settings = { section: config.section, env };
  const readings = toolkitEntries
    .filter(({ id }) => config.toolkits.includes(id))
    .flatMap(({ policy, catalogue }) => policy?.allowlist?.(catalogue, settings) ?? []);
  const problems = readings.flatMap(({ source, unknown }) =>
    unknown.map((message) => ({ source, path: '', message: `${message}.` })),
  );
  if (problems.length > 0) throw new ConfigError(problems);
  return new Set(readings.flatMap(({ hidden }) => hidden));
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

/** Agents that toolkits act as. */
export const ACTED_NAMES: readonly string[] = toolkitEntries.flatMap(({ actsAs }) => actsAs);

/** Toolkits act for themselves only: as the system's own clock, or under a name of their own. Never as a person or another agent. */
async function invokeInside(
  kernel: Kernel,
  inventory: Inventory,
  name: string,
  args: JsonObject,
  principal: Principal,
  how: Parameters<KernelPorts['invoke']>[3],
): ReturnType<KernelPorts['invoke']> {
  const allowed =
    principal.kind === 'system' || (principal.kind === 'agent' && ACTED_NAMES.includes(principal.id));
  if (!allowed) throw new ToolError('internal', 'A toolkit tried to act as another principal.');
  const bound = await inventory.resolve(name);
  if (!bound) throw new ToolError('not_found', `Tool ${name} not found.`);
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
    const config = loadConfig({
      path: options.configPath,
      env: options.env,
      flags: options.flags,
      sections: toolkitEntries.flatMap(({ sections }) => sections),
    });
    const problems = await patternProblemsOf(config);
    if (problems.length > 0) throw config.errorFor(problems);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map(({ path, message }) => ({ path, message }));
  }
}

const notifySettings = ({ approvals }: Config) => ({
  webhook: approvals.notify.webhook,
  webhookKind: approvals.notify.webhook_kind,
  webhookToken: approvals.notify.webhook_token,
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

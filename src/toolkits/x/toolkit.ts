import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Tool } from '../../contract/tool.ts';
import { defineToolkit, type ToolkitHost } from '../../contract/toolkit.ts';
import { homePath } from '../../lib/file-error.ts';
import type { XApi } from './client/api.ts';
import type { XClientTables } from './client/store.ts';
import * as config from './config.ts';
import { Writer } from './content/writer.ts';
import { tuitbot } from './dialect.ts';
import type { SandboxTables } from './emulator/stored-state.ts';
import { withDbErrors } from './errors.ts';
import { generatedTools } from './generated/tools.ts';
import { growthJobs } from './growth/jobs.ts';
import { Safety } from './growth/safety.ts';
import { createGrowthStore } from './growth/store.ts';
import type { GrowthTables } from './growth/tables.ts';
import { served } from './growth/views.ts';
import { xTarget } from './present.ts';
import type { XServices, XSettings } from './services.ts';
import { curatedTools } from './tools.ts';

const tools: readonly Tool<XServices>[] = [...curatedTools, ...generatedTools];

/** Services that reached X at least once. */
const opened = new WeakSet<XServices>();

export const toolkit = defineToolkit<XServices>({
  id: 'x',
  title: 'X',
  rank: 1,
  dialect: tuitbot,
  tools,
  views: served,
  target: xTarget,
  connect: async (host) => connect(host),
  close: async (services) => {
    // Nothing is opened just to be closed.
    if (opened.has(services)) await (await services.x()).close();
  },
  jobs: (services) => growthJobs(services, `${hostname()}:${process.pid}:${randomUUID()}`),
});

function connect(host: ToolkitHost): XServices {
  const settings = readSettings(host);
  const now = (): Date => host.now();
  const x = remembered(() => {
    opened.add(services);
    return openX(host, settings);
  });
  const growth = createGrowthStore(host.db<GrowthTables>(), () => realmOf(x));
  const safety = new Safety(settings, growth.posts, now);
  const { kernel, log } = host;
  const services: XServices = {
    x,
    settings,
    growth,
    safety,
    writer: new Writer({
      settings,
      env: host.env,
      journal: growth.journal,
      log,
      bannedPhrase: (text) => safety.bannedPhrase(text),
      now,
      random: Math.random,
    }),
    mediaFolders: [join(host.dataDir, 'media'), ...settings.xApi.media_folders.map(homePath)],
    kernel: {
      approvals: withDbErrors(kernel.approvals),
      telemetry: withDbErrors(kernel.telemetry),
      policy: withDbErrors(kernel.policy),
      audit: kernel.audit,
      config: kernel.config,
      health: kernel.health,
      leases: kernel.leases,
      events: kernel.events,
      artifacts: kernel.artifacts,
      invoke: (tool, args, principal, options) => kernel.invoke(tool, args, principal, options),
      tools: () => kernel.tools(),
    },
    log,
    now,
    operatingMode: () => ({ mode: host.mode, approvalMode: host.approvalMode }),
    undoOf: (name, args, data) => tools.find((tool) => tool.name === name)?.rollback?.(args, data),
  };
  return services;
}

/** Opened once; a failed attempt is not kept, because a person may sign in while the server runs. */
function remembered<T>(open: () => Promise<T>): () => Promise<T> {
  let kept: Promise<T> | undefined;
  return () => {
    kept ??= open().catch((error: unknown) => {
      kept = undefined;
      throw error;
    });
    return kept;
  };
}

/** What the sandbox did is never counted as done on X. */
async function realmOf(x: () => Promise<XApi>): Promise<string> {
  const api = await x().catch(() => undefined);
  return api?.provider.backend === 'sandbox' ? 'sandbox' : 'x';
}

const readSettings = (host: ToolkitHost): XSettings => ({
  xApi: host.section(config.xApi),
  business: host.section(config.business),
  scoring: host.section(config.scoring),
  limits: host.section(config.limits),
  intervals: host.section(config.intervals),
  llm: host.section(config.llm),
  targets: host.section(config.targets),
  schedule: host.section(config.schedule),
  circuitBreaker: host.section(config.circuitBreaker),
});

async function openX(host: ToolkitHost, settings: XSettings): Promise<XApi> {
  const { connectX } = await import('./client/connect.ts');
  const db = host.db<SandboxTables>();
  return connectX({
    settings: settings.xApi,
    dataDir: host.dataDir,
    db: host.db<XClientTables>(),
    leases: host.kernel.leases,
    log: host.log,
    now: () => host.now(),
    sandbox: async () => (await import('./emulator/start.ts')).sharedSandbox({ db, now: () => host.now() }),
  });
}

import { join } from 'node:path';
import type { Tool } from '../../contract/tool.ts';
import { defineToolkit, type ToolkitHost } from '../../contract/toolkit.ts';
import type { XApi } from './client/api.ts';
import { connectX } from './client/connect.ts';
import type { XClientTables } from './client/tables.ts';
import * as config from './config.ts';
import { Writer } from './content/writer.ts';
import { Safety } from './growth/safety.ts';
import { createGrowthStore } from './growth/store.ts';
import type { GrowthTables } from './growth/tables.ts';
import { withDbFaults } from './lib/db-faults.ts';
import { expandHome } from './lib/media-file.ts';
import type { XServices, XSettings } from './services.ts';
import { curatedTools } from './tools.ts';

const tools: readonly Tool<XServices>[] = curatedTools;

export const toolkit = defineToolkit<XServices>({
  id: 'x',
  title: 'X',
  dialect: 'tuitbot',
  tools,
  connect: async (host) => connect(host),
});

function connect(host: ToolkitHost): XServices {
  const settings = readSettings(host);
  const now = (): Date => host.now();
  const x = remembered(() => openX(host, settings));
  const growth = createGrowthStore(host.db<GrowthTables>(), () => realmOf(x));
  const safety = new Safety(settings, growth.posts, now);
  const { kernel, log } = host;
  return {
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
    mediaFolders: [join(host.dataDir, 'media'), ...settings.xApi.media_folders.map(expandHome)],
    kernel: {
      approvals: withDbFaults(kernel.approvals),
      telemetry: withDbFaults(kernel.telemetry),
      policy: withDbFaults(kernel.policy),
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
    stance: () => ({ mode: host.mode, approvalMode: host.approvalMode }),
    undoOf: (name, args, data) => tools.find((tool) => tool.name === name)?.rollback?.(args, data),
  };
}

/** Opened once; a failed attempt is not kept, because a person may sign in while the server runs. */
function remembered<T>(open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | undefined;
  return () => {
    opened ??= open().catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
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

function openX(host: ToolkitHost, settings: XSettings): Promise<XApi> {
  const { sandbox } = host;
  return connectX({
    settings: settings.xApi,
    dataDir: host.dataDir,
    db: host.db<XClientTables>(),
    leases: host.kernel.leases,
    log: host.log,
    now: () => host.now(),
    ...(sandbox ? { sandbox: () => sandbox.call(host, 'x') } : {}),
  });
}

import type { App } from '../../app.ts';
import type { Profile } from '../../contract/profile.ts';
import { expireDue } from '../../kernel/approvals/decide.ts';
import { erasePayloads } from '../../kernel/audit/index.ts';
import { createServed } from '../../serving.ts';
import { mustHaveToken, serveOnHttp } from '../../transports/http.ts';
import type { Served } from '../../transports/served.ts';
import { serveOnTcp } from '../../transports/tcp.ts';
import { createWebApp } from '../../web/server.ts';
import { webPorts } from '../../web-ports.ts';
import { CliError, type GlobalOptions, withApp } from '../context.ts';
import { complain } from '../output.ts';
import { rememberServer } from '../running-server.ts';
import { parseAddress, tellInUse, untilStopped } from './mcp-serve.ts';

interface UpOptions {
  readonly port?: string;
  readonly host?: string;
  readonly profile?: Profile;
  readonly toolkits?: string;
}

const UPKEEP_MS = 15_000;
const DAY_MS = 86_400_000;

/** The daemon: HTTP for agents and people, TCP when asked for, the toolkits' jobs, and the upkeep of the store. */
export function up(global: GlobalOptions, options: UpOptions): Promise<void> {
  const flags = {
    'server.port': options.port,
    'server.host': options.host,
    profile: options.profile,
    toolkits: options.toolkits?.split(',').map((id) => id.trim()),
  };
  return withApp(global, (app) => run(app), { flags });
}

async function run(app: App): Promise<void> {
  const { config, kernel, log } = app;
  const { host, port } = config.server;
  const tcpAddress = app.env.TOOLHUB_MCP_LISTEN || config.server.tcp;
  const active = (await kernel.agents.list()).filter(({ revokedAt }) => revokedAt === undefined).length;
  for (const place of [host, ...(tcpAddress ? [parseAddress(tcpAddress).host] : [])]) {
    const refusal = mustHaveToken(place, active);
    if (refusal) throw new CliError(refusal);
  }

  const served = await createServed(app, {
    toolkits: config.toolkits,
    profile: config.profile,
    discovery: false,
  });
  const http = await serveOnHttp(served, {
    host,
    port,
    allowedHosts: allowedHosts(app),
    web: createWebApp(webPorts(app)),
  }).catch(tellInUse({ host, port }, '--port'));
  const tcp = tcpAddress ? await listenOnTcp(served, tcpAddress) : undefined;
  const stop = new AbortController();
  const jobs = await startJobs(app, stop.signal);
  const upkeep = startUpkeep(app);
  app.checkpoints.start();
  await rememberServer(app, `http://${http.host}:${http.port}`);
  complain(`Countersign is running at http://${http.host}:${http.port}`);
  if (tcp) complain(`JSON-RPC over TCP at ${tcp.host}:${tcp.port}`);
  complain('Sign in to the inbox with: countersign open      Stop with Ctrl-C');
  await untilStopped();
  log.info('Stopping');
  stop.abort();
  clearInterval(upkeep);
  await Promise.allSettled(jobs);
  await tcp?.close();
  await http.close();
}

function listenOnTcp(served: Served, tcpAddress: string): ReturnType<typeof serveOnTcp> {
  const address = parseAddress(tcpAddress);
  return serveOnTcp(served, address).catch(tellInUse(address, 'another server.tcp'));
}

function allowedHosts({ config }: App): string[] {
  const { allowed_hosts, public_url } = config.server;
  return [...allowed_hosts, ...(public_url ? [new URL(public_url).hostname] : [])];
}

/** Every enabled toolkit's long-running work. One that fails is logged and does not take the others along. */
async function startJobs(app: App, signal: AbortSignal): Promise<Promise<void>[]> {
  const running: Promise<void>[] = [];
  for (const id of app.config.toolkits) {
    const { toolkit, services } = await app.inventory.load(id);
    if (!toolkit.jobs) continue;
    try {
      for (const job of toolkit.jobs(await services(), app.hostFor(toolkit))) {
        running.push(
          job.run(signal).catch((error: unknown) => {
            if (!signal.aborted)
              app.log.error('A job of a toolkit stopped', { toolkit: id, job: job.name, error });
          }),
        );
      }
    } catch (error) {
      app.log.error('The jobs of a toolkit could not be started', { toolkit: id, error });
    }
  }
  return running;
}

function startUpkeep(app: App): NodeJS.Timeout {
  let busy = false;
  let erasedAt = 0;
  const tick = async (): Promise<void> => {
    if (busy) return;
    busy = true;
    try {
      await app.policy.refresh();
      await app.kernel.recover();
      await expireDue(app.kernel.queue);
      await app.kernel.events.prune();
      const { retention_days: days } = app.config.audit;
      if (days > 0 && Date.now() - erasedAt > DAY_MS) {
        erasedAt = Date.now();
        const before = new Date(app.now().getTime() - days * DAY_MS);
        await erasePayloads(
          app.database,
          { before },
          { artifacts: app.kernel.artifacts, principal: 'system:retention', now: app.now() },
        );
      }
    } catch (error) {
      app.log.error('The upkeep of the store failed', { error });
    } finally {
      busy = false;
    }
  };
  void tick();
  return setInterval(() => void tick(), UPKEEP_MS);
}

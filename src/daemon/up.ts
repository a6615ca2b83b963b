import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from '../app/app.ts';
import { createServed } from '../app/serving.ts';
import { webPorts } from '../app/web-ports.ts';
import { CliError } from '../contract/command.ts';
import type { Job } from '../contract/toolkit.ts';
import { httpUrl } from '../lib/http-url.ts';
import { printJson, printStderr } from '../terminal/output.ts';
import { mustHaveToken, serveOnHttp } from '../transports/http.ts';
import type { Served } from '../transports/served.ts';
import { serveOnTcp } from '../transports/tcp.ts';
import { createWebApp } from '../web/server.ts';
import { addressFromEnv, addressInUseError, parseAddress, untilStopped } from './listen.ts';
import { rememberServer } from './running-server.ts';
import { Upkeep } from './upkeep.ts';

/**
 * The daemon: HTTP for agents and people, TCP when asked for, the toolkits' jobs, and the upkeep of the store. Runs until
 * the process is told to stop.
 */
export async function serve(app: App, { json }: { readonly json: boolean }): Promise<void> {
  const { config, kernel, log } = app;
  const { host, port } = config.server;
  const tcpAddress = listenAddress(app);
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
  const web = webPorts(app);
  const http = await serveOnHttp(served, {
    host,
    port,
    allowedHosts: config.server.allowed_hosts,
    publicUrl: config.server.public_url,
    web: createWebApp(web),
  }).catch(addressInUseError({ host, port }, '--port'));
  const tcp = tcpAddress ? await listenOnTcp(served, tcpAddress) : undefined;
  const stop = new AbortController();
  const jobs = await startJobs(app, stop.signal);
  const upkeep = new Upkeep(app).start();
  app.checkpoints.start();
  const url = httpUrl(http.host, http.port);
  await rememberServer(app, url);
  // Before anyone can read the address: who does may stop the server right away.
  const stopped = untilStopped();
  // For a program that starts the server and needs to know where it listens.
  if (json) printJson({ url, tcp: tcp ? `${tcp.host}:${tcp.port}` : null });
  printStderr(`Countersign is running at ${url}`);
  if (tcp) printStderr(`JSON-RPC over TCP at ${tcp.host}:${tcp.port}`);
  printStderr('Sign in to the inbox: countersign open      Press Ctrl-C to stop');
  await stopped;
  log.info('Stopping');
  stop.abort();
  clearInterval(upkeep);
  await Promise.allSettled([...jobs, web.holds.close()]);
  await tcp?.close();
  await http.close();
}

const listenAddress = ({ config, env }: App): string | undefined => addressFromEnv(env) ?? config.server.tcp;

function listenOnTcp(served: Served, tcpAddress: string): ReturnType<typeof serveOnTcp> {
  const address = parseAddress(tcpAddress);
  return serveOnTcp(served, address).catch(addressInUseError(address, 'another server.tcp'));
}

/** Every enabled toolkit's long-running work. One that fails is logged and does not take the others along. */
async function startJobs(app: App, signal: AbortSignal): Promise<Promise<void>[]> {
  const running: Promise<void>[] = [];
  for (const id of app.config.toolkits) {
    const { toolkit, services } = await app.inventory.load(id);
    if (!toolkit.jobs) continue;
    try {
      for (const job of toolkit.jobs(await services(), app.hostFor(toolkit))) {
        running.push(keepRunning(app, id, job, signal));
      }
    } catch (error) {
      app.log.error('Could not start toolkit jobs', { toolkit: id, error });
    }
  }
  return running;
}

const RESTART_MS = [1_000, 5_000, 15_000, 60_000];

/** Starts a job that failed again, ever more slowly: a database that restarts must not end it for good. */
async function keepRunning(app: App, toolkit: string, job: Job, signal: AbortSignal): Promise<void> {
  for (let failures = 0; !signal.aborted; failures += 1) {
    try {
      return await job.run(signal);
    } catch (error) {
      if (signal.aborted) return;
      const wait = RESTART_MS[Math.min(failures, RESTART_MS.length - 1)] ?? 60_000;
      app.log.error('A toolkit job failed and will be restarted', {
        toolkit,
        job: job.name,
        in_ms: wait,
        error,
      });
      await sleep(wait, undefined, { signal }).catch(() => {});
    }
  }
}

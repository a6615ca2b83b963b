import type { App } from '../../app.ts';
import { LOCAL_AGENT } from '../../contract/principal.ts';
import type { Profile } from '../../contract/profile.ts';
import { createServed } from '../../serving.ts';
import { serveOnStdio } from '../../transports/stdio.ts';
import { CliError, type GlobalOptions, withApp } from '../context.ts';
import { complain } from '../output.ts';

export interface ServeOptions {
  readonly toolkits?: string;
  readonly profile?: Profile;
  readonly discovery?: boolean;
  readonly tcp?: string;
}

/** Serves agents: on stdio until stdin ends, or on TCP until stopped. */
export async function mcpServe(global: GlobalOptions, options: ServeOptions): Promise<void> {
  const flags = { profile: options.profile, toolkits: options.toolkits?.split(',').map((id) => id.trim()) };
  await withApp(
    global,
    async (app) => {
      const { toolkits, profile } = app.config;
      const served = await createServed(app, { toolkits, profile, discovery: options.discovery ?? false });
      const recovering = setTimeout(() => void recover(app), RECOVER_AFTER_MS);
      app.checkpoints.start();
      try {
        if (options.tcp !== undefined) await serveTcp(app, served, options.tcp);
        else await serveOnStdio(served, await stdioPrincipal(app), app.env.COUNTERSIGN_TOKEN || undefined);
      } finally {
        clearTimeout(recovering);
      }
    },
    { flags },
  );
}

/** Looking after interrupted calls must not delay the first answer. */
const RECOVER_AFTER_MS = 1_000;

async function recover(app: App): Promise<void> {
  try {
    await app.kernel.recover();
  } catch (error) {
    app.log.error('Interrupted calls could not be looked after', { error });
  }
}

async function stdioPrincipal(app: App) {
  const token = app.env.COUNTERSIGN_TOKEN;
  if (!token) return LOCAL_AGENT;
  const agent = await app.kernel.agents.authenticate(token);
  if (!agent)
    throw new CliError(
      'COUNTERSIGN_TOKEN is not known or was revoked. Create one with `countersign agents add NAME`.',
    );
  return agent;
}

async function serveTcp(
  app: App,
  served: Awaited<ReturnType<typeof createServed>>,
  address: string,
): Promise<void> {
  const { serveOnTcp } = await import('../../transports/tcp.ts');
  const { mustHaveToken } = await import('../../transports/http.ts');
  const { host, port } = parseAddress(address);
  const agents = await app.kernel.agents.list();
  const refusal = mustHaveToken(host, agents.filter((agent) => agent.revokedAt === undefined).length);
  if (refusal) throw new CliError(refusal);
  const listening = await serveOnTcp(served, { host, port }).catch(
    tellInUse({ host, port }, 'another address with --tcp'),
  );
  complain(`Listening on tcp://${listening.host}:${listening.port}`);
  await untilStopped();
  await listening.close();
}

export function parseAddress(address: string): { host: string; port: number } {
  const match = /^(?:(.+):)?(\d{1,5})$/.exec(address);
  const port = Number(match?.[2]);
  if (!match || port > 65535)
    throw new CliError(`"${address}" is not an address; use HOST:PORT like 127.0.0.1:8090.`, 2);
  return { host: match[1] ?? '127.0.0.1', port };
}

export const tellInUse =
  ({ host, port }: { host: string; port: number }, instead: string) =>
  (error: Error & { code?: string }): never => {
    if (error.code !== 'EADDRINUSE') throw error;
    throw new CliError(
      `${host}:${port} is in use. Is \`countersign up\` running already? Otherwise use ${instead}.`,
    );
  };

export const untilStopped = (): Promise<void> =>
  new Promise((resolve) => {
    process.once('SIGINT', () => resolve());
    process.once('SIGTERM', () => resolve());
  });

import type { App } from '../../app/app.ts';
import { createServed } from '../../app/serving.ts';
import { CliError, type GlobalOptions } from '../../contract/command.ts';
import type { Profile } from '../../contract/tool.ts';
import { addressFromEnv, addressInUseError, parseAddress, untilStopped } from '../../daemon/listen.ts';
import { printJson, printStderr } from '../../terminal/output.ts';
import { serveOnStdio } from '../../transports/stdio.ts';
import { withApp } from '../context.ts';

export interface ServeOptions {
  readonly toolkits?: string;
  readonly profile?: Profile;
  readonly discovery?: boolean;
  readonly tcp?: string;
}

/** Serves agents: on stdio until the client leaves, or on TCP until stopped. */
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
        const address = options.tcp ?? addressFromEnv(app.env);
        if (address !== undefined) await serveTcp(app, served, address, global.json === true);
        else await serveOnStdio(served, app.env.COUNTERSIGN_TOKEN);
      } finally {
        clearTimeout(recovering);
      }
    },
    { flags, isServing: true },
  );
}

/** Looking after interrupted calls must not delay the first answer. */
const RECOVER_AFTER_MS = 1_000;

async function recover(app: App): Promise<void> {
  try {
    await app.kernel.recover();
  } catch (error) {
    app.log.error('Could not reconcile interrupted calls', { error });
  }
}

async function serveTcp(
  app: App,
  served: Awaited<ReturnType<typeof createServed>>,
  address: string,
  json: boolean,
): Promise<void> {
  const { serveOnTcp } = await import('../../transports/tcp.ts');
  const { mustHaveToken } = await import('../../transports/http.ts');
  const { host, port } = parseAddress(address);
  const agents = await app.kernel.agents.list();
  const refusal = mustHaveToken(host, agents.filter((agent) => agent.revokedAt === undefined).length);
  if (refusal) throw new CliError(refusal);
  const listening = await serveOnTcp(served, { host, port }).catch(
    addressInUseError({ host, port }, 'another address with --tcp'),
  );
  // Before anyone can read the address: who does may stop the server right away.
  const stopped = untilStopped();
  if (json) printJson({ tcp: `${listening.host}:${listening.port}` });
  printStderr(`Listening on tcp://${listening.host}:${listening.port}`);
  await stopped;
  await listening.close();
}

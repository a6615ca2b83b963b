import type { App } from '../../app/app.ts';
import { createServed } from '../../app/serving.ts';
import { CliError, type GlobalOptions } from '../../contract/command.ts';
import { SERVER_NAME } from '../../contract/servers.ts';
import { printStderr } from '../../terminal/output.ts';
import { serveOnStdio } from '../../transports/stdio.ts';
import { withApp } from '../context.ts';
import { flagsOf, pairs } from './servers-change.ts';

/**
 * The drop-in for one entry of a client's configuration: the same tools under the same names, through the pipeline. The
 * server needs no table of its own; a person trusts it like any other.
 */
export async function wrap(
  global: GlobalOptions,
  name: string,
  [command = '', ...args]: readonly string[],
  options: { readonly env?: readonly string[] },
): Promise<void> {
  if (!SERVER_NAME.test(name))
    throw new CliError(
      `"${name}" is not a usable name: use lower-case letters, digits, - and single _, at most 32.`,
      2,
    );
  // Variables that the client's entry names reach the server as they reach us.
  const flags = { ...flagsOf(name, { command, args, env: pairs(options.env, '--env') }), toolkits: [name] };
  await withApp(
    global,
    async (app) => {
      const { profile } = app.config;
      const served = await createServed(app, { toolkits: [name], profile, discovery: false, ownNames: true });
      app.checkpoints.start();
      await quarantine(app, name);
      const taking = setInterval(() => void takeApproved(app, name), TAKE_MS);
      try {
        await serveOnStdio(served, app.env.COUNTERSIGN_TOKEN);
      } finally {
        clearInterval(taking);
      }
    },
    { flags, isServing: true },
  );
}

const TAKE_MS = 1_000;

/** People approve at the command line and in the web app, which cannot run what only this client serves. */
async function takeApproved({ gateway, kernel, log }: App, name: string): Promise<void> {
  try {
    if (await gateway?.standsForOne(name)) await kernel.runHandedOver(name);
  } catch (error) {
    log.warn('Approved calls could not be looked up', { server: name, error });
  }
}

/** A server that no one trusts offers nothing; listing it puts it into the inbox. */
async function quarantine(app: App, name: string): Promise<void> {
  if (app.gateway?.sources.some(({ id, trusted }) => id === name && trusted)) return;
  printStderr(
    `The server ${name} is in quarantine. Trust its tools in the inbox, or with: countersign servers trust ${name}`,
  );
  const { services } = await app.inventory.load(name);
  const { upstream } = (await services()) as { upstream: { ready(): Promise<unknown> } };
  void upstream
    .ready()
    .catch((error: unknown) => app.log.error('The server could not be listed', { server: name, error }));
}

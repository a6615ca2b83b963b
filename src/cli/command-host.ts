import type { App } from '../app/app.ts';
import { createServed } from '../app/serving.ts';
import type { CallTrace, CommandApp, CommandHost, GlobalOptions } from '../contract/command.ts';
import { principalName } from '../contract/principal.ts';
import type { ToolkitHost } from '../contract/toolkit.ts';
import { requireServerUrl } from '../daemon/running-server.ts';
import type { Served } from '../transports/served.ts';
import { act, ask, printOutcome, readView } from './act.ts';
import { withApp } from './context.ts';

/** What the commands of one toolkit may use. */
export const commandHost = (toolkit: string, options: GlobalOptions): CommandHost => ({
  options,
  open: (work, { databaseFile } = {}) =>
    withApp(
      options,
      (app) => work(commandApp(app, toolkit, options)),
      databaseFile === undefined ? {} : { flags: { 'storage.url': databaseFile }, isOtherStore: true },
    ),
});

export function commandApp(app: App, toolkit: string, options: GlobalOptions): CommandApp {
  const { config, database, kernel, person } = app;
  const principal = principalName(person);
  const own: Omit<CommandApp, keyof ToolkitHost> = {
    person,
    databaseFile: database.engine === 'sqlite' ? config.storageUrl : undefined,
    act: (tool, args, how) => act(app, tool, args, how),
    ask: (tool, args) => ask(app, tool, args),
    view: (specs, name, params) => readView(app, toolkit, { specs, name, params }),
    async services<S>() {
      const { services } = await app.inventory.load(toolkit);
      // A toolkit names its own services.
      return (await services()) as S;
    },
    printOutcome: (acted, done) => printOutcome(options, acted, done),
    note: (kind, extra) =>
      kernel.note(
        kind === 'config'
          ? { kind, principal, extra }
          : { kind, toolkit, effect: 'read', principal, transport: 'cli', status: 'ok', extra },
      ),
    flush: () => kernel.flush(),
    serverUrl: () => requireServerUrl(app),
    async serveOnStdio({ name, trace }) {
      const { serveOnStdio } = await import('../transports/stdio.ts');
      // The command exists for this toolkit's tools, so they are listed whatever the profile; policy still decides.
      const served = await createServed(app, {
        toolkits: [toolkit],
        profile: 'write',
        discovery: false,
        name,
      });
      app.checkpoints.start();
      await serveOnStdio(trace ? traced(served, trace) : served, app.env.COUNTERSIGN_TOKEN);
    },
  };
  // Assigned, not spread: the modes of the host are read when they are asked for.
  return Object.assign(app.hostFor({ id: toolkit }), own);
}

const traced = (served: Served, trace: CallTrace): Served => ({
  ...served,
  async invoke(request) {
    trace.request({ tool: request.bound.tool.name, client: request.client, args: request.args });
    const result = await served.invoke(request);
    trace.response(result);
    return result;
  },
});

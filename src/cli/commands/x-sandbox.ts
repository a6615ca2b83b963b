import type { Kysely } from 'kysely';
import type { App } from '../../app.ts';
import { principalName } from '../../contract/principal.ts';
import type { RunningSandbox } from '../../contract/sandbox.ts';
import { pickBackend } from '../../toolkits/x/client/connect.ts';
import type { XClientTables } from '../../toolkits/x/client/tables.ts';
import { xApi } from '../../toolkits/x/config.ts';
import { forgetWorld } from '../../toolkits/x/growth/forget.ts';
import type { GrowthTables } from '../../toolkits/x/growth/tables.ts';
import { CliError, type GlobalOptions, withApp } from '../context.ts';
import { print, printJson } from '../output.ts';

interface Summary {
  readonly users: number;
  readonly posts: number;
  readonly own_posts: number;
  readonly messages: number;
  readonly links: number;
  readonly faults: number;
  readonly seeded_at: string;
}

/** What the local stand-in of X holds, and whether it is in use. */
export function sandboxStatus(global: GlobalOptions): Promise<void> {
  return withApp(global, async (app) => {
    const sandbox = await open(app);
    const summary = (await sandbox.control('summary')) as unknown as Summary;
    const backend = await backendOf(app);
    if (global.json) return printJson({ in_use: backend === 'sandbox', backend, ...summary });
    print(
      backend === 'sandbox'
        ? 'The sandbox is in use: nothing reaches X. `countersign auth x` signs in to your account.'
        : `The sandbox is not in use: calls go to ${backend}.`,
    );
    print(`\nAccounts   ${summary.users}`);
    print(`Posts      ${summary.posts}, ${summary.own_posts} of them yours`);
    print(`Messages   ${summary.messages}`);
    print(`Links      ${summary.links} (likes, follows, list members, …)`);
    if (summary.faults > 0) print(`Faults     ${summary.faults} scripted`);
    print(`Seeded at  ${summary.seeded_at}`);
  });
}

/** Puts the sandbox back to its seeded data. X itself is never touched. */
export function sandboxReset(global: GlobalOptions): Promise<void> {
  return withApp(global, async (app) => {
    const sandbox = await open(app);
    await sandbox.reset();
    await forgetWorld(app.database.db as unknown as Kysely<GrowthTables & XClientTables>, 'sandbox');
    await app.kernel.note({
      kind: 'config',
      principal: principalName(app.person),
      extra: { x_sandbox_reset: true },
    });
    if (global.json) return printJson({ reset: true, ...(await sandbox.control('summary')) });
    print('The sandbox is back to its seeded data; what was posted and found there is forgotten.');
    print('The log, drafts and schedule are as they were.');
  });
}

async function open(app: App): Promise<RunningSandbox> {
  const { toolkit } = await app.inventory.load('x');
  const sandbox = await app.hostFor(toolkit).sandbox?.('x');
  if (!sandbox) throw new CliError('This installation has no sandbox.');
  return sandbox;
}

const backendOf = (app: App) =>
  pickBackend({ settings: app.config.section(xApi), dataDir: app.config.dataDir });

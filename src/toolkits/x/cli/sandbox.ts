import type { CommandApp, CommandHost } from '../../../contract/command.ts';
import { print, printJson } from '../../../terminal/output.ts';
import { pickBackend } from '../client/connect.ts';
import type { XClientTables } from '../client/store.ts';
import { xApi } from '../config.ts';
import { type Sandbox, sharedSandbox } from '../emulator/start.ts';
import { clearRealm } from '../growth/store.ts';
import type { GrowthTables } from '../growth/tables.ts';

/** Prints what the X sandbox contains and whether it is in use. */
export function sandboxStatus(host: CommandHost): Promise<void> {
  return host.open(async (app) => {
    const sandbox = await open(app);
    const summary = await sandbox.summary();
    const backend = await backendOf(app);
    if (host.options.json) return printJson({ in_use: backend === 'sandbox', backend, ...summary });
    print(
      backend === 'sandbox'
        ? 'The sandbox is in use: nothing reaches X. To connect your account: countersign auth x'
        : `The sandbox is not in use: calls go to ${backend}.`,
    );
    print(`\nAccounts   ${summary.users}`);
    print(`Posts      ${summary.posts}, ${summary.own_posts} of them yours`);
    print(`Messages   ${summary.messages}`);
    print(`Links      ${summary.links} (likes, follows, list members, …)`);
    if (summary.faults > 0) print(`Errors     ${summary.faults} scripted`);
    print(`Seeded at  ${summary.seeded_at}`);
  });
}

/** Puts the sandbox back to its seeded data. X itself is never touched. */
export function sandboxReset(host: CommandHost): Promise<void> {
  return host.open(async (app) => {
    const sandbox = await open(app);
    await sandbox.reset();
    await clearRealm(app.db<GrowthTables & XClientTables>(), 'sandbox');
    await app.note('config', { x_sandbox_reset: true });
    if (host.options.json) return printJson({ reset: true, ...(await sandbox.summary()) });
    print(
      'Reset the sandbox to its seed data. Records of what was posted and discovered there were deleted.',
    );
    print('The audit log, drafts and schedule are unchanged.');
  });
}

const open = (app: CommandApp): Promise<Sandbox> => sharedSandbox({ db: app.db(), now: app.now });

const backendOf = (app: CommandApp) => pickBackend({ settings: app.section(xApi), dataDir: app.dataDir });

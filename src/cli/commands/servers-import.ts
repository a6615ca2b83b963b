import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'smol-toml';
import { agentCommand } from '../../app/agent-command.ts';
import type { App } from '../../app/app.ts';
import { clientPlace } from '../../app/client-place.ts';
import { CLIENTS, type Place } from '../../clients/formats.ts';
import {
  forgetRecord,
  latestRecord,
  type RecordedFile,
  recordFiles,
  saveRecord,
} from '../../clients/records.ts';
import { planReturn } from '../../clients/undo.ts';
import { CliError, type GlobalOptions } from '../../contract/command.ts';
import { principalName } from '../../contract/principal.ts';
import { readConfigText, withoutServer, withServer } from '../../gateway/config-file.ts';
import { type PlannedFile, planImport } from '../../gateway/import/plan.ts';
import { SecretStore } from '../../gateway/secrets.ts';
import { forget } from '../../gateway/store.ts';
import { replaceFile } from '../../lib/replace-file.ts';
import { shellWord } from '../../lib/text.ts';
import { print, printJson, printStderr } from '../../terminal/output.ts';
import { counted } from '../../terminal/text.ts';
import { toolkitEntries } from '../../toolkits/index.generated.ts';
import { withApp } from '../context.ts';
import { requirePersonHere } from '../person-here.ts';
import { gatewayDb } from './servers.ts';
import { trustTools } from './servers-change.ts';

interface ImportOptions {
  readonly from?: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly undo?: boolean;
  readonly force?: boolean;
}

/** Names that are toolkits of ours; an imported server of the same name gets a number. */
const OWN_NAMES = [...toolkitEntries.map(({ id }) => id), 'gateway', 'discovery'];

/** Moves a client's servers behind Countersign in one step that can be undone to the byte. */
export async function importServers(global: GlobalOptions, options: ImportOptions): Promise<void> {
  if (options.undo) return undoImport(global, options.force ?? false);
  const names = await withApp(global, async (app) => {
    if (options.yes && !options.dryRun) await requirePersonHere(app);
    return alone(app, () => importInto(global, app, options));
  });
  if (!options.yes) return;
  for (const name of names) {
    try {
      await trustTools(global, name, [], { yes: true });
    } catch (error) {
      process.exitCode = 1;
      printStderr(`Warning: ${name} stays in quarantine. ${error instanceof Error ? error.message : error}`);
    }
  }
}

const LEASE = 'servers import';
const LEASE_MS = 60_000;
const POLL_MS = 100;

/** Two imports at the same time would each write what the other has not seen. */
async function alone<T>({ kernel: { leases } }: App, work: () => Promise<T>): Promise<T> {
  for (let waited = 0; !(await leases.acquire(LEASE, LEASE_MS)); waited += POLL_MS) {
    if (waited >= LEASE_MS) throw new CliError('Another import is running. Try again when it is done.');
    await sleep(POLL_MS);
  }
  try {
    return await work();
  } finally {
    await leases.release(LEASE);
  }
}

async function importInto(global: GlobalOptions, app: App, options: ImportOptions): Promise<string[]> {
  const { config } = app;
  const from =
    options.from === undefined || CLIENTS.some(({ name }) => name === options.from)
      ? options.from
      : resolve(options.from);
  if (from !== undefined && from !== options.from && !existsSync(from))
    throw new CliError(
      `${options.from} is neither a file nor a known client: ${CLIENTS.map(({ name }) => name).join(', ')}.`,
      2,
    );
  // Read again: another import may have added servers since this process read its configuration.
  const { servers = {} } = parse(readConfigText(config.path)) as { servers?: object };
  const taken = new Set([...Object.keys(config.servers), ...Object.keys(servers), ...OWN_NAMES]);
  const { files, problems } = planImport(from, clientPlace(app.env), agentCommand(app), taken);
  for (const problem of problems) printStderr(`Warning: ${problem}`);
  const found = files.flatMap(({ servers }) => servers);
  if (global.json) printJson({ dry_run: options.dryRun ?? false, files: files.map(asJson) });
  else
    print(
      files.length === 0
        ? 'No servers were found in the configuration of a client.'
        : files.map(describe).join('\n\n'),
    );
  if (options.dryRun || found.length === 0) return [];
  apply(app, files);
  const extra = { servers_imported: found.map(({ name }) => name), files: files.map(({ path }) => path) };
  await app.kernel.note({ kind: 'config', principal: principalName(app.person), transport: 'cli', extra });
  if (!global.json) {
    print(`\nImported ${counted(found.length, 'server')}. Undo it with: countersign servers import --undo`);
    if (!options.yes) print(`They are in quarantine. Trust each with: countersign servers trust NAME`);
  }
  return found.map(({ name }) => name);
}

/** The record first, then our own files, then the client's: undoing works wherever it stops. */
function apply({ config, now }: App, files: readonly PlannedFile[]): void {
  const servers = files.flatMap((file) => file.servers);
  const store = new SecretStore(config.dataDir);
  saveRecord(config.dataDir, 'imports', {
    at: now().toISOString(),
    files: recordFiles(files.filter((file) => file.servers.length > 0)),
    servers: servers.map(({ name }) => name),
    secrets: servers.flatMap(({ secrets }) => Object.keys(secrets)),
  });
  for (const { secrets } of servers)
    for (const [name, value] of Object.entries(secrets)) store.set(name, value);
  const text = servers.reduce(
    (before, { name, table }) => withServer(before, name, table),
    readConfigText(config.path),
  );
  replaceFile(config.path, text);
  for (const file of files) if (file.servers.length > 0) replaceFile(file.path, file.after);
}

function describe({ client, path, servers, skipped }: PlannedFile): string {
  return [
    `${client}: ${path}`,
    ...servers.flatMap(({ name, from, table, secrets, warnings }) => [
      `  ${name}${name === from ? '' : ` (${from})`}  ${table.url ?? [table.command ?? '', ...(table.args ?? [])].map(shellWord).join(' ')}`,
      ...Object.keys(secrets).map((secret) => `    Secret: moves to ${secret}`),
      ...warnings.map((warning) => `    Warning: ${warning}`),
    ]),
    ...skipped.map(({ name, problem }) => `  Not imported: ${name} ${problem}`),
  ].join('\n');
}

const asJson = ({ client, path, servers, skipped }: PlannedFile) => ({
  client,
  path,
  servers: servers.map(({ name, from, table, secrets, warnings }) => ({
    name,
    from,
    ...table,
    secrets: Object.keys(secrets),
    warnings,
  })),
  skipped,
});

function undoImport(global: GlobalOptions, force: boolean): Promise<void> {
  return withApp(global, (app) => alone(app, () => restoreLatest(global, app, force)));
}

async function restoreLatest(global: GlobalOptions, app: App, force: boolean): Promise<void> {
  const { config } = app;
  const latest = latestRecord(config.dataDir, 'imports');
  if (!latest) throw new CliError('Nothing to undo: no import is stored.');
  const files = latest.record.files.map((file) => returnedFile(file, clientPlace(app.env), force));
  let text = readConfigText(config.path);
  for (const name of latest.record.servers) {
    if (!Object.hasOwn(config.servers, name)) continue;
    const next = withoutServer(text, name);
    if (next === undefined)
      throw new CliError(
        `The table of ${name} in ${config.path} cannot be removed safely; delete it by hand.`,
      );
    text = next;
  }
  for (const { path, next } of files) replaceFile(path, next);
  replaceFile(config.path, text);
  const store = new SecretStore(config.dataDir);
  for (const name of latest.record.secrets) store.remove(name);
  // What was trusted since must not be trusted again without a look when the name returns.
  for (const name of latest.record.servers) await forget(gatewayDb(app), name);
  forgetRecord(latest.path);
  const extra = { import_undone: [...latest.record.servers] };
  await app.kernel.note({ kind: 'config', principal: principalName(app.person), transport: 'cli', extra });
  const paths = latest.record.files.map(({ path }) => path);
  if (global.json) return printJson({ restored: paths, removed: latest.record.servers });
  print(
    `Undone: restored ${paths.join(', ')} and removed ${counted(latest.record.servers.length, 'server')}.`,
  );
}

/** Planned for all files before the first is written. */
function returnedFile(
  file: RecordedFile,
  place: Place,
  force: boolean,
): { path: string; next: string | Uint8Array } {
  const { path } = file;
  try {
    return { path, next: planReturn(file, place) };
  } catch (error) {
    if (force) return { path, next: Buffer.from(file.before ?? '', 'base64') };
    throw new CliError(
      `Changed since the import, and the servers cannot be put back into ${path}: ${error instanceof Error ? error.message : error}. Correct the file, or repeat with --force to replace it by the file before the import.`,
    );
  }
}

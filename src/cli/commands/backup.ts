import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type App, readConfig } from '../../app/app.ts';
import { CliError, type GlobalOptions } from '../../contract/command.ts';
import { runningServer } from '../../daemon/running-server.ts';
import { findKeyMismatch } from '../../kernel/log/signing/key-mismatch.ts';
import { makeFolder } from '../../lib/file-error.ts';
import { copyStore, openStorageReadOnly, storeInUse } from '../../storage/open.ts';
import { isPostgresUrl, type StoreError } from '../../storage/store-error.ts';
import { print, printJson } from '../../terminal/output.ts';
import { withApp } from '../context.ts';

const STORE = 'countersign.db';
const KEY = 'audit-key.pem';
/** Contents of a data directory in addition to the database; each is copied if present. */
const COPIED = ['config.toml', KEY, 'artifacts'] as const;

/** Copies database, configuration, signing key and artifacts to a new directory. The server may keep running. */
export function backup(global: GlobalOptions, target: string | undefined): Promise<void> {
  return withApp(global, async ({ database, config, kernel, now }) => {
    if (database.engine !== 'sqlite') {
      throw new CliError(
        'The database is PostgreSQL. Back it up with pg_dump, and copy the data directory, which holds the signing key and artifacts.',
      );
    }
    await kernel.flush();
    const folder = resolve(
      target ?? join(config.dataDir, 'backups', now().toISOString().replace(/[:.]/g, '-')),
    );
    if (existsSync(folder)) throw new CliError(`${folder} already exists. Choose a new directory.`);
    makeFolder(folder, 0o700);
    // SQLite keeps the mode of an empty file, so other users can never read the copy.
    writeFileSync(join(folder, STORE), '', { mode: 0o600 });
    await copyStore(database, join(folder, STORE));
    for (const name of COPIED) {
      const from = join(config.dataDir, name);
      if (existsSync(from)) cpSync(from, join(folder, name), { recursive: true });
    }
    if (global.json) return printJson({ folder });
    print(
      `Wrote backup to ${folder} (${Math.ceil(statSync(join(folder, STORE)).size / 1024)} kB database).\nTo restore it: countersign restore ${folder}`,
    );
  });
}

/** Puts a backup in place of the current data; what was there is moved aside, never deleted. */
export async function restore(
  global: GlobalOptions,
  source: string,
  options: { force?: boolean },
): Promise<void> {
  const { dataDir, storageUrl } = readConfig({ configPath: global.config, env: process.env });
  if (isPostgresUrl(storageUrl)) {
    throw new CliError(
      'The database is PostgreSQL. Restore it with pg_restore or psql, then copy the signing key and artifacts into the data directory.',
    );
  }
  const folder = resolve(source);
  if (!existsSync(join(folder, STORE)))
    throw new CliError(`${folder} is not a backup: it does not contain ${STORE}.`);
  await verifyBackup(join(folder, STORE));
  if (!options.force && existsSync(storageUrl)) await refuseWhileInUse(global, storageUrl);
  makeFolder(dirname(storageUrl), 0o700);
  const aside = mkdtempSync(join(dirname(storageUrl), 'before-restore-'));
  for (const suffix of ['', '-wal', '-shm']) {
    if (existsSync(storageUrl + suffix)) renameSync(storageUrl + suffix, join(aside, STORE + suffix));
  }
  cpSync(join(folder, STORE), storageUrl);
  chmodSync(storageUrl, 0o600);
  for (const name of COPIED) {
    const from = join(folder, name);
    if (!existsSync(from)) continue;
    const to = join(dataDir, name);
    if (existsSync(to)) renameSync(to, join(aside, name));
    cpSync(from, to, { recursive: true });
  }
  if (!existsSync(join(folder, KEY))) await moveOtherKey(storageUrl, dataDir, aside);
  if (global.json) return printJson({ restored: folder, previous: aside });
  print(`Restored from ${folder}. The previous data was moved to ${aside}.`);
}

/** A backup from before the first checkpoint has no key; the one made since then belongs to what was moved aside. */
async function moveOtherKey(storageUrl: string, dataDir: string, aside: string): Promise<void> {
  const database = await openStorageReadOnly({ url: storageUrl });
  const mismatch = await findKeyMismatch(database, dataDir).finally(() => database.close());
  if (mismatch !== undefined) renameSync(join(dataDir, KEY), join(aside, KEY));
}

/** A process with the database open would keep using the one moved aside: two inboxes, two audit logs. */
async function refuseWhileInUse(global: GlobalOptions, storageUrl: string): Promise<void> {
  const inUse = await storeInUse(storageUrl);
  const look = async (app: App): Promise<void> => {
    const server = inUse ? await runningServer(app) : undefined;
    if (server) {
      throw new CliError(
        `\`countersign up\` is running at ${server} and would keep using the old database. Stop it and all agents first, or use --force.`,
      );
    }
    if (inUse) {
      throw new CliError(
        "Another process has the database open (an agent's `countersign mcp serve`, or another command). Stop it first, or use --force.",
      );
    }
    const busy = await app.kernel.telemetry.calls({ statuses: ['running'], limit: 1 });
    if (busy.length > 0)
      throw new CliError(
        'A change is in progress. Stop `countersign up` and all agents first, or use --force.',
      );
  };
  // What is about to be moved aside is neither signed nor compared with the key.
  await withApp(global, look, { isOtherStore: true });
}

async function verifyBackup(path: string): Promise<void> {
  const { openStorage } = await import('../../app/open-storage.ts');
  const { verifyLog } = await import('../../kernel/log/verify/verify.ts');
  const copy = mkdtempSync(join(dirname(path), '.check-'));
  try {
    const file = join(copy, STORE);
    cpSync(path, file);
    const database = await openStorage({ url: file }).catch((error: unknown) => {
      // The message of the store is about the setting, which is not at fault here.
      const { cause } = error as StoreError;
      throw new CliError(
        `Cannot use ${path}: ${(cause instanceof Error ? cause : (error as Error)).message}. Choose a different backup.`,
      );
    });
    const report = await verifyLog(database).finally(() => database.close());
    if (!report.ok) throw new CliError(`The audit log in this backup is damaged: ${report.first?.message}`);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

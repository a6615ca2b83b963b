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
import { readConfig } from '../../app.ts';
import { makeFolder } from '../../lib/make-folder.ts';
import { storeInUse } from '../../storage/in-use.ts';
import { isPostgresUrl, type StoreError } from '../../storage/store-error.ts';
import { CliError, type GlobalOptions, withApp } from '../context.ts';
import { print } from '../output.ts';
import { runningServer } from '../running-server.ts';

const STORE = 'countersign.db';
/** What a data directory holds beside the store; each is copied when it is there. */
const BESIDE = ['config.toml', 'audit-key.pem', 'artifacts'] as const;

/** A whole copy in a new folder: store, configuration, signing key and artifacts. The server may keep running. */
export function backup(global: GlobalOptions, target: string | undefined): Promise<void> {
  return withApp(global, async ({ database, config, kernel, now }) => {
    if (database.engine !== 'sqlite') {
      throw new CliError(
        'This store is PostgreSQL: back it up with pg_dump, and copy the data directory for key and artifacts.',
      );
    }
    await kernel.flush();
    const folder = resolve(
      target ?? join(config.dataDir, 'backups', now().toISOString().replace(/[:.]/g, '-')),
    );
    if (existsSync(folder)) throw new CliError(`${folder} exists already; choose a new folder.`);
    makeFolder(folder, 0o700);
    const { sql } = await import('kysely');
    // SQLite fills an empty file as it is, so nobody else can read the copy at any time.
    writeFileSync(join(folder, STORE), '', { mode: 0o600 });
    await sql`vacuum into ${join(folder, STORE)}`.execute(database.db);
    for (const name of BESIDE) {
      const from = join(config.dataDir, name);
      if (existsSync(from)) cpSync(from, join(folder, name), { recursive: true });
    }
    print(
      `Backup written to ${folder} (${Math.ceil(statSync(join(folder, STORE)).size / 1024)} kB store).\nRestore it with: countersign restore ${folder}`,
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
      'This store is PostgreSQL: restore it with pg_restore or psql, and put key and artifacts back into the data directory by hand.',
    );
  }
  const folder = resolve(source);
  if (!existsSync(join(folder, STORE))) throw new CliError(`${folder} is not a backup: it has no ${STORE}.`);
  await verifyBackup(join(folder, STORE));
  if (!options.force) await refuseWhileInUse(global, storageUrl);
  makeFolder(dirname(storageUrl), 0o700);
  const aside = mkdtempSync(join(dirname(storageUrl), 'before-restore-'));
  for (const suffix of ['', '-wal', '-shm']) {
    if (existsSync(storageUrl + suffix)) renameSync(storageUrl + suffix, join(aside, STORE + suffix));
  }
  cpSync(join(folder, STORE), storageUrl);
  chmodSync(storageUrl, 0o600);
  for (const name of BESIDE) {
    const from = join(folder, name);
    if (!existsSync(from)) continue;
    const to = join(dataDir, name);
    if (existsSync(to)) renameSync(to, join(aside, name));
    cpSync(from, to, { recursive: true });
  }
  print(`Restored from ${folder}. What was there before is in ${aside}.`);
}

/** Who has the store open would go on in the one moved aside: two inboxes, two logs. */
async function refuseWhileInUse(global: GlobalOptions, storageUrl: string): Promise<void> {
  const inUse = await storeInUse(storageUrl);
  await withApp(global, async (app) => {
    const server = inUse ? await runningServer(app) : undefined;
    if (server) {
      throw new CliError(
        `\`countersign up\` is running at ${server} and would go on with the old store. Stop it and all agents first, or use --force.`,
      );
    }
    if (inUse) {
      throw new CliError(
        'Another process has the store open: an agent with `countersign mcp serve`, or another command. Stop it first, or use --force.',
      );
    }
    const busy = await app.kernel.telemetry.calls({ statuses: ['running'], limit: 1 });
    if (busy.length > 0)
      throw new CliError('A change is running. Stop `countersign up` and all agents first, or use --force.');
  });
}

async function verifyBackup(path: string): Promise<void> {
  const { openStorage } = await import('../../storage/open.ts');
  const { verifyLog } = await import('../../kernel/audit/verify.ts');
  const copy = mkdtempSync(join(dirname(path), '.check-'));
  try {
    const file = join(copy, STORE);
    cpSync(path, file);
    const database = await openStorage({ url: file }).catch((error: unknown) => {
      // The message of the store is about the setting, which is not at fault here.
      const { cause } = error as StoreError;
      throw new CliError(
        `${path} cannot be used: ${(cause instanceof Error ? cause : (error as Error)).message}. Take another backup.`,
      );
    });
    const report = await verifyLog(database).finally(() => database.close());
    if (!report.ok) throw new CliError(`The log in this backup is damaged: ${report.first?.message}`);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

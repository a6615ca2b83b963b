import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { CliError, type GlobalOptions, withApp } from '../context.ts';
import { print } from '../output.ts';

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
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { sql } = await import('kysely');
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
  const folder = resolve(source);
  if (!existsSync(join(folder, STORE))) throw new CliError(`${folder} is not a backup: it has no ${STORE}.`);
  await verifyBackup(join(folder, STORE));
  const { dataDir, storageUrl } = await withApp(global, async ({ config, kernel }) => {
    const busy = await kernel.telemetry.calls({ statuses: ['running'], limit: 1 });
    if (busy.length > 0 && !options.force)
      throw new CliError('A change is running. Stop `countersign up` and all agents first, or use --force.');
    return { dataDir: config.dataDir, storageUrl: config.storageUrl };
  });
  const aside = mkdtempSync(join(dirname(storageUrl), 'before-restore-'));
  for (const suffix of ['', '-wal', '-shm']) {
    if (existsSync(storageUrl + suffix)) renameSync(storageUrl + suffix, join(aside, STORE + suffix));
  }
  cpSync(join(folder, STORE), storageUrl);
  for (const name of BESIDE) {
    const from = join(folder, name);
    if (!existsSync(from)) continue;
    const to = join(dataDir, name);
    if (existsSync(to)) renameSync(to, join(aside, name));
    cpSync(from, to, { recursive: true });
  }
  print(`Restored from ${folder}. What was there before is in ${aside}.`);
}

async function verifyBackup(path: string): Promise<void> {
  const { openStorage } = await import('../../storage/open.ts');
  const { verifyLog } = await import('../../kernel/audit/verify.ts');
  const copy = mkdtempSync(join(dirname(path), '.check-'));
  try {
    const file = join(copy, STORE);
    cpSync(path, file);
    const database = await openStorage({ url: file });
    const report = await verifyLog(database).finally(() => database.close());
    if (!report.ok) throw new CliError(`The log in this backup is damaged: ${report.first?.message}`);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

import { sql } from 'kysely';
import type { Database } from '../../store/database.ts';
import { KeyFile, type KeyPair } from './key-file.ts';
import { noteKey } from './note.ts';
import { KEY_SETTING, ORIGIN } from './signer.ts';

/** How key and database do not belong together: the log is `empty`, or other keys signed it and this one did not. */
export type KeyMismatch = 'empty' | 'other';

/**
 * Whether the key in the data directory belongs to another log than the database has. A log without a key next to it
 * gets one, and a key that was made for this log counts before it has signed: the log has its name since then.
 */
export async function findKeyMismatch(database: Database, dataDir: string): Promise<KeyMismatch | undefined> {
  const pairs = readPairs(dataDir);
  if (pairs.length === 0) return undefined;
  if (!(await hasLog(database))) return 'empty';
  const rows = await database.db
    .selectFrom('settings')
    .select(['key', 'value'])
    .where((eb) => eb.or([eb('key', '=', ORIGIN), eb('key', 'like', `${KEY_SETTING}%`)]))
    .execute();
  const origin = rows.find(({ key }) => key === ORIGIN)?.value;
  const enrolled = rows.filter(({ key }) => key !== ORIGIN);
  if (origin !== undefined) {
    const own = new Set(pairs.map(({ publicKey }) => KEY_SETTING + noteKey(origin, publicKey).id));
    if (enrolled.length === 0 || enrolled.some(({ key }) => own.has(key))) return undefined;
  }
  const entry = await database.db.selectFrom('audit_log').select('seq').limit(1).executeTakeFirst();
  return entry ? 'other' : 'empty';
}

/** A key that cannot be read is reported when it is to sign. */
function readPairs(dataDir: string): KeyPair[] {
  const file = new KeyFile(dataDir);
  try {
    const pair = file.read();
    return pair ? [pair, file.readNext()].filter((one) => one !== undefined) : [];
  } catch {
    return [];
  }
}

/** Asked before the schema is brought forward, when there may be none. */
async function hasLog({ db, engine }: Database): Promise<boolean> {
  const found =
    engine === 'postgres'
      ? sql<{ count: number }>`select count(to_regclass('settings')) as count`
      : sql<{ count: number }>`select count(*) as count from sqlite_schema where name = 'settings'`;
  return Number((await found.execute(db)).rows[0]?.count ?? 0) > 0;
}

/** What to say about it where it is no reason to refuse the database. */
export const describeKeyMismatch = (mismatch: KeyMismatch): string =>
  mismatch === 'empty'
    ? 'The audit log is empty, but audit-key.pem in the data directory was made for another one. If this server has had entries here, restore a backup; otherwise the key signs this log from its first entries on.'
    : 'audit-key.pem in the data directory has never signed this audit log. If this server has written here before, the database was replaced: restore a backup, or correct storage.url. Otherwise the key is added to the log with the next checkpoint.';

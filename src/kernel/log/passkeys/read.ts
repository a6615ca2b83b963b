import { type Kysely, sql } from 'kysely';
import { ToolError } from '../../../contract/errors.ts';
import { leafHash } from '../../../lib/merkle.ts';
import type { Database, Engine } from '../../store/database.ts';
import type { Tables } from '../../store/tables.ts';
import type { Entry } from '../entry.ts';
import { EnrolledKeys, PasskeyProblem } from './enrolled.ts';

/** The same expressions as in the indexes (080-passkeys). */
const ABOUT = {
  passkey: {
    sqlite: sql<boolean>`instr(body, '"kind":"passkey"') > 0`,
    postgres: sql<boolean>`strpos(body, '"kind":"passkey"') > 0`,
  },
  signature: {
    sqlite: sql<boolean>`instr(body, '"kind":"signature"') > 0`,
    postgres: sql<boolean>`strpos(body, '"kind":"signature"') > 0`,
  },
} as const;

export interface KeysInForce {
  /** The leaf hash of the first entry: which log this is. Undefined while it is empty. */
  readonly log: string | undefined;
  readonly keys: EnrolledKeys;
}

/** The leaf hash of the first entry, which names the log. */
export async function readFirstHash(db: Kysely<Tables>): Promise<string | undefined> {
  const first = await db.selectFrom('audit_log').select('hash').where('seq', '=', 0).executeTakeFirst();
  return first?.hash;
}

/**
 * Keeps keys and mode as they are until the transaction ends. On SQLite the transaction alone does that; on PostgreSQL
 * readers share the lock, and a change of keys or mode waits for them and they for it.
 */
export async function lockKeys(db: Kysely<Tables>, engine: Engine, how: 'read' | 'change'): Promise<void> {
  if (engine !== 'postgres') return;
  if (how === 'read') await sql`select pg_advisory_xact_lock_shared(${KEYS_LOCK})`.execute(db);
  else await sql`select pg_advisory_xact_lock(${KEYS_LOCK})`.execute(db);
}

/** Any number that nothing else in this database locks. */
const KEYS_LOCK = 724_032;

/**
 * The entries about passkeys that this process has read from a database. The log only grows: one that is gone was
 * deleted or renamed by hand, and without it the mode would be weaker, or a key that was removed would count again.
 */
const seen = new WeakMap<Database, readonly { readonly seq: number; readonly hash: string }[]>();

/** The keys and the mode as the log has them now. An invalid or missing entry ends every signed decision. */
export async function readKeysInForce(
  database: Database,
  db: Kysely<Tables> = database.db,
): Promise<KeysInForce> {
  // Taken before the query: what another query has read since then may be newer than this one's answer.
  const before = seen.get(database) ?? [];
  const log = await readFirstHash(db);
  const rows = await passkeyRows(db, database.engine);
  for (const [at, { seq, hash }] of before.entries())
    if (rows[at]?.seq !== seq || rows[at].hash !== hash) throw damaged(seq, 'is missing or was changed');
  const keys = new EnrolledKeys();
  for (const { seq, hash, body } of rows) {
    if (leafHash(body) !== hash) throw damaged(seq, 'was changed');
    const entry = JSON.parse(body) as Entry;
    if (entry.kind !== 'passkey') continue;
    try {
      keys.take(log ?? '', entry);
    } catch (error) {
      throw error instanceof PasskeyProblem ? damaged(seq, error.message) : error;
    }
  }
  if (rows.length > (seen.get(database)?.length ?? 0))
    seen.set(
      database,
      rows.map(({ seq, hash }) => ({ seq, hash })),
    );
  return { log, keys };
}

export const passkeyRows = (db: Kysely<Tables>, engine: Engine) =>
  db
    .selectFrom('audit_log')
    .select(['seq', 'hash', 'body'])
    .where(ABOUT.passkey[engine])
    .orderBy('seq')
    .execute();

/** The entries of these hashes, where they are signatures. */
export const signatureRows = (db: Kysely<Tables>, engine: Engine, hashes: readonly string[]) =>
  db
    .selectFrom('audit_log')
    .select(['seq', 'body'])
    .where('hash', 'in', hashes)
    .where(ABOUT.signature[engine])
    .execute();

/** The entry that a decision names as its signature; undefined when the log has none like it. */
export async function findSignature(
  db: Kysely<Tables>,
  engine: Engine,
  hash: string,
): Promise<Entry | undefined> {
  const row = await db
    .selectFrom('audit_log')
    .select('body')
    .where('hash', '=', hash)
    .where(ABOUT.signature[engine])
    .executeTakeFirst();
  if (!row || leafHash(row.body) !== hash) return undefined;
  const entry = JSON.parse(row.body) as Entry;
  return entry.kind === 'signature' ? entry : undefined;
}

const damaged = (seq: number, why: string): ToolError =>
  new ToolError(
    'approval_invalid',
    `Entry ${seq} of the audit log, which is about passkeys, ${why}. Nothing was run. Run \`countersign audit verify\`.`,
    { hint: 'Restore a backup from before the change. If you have just restored one, restart the server.' },
  );

/** The sizes of the log that its signatures witness. */
export async function readHeads(db: Kysely<Tables>, engine: Engine): Promise<readonly number[]> {
  const sizes: number[] = [];
  for (const about of [ABOUT.passkey[engine], ABOUT.signature[engine]]) {
    const rows = await db.selectFrom('audit_log').select('body').where(about).execute();
    for (const { body } of rows) sizes.push(...headSize(body));
  }
  return sizes;
}

/** What cannot be read is named when its turn comes. */
function headSize(body: string): number[] {
  try {
    const { size } = JSON.parse(body).extra.statement.head;
    return typeof size === 'number' ? [size] : [];
  } catch {
    return [];
  }
}

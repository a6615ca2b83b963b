import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { type Kysely, sql, type Transaction } from 'kysely';
import type { LeasePort } from '../../contract/ports.ts';
import { hasEnded, ownProcess } from '../../lib/process-identity.ts';
import type { Tables } from './tables.ts';

export type Engine = 'sqlite' | 'postgres';

/**
 * The store as the kernel sees it. Queries are written once, in Kysely, next to the logic that needs them;
 * what differs between the engines is behind this port.
 */
export interface Database {
  readonly engine: Engine;
  readonly db: Kysely<Tables>;
  /** A transaction that takes the write lock immediately, so that two processes never upgrade against each other. */
  write<T>(work: (trx: Transaction<Tables>) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

const KEY = 'request_state_secret';

/** Made from a secret in the store, so that any process on it has the same and no one else. */
export async function storeKey({ db }: Database, purpose: string): Promise<Buffer> {
  const stored = db.selectFrom('settings').select('value').where('key', '=', KEY);
  let row = await stored.executeTakeFirst();
  // Looked for first, because writing at every start would wait for another writer.
  if (!row) {
    await db
      .insertInto('settings')
      .values({ key: KEY, value: randomBytes(32).toString('hex') })
      .onConflict((conflict) => conflict.column('key').doNothing())
      .execute();
    row = await stored.executeTakeFirstOrThrow();
  }
  return createHmac('sha256', Buffer.from(row.value, 'hex')).update(purpose).digest();
}

/** Answers a challenge as only a process on this store can: an earlier answer reveals no other. */
export async function storeProof(database: Database): Promise<(challenge: string) => string> {
  const key = await storeKey(database, 'countersign store proof');
  return (challenge) => createHmac('sha256', key).update(challenge).digest('hex');
}

/** Named leases in the store: of all processes and nodes, one holds a name at a time. */
export function createLeases({ db }: Database, now: () => Date): LeasePort {
  const holder = `${ownProcess()}:${randomUUID()}`;
  /** What a process that was killed held must not wait for its time to run out. */
  const releaseDead = async (name: string): Promise<boolean> => {
    const held = await db.selectFrom('leases').select('holder').where('name', '=', name).executeTakeFirst();
    if (!held || !hasEnded(held.holder)) return false;
    await db.deleteFrom('leases').where('name', '=', name).where('holder', '=', held.holder).execute();
    return true;
  };
  const port: LeasePort = {
    async acquire(name, ttlMs) {
      const at = now();
      const expires_at = new Date(at.getTime() + ttlMs).toISOString();
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('leases')
        .values({ name, holder, expires_at })
        .onConflict((conflict) =>
          conflict
            .column('name')
            .doUpdateSet({ holder, expires_at })
            .where((eb) =>
              eb.or([eb('leases.holder', '=', holder), eb('leases.expires_at', '<=', at.toISOString())]),
            ),
        )
        .executeTakeFirst();
      if (numInsertedOrUpdatedRows !== 0n) return true;
      return (await releaseDead(name)) ? port.acquire(name, ttlMs) : false;
    },
    async release(name) {
      await db.deleteFrom('leases').where('name', '=', name).where('holder', '=', holder).execute();
    },
  };
  return port;
}

/** A value that the processes on this store share. */
export async function readSetting(
  db: Pick<Database['db'], 'selectFrom'>,
  key: string,
): Promise<string | undefined> {
  const row = await db.selectFrom('settings').select('value').where('key', '=', key).executeTakeFirst();
  return row?.value;
}

export async function writeSetting({ db }: Database, key: string, value: string): Promise<void> {
  await db
    .insertInto('settings')
    .values({ key, value })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
    .execute();
}

const NONCE_MS = 86_400_000;

/** True once any third-party server was listed: one that `wrap` runs stands in no configuration. */
export async function hasServers({ db }: Database): Promise<boolean> {
  const { rows } = await sql`select 1 from gateway_servers limit 1`.execute(db);
  return rows.length > 0;
}

/** True for the first process that presents this nonce, and for no other while it is remembered. */
export async function isFirstUse({ db }: Database, nonce: string, at: Date): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('idempotency')
    .values({
      scope_key: `once|${nonce}`,
      digest: '',
      call_id: '',
      state: 'ok',
      outcome: null,
      created_at: at.toISOString(),
      expires_at: new Date(at.getTime() + NONCE_MS).toISOString(),
    })
    .onConflict((conflict) => conflict.column('scope_key').doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows !== 0n;
}

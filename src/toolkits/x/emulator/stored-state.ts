import { type Kysely, sql, type Transaction } from 'kysely';
import type { CollectionName, Collections } from './documents.ts';
import type { Change } from './state.ts';

export interface Snapshot {
  readonly version: number;
  /** Grows with each reset: what was read before it is worthless. */
  readonly epoch: number;
  readonly changes: readonly Change[];
}

/** Where the sandbox keeps its state. Several processes write; a commit on an old version is refused. */
export interface StatePort {
  /** What changed since `version`; everything when the epoch is another. Undefined: never seeded. */
  read(version: number, epoch: number): Promise<Snapshot | undefined>;
  /** False when someone else committed first. */
  commit(
    base: { readonly version: number; readonly epoch: number },
    changes: readonly Change[],
  ): Promise<boolean>;
  /** Throws everything away and starts again from these documents; without `epoch` only where there is nothing yet. */
  seed(changes: readonly Change[], epoch?: number): Promise<void>;
  /** Adds to a counting window and answers its new value. */
  count(key: string, windowStart: number, by: number): Promise<number>;
}

/** Made by migration 010-x-client. */
export interface SandboxTables {
  x_sandbox_items: { collection: string; id: string; version: number; body: string | null };
  x_sandbox_head: { id: number; version: number; epoch: number };
  x_sandbox_windows: { key: string; window_start: number; used: number };
}

const HEAD = 1;
const BATCH = 200;

/** The sandbox in the one store: as durable and as shared as everything else. */
export class KyselyState implements StatePort {
  readonly #db: Kysely<SandboxTables>;

  constructor(db: Kysely<SandboxTables>) {
    this.#db = db;
  }

  async read(version: number, epoch: number): Promise<Snapshot | undefined> {
    const head = await this.#head(this.#db);
    if (!head) return undefined;
    if (head.epoch === epoch && head.version === version) return { ...head, changes: [] };
    const since = head.epoch === epoch ? version : -1;
    const rows = await this.#db
      .selectFrom('x_sandbox_items')
      .select(['collection', 'id', 'body'])
      .where('version', '>', since)
      // Something written since then has a higher version and is read next time.
      .where('version', '<=', head.version)
      .orderBy('collection')
      .orderBy('id')
      .execute();
    return { ...head, changes: rows.map(toChange) };
  }

  async commit(base: { version: number; epoch: number }, changes: readonly Change[]): Promise<boolean> {
    return this.#db.transaction().execute(async (trx) => {
      const version = base.version + 1;
      const { numUpdatedRows } = await trx
        .updateTable('x_sandbox_head')
        .set({ version })
        .where('id', '=', HEAD)
        .where('version', '=', base.version)
        .where('epoch', '=', base.epoch)
        .executeTakeFirst();
      if (numUpdatedRows !== 1n) return false;
      await this.#write(trx, changes, version);
      return true;
    });
  }

  async seed(changes: readonly Change[], epoch?: number): Promise<void> {
    await this.#db.transaction().execute(async (trx) => {
      const created = await trx
        .insertInto('x_sandbox_head')
        .values({ id: HEAD, version: 0, epoch: 1 })
        .onConflict((conflict) => conflict.column('id').doNothing())
        .executeTakeFirst();
      const isNew = (created.numInsertedOrUpdatedRows ?? 0n) > 0n;
      if (!isNew && epoch === undefined) return;
      const head = await this.#head(trx);
      const version = (head?.version ?? 0) + 1;
      await trx
        .updateTable('x_sandbox_head')
        .set({ version, epoch: (head?.epoch ?? 0) + (isNew ? 0 : 1) })
        .where('id', '=', HEAD)
        .execute();
      await trx.deleteFrom('x_sandbox_items').execute();
      await trx.deleteFrom('x_sandbox_windows').execute();
      await this.#write(trx, changes, version);
    });
  }

  async count(key: string, windowStart: number, by: number): Promise<number> {
    const { used } = await this.#db
      .insertInto('x_sandbox_windows')
      .values({ key, window_start: windowStart, used: by })
      .onConflict((conflict) =>
        conflict.columns(['key', 'window_start']).doUpdateSet({ used: sql`x_sandbox_windows.used + ${by}` }),
      )
      .returning('used')
      .executeTakeFirstOrThrow();
    return used;
  }

  async #head(db: Kysely<SandboxTables>): Promise<{ version: number; epoch: number } | undefined> {
    return db
      .selectFrom('x_sandbox_head')
      .select(['version', 'epoch'])
      .where('id', '=', HEAD)
      .executeTakeFirst();
  }

  async #write(trx: Transaction<SandboxTables>, changes: readonly Change[], version: number): Promise<void> {
    for (let from = 0; from < changes.length; from += BATCH) {
      const rows = changes.slice(from, from + BATCH).map(({ collection, id, body }) => ({
        collection,
        id,
        version,
        // Removed items stay as empty rows, or other processes would never see it.
        body: body === undefined ? null : JSON.stringify(body),
      }));
      await trx
        .insertInto('x_sandbox_items')
        .values(rows)
        .onConflict((conflict) =>
          conflict.columns(['collection', 'id']).doUpdateSet({
            version: sql`excluded.version`,
            body: sql`excluded.body`,
          }),
        )
        .execute();
    }
  }
}

const toChange = (row: { collection: string; id: string; body: string | null }): Change => ({
  collection: row.collection as CollectionName,
  id: row.id,
  body: row.body === null ? undefined : (JSON.parse(row.body) as Collections[CollectionName]),
});

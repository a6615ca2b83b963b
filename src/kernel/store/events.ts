import type { Kysely } from 'kysely';
import type { JsonObject } from '../../contract/json.ts';
import type { EventsPort } from '../../contract/ports.ts';
import { uuidv7 } from '../../lib/random.ts';
import type { Database } from './database.ts';
import type { Tables } from './tables.ts';

/** A page that stopped renewing its presence is taken for closed. */
const PRESENCE_MS = 10_000;
/** Events only wake open pages; anything older than this has been seen or never will be. */
const KEEP_MS = 60 * 60 * 1000;

export interface StoredEvent {
  readonly id: number;
  readonly topic: string;
  readonly data: JsonObject;
}

/** Notifies open pages, through the store, because the page is usually served by another process. */
export async function publishEvent(
  db: Kysely<Tables>,
  topic: string,
  data: JsonObject,
  now: Date,
): Promise<void> {
  await db
    .insertInto('events')
    .values({ topic, data: JSON.stringify(data), at: now.toISOString() })
    .execute();
}

export function createEvents({ db }: Database, now: () => Date): EventsPort & EventFeed {
  return {
    async publish(topic, data, place) {
      await publishEvent(db, topic, data, now());
      const open = await db
        .selectFrom('listeners')
        .select('place')
        .where('expires_at', '>', now().toISOString())
        .execute();
      const watching = open.filter((listener) => place !== undefined && listener.place === place);
      return { listeners: open.length, watching: watching.length };
    },
    async latestId() {
      const row = await db
        .selectFrom('events')
        .select('id')
        .orderBy('id', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row?.id ?? 0;
    },
    async since(id) {
      const rows = await db
        .selectFrom('events')
        .selectAll()
        .where('id', '>', id)
        .orderBy('id')
        .limit(500)
        .execute();
      return rows.map((row) => ({ id: row.id, topic: row.topic, data: JSON.parse(row.data) as JsonObject }));
    },
    async present(listenerId) {
      const id = listenerId ?? uuidv7();
      const expires_at = new Date(now().getTime() + PRESENCE_MS).toISOString();
      await db
        .insertInto('listeners')
        .values({ id, expires_at, place: null })
        .onConflict((conflict) => conflict.column('id').doUpdateSet({ expires_at }))
        .execute();
      return id;
    },
    async look(listenerId, place) {
      await db
        .updateTable('listeners')
        .set({ place: place ?? null })
        .where('id', '=', listenerId)
        .execute();
    },
    async gone(listenerId) {
      await db.deleteFrom('listeners').where('id', '=', listenerId).execute();
    },
    async prune() {
      await db
        .deleteFrom('events')
        .where('at', '<', new Date(now().getTime() - KEEP_MS).toISOString())
        .execute();
      await db.deleteFrom('listeners').where('expires_at', '<', now().toISOString()).execute();
    },
  };
}

/** The receiving side, for the process that serves pages. */
export interface EventFeed {
  latestId(): Promise<number>;
  since(id: number): Promise<readonly StoredEvent[]>;
  present(listenerId?: string): Promise<string>;
  /** Notes what the page shows; undefined: nothing that a page asks about. */
  look(listenerId: string, place: string | undefined): Promise<void>;
  gone(listenerId: string): Promise<void>;
  prune(): Promise<void>;
}

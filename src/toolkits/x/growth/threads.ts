import type { Kysely } from 'kysely';
import { ToolError } from '../../../contract/errors.ts';
import type { GrowthTables } from './tables.ts';

const OWNER_MS = 120_000;
const RESUMABLE_MS = 7 * 86_400_000;

interface ThreadPart {
  readonly position: number;
  readonly state: 'posting' | 'posted';
  readonly tweetId: string | undefined;
  /** When it was last sent. */
  readonly at: Date;
}

export interface OpenThread {
  readonly id: string;
  /** No part of it can be older. */
  readonly createdAt: Date;
  readonly parts: readonly ThreadPart[];
}

/** How far each thread got. A thread is known by its content, so that the identical call resumes it. */
export class ThreadLog {
  readonly #db: Kysely<GrowthTables>;
  readonly #realm: () => Promise<string>;

  constructor(db: Kysely<GrowthTables>, realm: () => Promise<string>) {
    this.#db = db;
    this.#realm = realm;
  }

  /** The unfinished thread with this content, or a new one; held for the call until `release`. */
  async claim(key: string, size: number, callId: string, now: Date): Promise<OpenThread> {
    const open = await this.unfinished(key, now);
    if (open) {
      await this.#own(open.id, callId, now);
      return open;
    }
    await this.#db
      .insertInto('x_threads')
      .values({
        id: callId,
        realm: await this.#realm(),
        thread_key: key,
        state: 'open',
        size,
        owner: callId,
        owner_until: until(now),
        created_at: now.toISOString(),
        finished_at: null,
      })
      .execute();
    await this.#yieldToEarlier(key, callId, now);
    return { id: callId, createdAt: now, parts: [] };
  }

  /** One that was left long ago is not taken up again: its readers have gone. */
  async unfinished(key: string, now: Date): Promise<OpenThread | undefined> {
    return this.#first(key, ['open'], new Date(now.getTime() - RESUMABLE_MS));
  }

  /** The latest thread with this content, finished or not. */
  async latest(key: string): Promise<(OpenThread & { readonly complete: boolean }) | undefined> {
    return this.#first(key, ['open', 'complete'], new Date(0));
  }

  async #first(key: string, states: readonly ('open' | 'complete')[], since: Date) {
    const row = await this.#db
      .selectFrom('x_threads')
      .select(['id', 'state', 'created_at'])
      .where('realm', '=', await this.#realm())
      .where('thread_key', '=', key)
      .where('state', 'in', [...states])
      .where('created_at', '>=', since.toISOString())
      .orderBy('created_at', 'desc')
      .limit(1)
      .executeTakeFirst();
    if (!row) return undefined;
    const parts = await this.#db
      .selectFrom('x_thread_parts')
      .selectAll()
      .where('thread_id', '=', row.id)
      .orderBy('position')
      .execute();
    return {
      id: row.id,
      createdAt: new Date(row.created_at),
      complete: row.state === 'complete',
      parts: parts.map((part) => ({
        position: part.position,
        state: part.state,
        tweetId: part.tweet_id ?? undefined,
        at: new Date(part.at),
      })),
    };
  }

  /** The posts of a thread in order, as far as they are out. */
  async parts(id: string): Promise<string[]> {
    const rows = await this.#db
      .selectFrom('x_thread_parts')
      .select('tweet_id')
      .where('thread_id', '=', id)
      .orderBy('position')
      .execute();
    return rows.flatMap(({ tweet_id }) => tweet_id ?? []);
  }

  async #own(id: string, callId: string, now: Date): Promise<void> {
    const { numUpdatedRows } = await this.#db
      .updateTable('x_threads')
      .set({ owner: callId, owner_until: until(now) })
      .where('id', '=', id)
      .where('state', '=', 'open')
      .where((eb) =>
        eb.or([eb('owner', 'is', null), eb('owner', '=', callId), eb('owner_until', '<', now.toISOString())]),
      )
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw busy();
  }

  /** Two equal calls may both have found no thread: the one with the smaller id keeps it. */
  async #yieldToEarlier(key: string, callId: string, now: Date): Promise<void> {
    const others = await this.#db
      .selectFrom('x_threads')
      .select('id')
      .where('realm', '=', await this.#realm())
      .where('thread_key', '=', key)
      .where('state', '=', 'open')
      .where('created_at', '>=', new Date(now.getTime() - RESUMABLE_MS).toISOString())
      .where('id', '<', callId)
      .execute();
    if (others.length === 0) return;
    await this.#db.deleteFrom('x_threads').where('id', '=', callId).execute();
    throw busy();
  }

  async posting(id: string, position: number, callId: string, now: Date): Promise<void> {
    await this.#own(id, callId, now);
    await this.#write(id, position, { state: 'posting', tweet_id: null, at: now.toISOString() });
  }

  async posted(id: string, position: number, tweetId: string, now: Date): Promise<void> {
    await this.#write(id, position, { state: 'posted', tweet_id: tweetId, at: now.toISOString() });
  }

  async notPosted(id: string, position: number): Promise<void> {
    await this.#db
      .deleteFrom('x_thread_parts')
      .where('thread_id', '=', id)
      .where('position', '=', position)
      .execute();
  }

  async release(id: string, callId: string): Promise<void> {
    await this.#db
      .updateTable('x_threads')
      .set({ owner: null, owner_until: null })
      .where('id', '=', id)
      .where('owner', '=', callId)
      .execute();
  }

  async complete(id: string, now: Date): Promise<void> {
    await this.#db
      .updateTable('x_threads')
      .set({ state: 'complete', owner: null, owner_until: null, finished_at: now.toISOString() })
      .where('id', '=', id)
      .execute();
  }

  /** Forgets a thread of which nothing was posted. */
  async discard(id: string): Promise<void> {
    await this.#db.deleteFrom('x_threads').where('id', '=', id).where('state', '=', 'open').execute();
  }

  async #write(
    id: string,
    position: number,
    part: { state: 'posting' | 'posted'; tweet_id: string | null; at: string },
  ): Promise<void> {
    await this.#db
      .insertInto('x_thread_parts')
      .values({ thread_id: id, position, ...part })
      .onConflict((conflict) => conflict.columns(['thread_id', 'position']).doUpdateSet(part))
      .execute();
  }
}

const until = (now: Date): string => new Date(now.getTime() + OWNER_MS).toISOString();

const busy = (): ToolError => new ToolError('busy', 'The same thread is being posted by another call.');

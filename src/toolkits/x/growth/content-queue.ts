import type { Kysely, Selectable } from 'kysely';
import type { ContentRow, ContentState, GrowthTables } from './tables.ts';

export interface NewContent {
  readonly type: 'tweet' | 'thread';
  readonly texts: readonly string[];
  readonly scheduledFor?: Date;
  readonly topic?: string;
  readonly style?: string;
  readonly source: string;
  readonly createdBy: string;
  readonly at: Date;
}

/** A claim whose process died is free again after this. The idempotency key keeps a slow one from posting twice. */
const CLAIM_MS = 30_000;

/** Drafts and scheduled posts. */
export class ContentQueue {
  readonly #db: Kysely<GrowthTables>;
  readonly #realm: () => Promise<string>;

  constructor(db: Kysely<GrowthTables>, realm: () => Promise<string>) {
    this.#db = db;
    this.#realm = realm;
  }

  async add(item: NewContent): Promise<ContentRow> {
    const when = item.scheduledFor?.toISOString() ?? null;
    const row = await this.#db
      .insertInto('x_content')
      .values({
        realm: await this.#realm(),
        content_type: item.type,
        content: item.type === 'thread' ? JSON.stringify(item.texts) : (item.texts[0] ?? ''),
        topic: item.topic ?? null,
        style: item.style ?? null,
        state: when ? 'scheduled' : 'draft',
        scheduled_for: when,
        next_try_at: when,
        source: item.source,
        created_by: item.createdBy,
        created_at: item.at.toISOString(),
        updated_at: item.at.toISOString(),
        claimed_by: null,
        claimed_at: null,
        approval_id: null,
        tweet_id: null,
        posted_at: null,
        error_code: null,
        error: null,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    return fromDb(row);
  }

  async get(id: number): Promise<ContentRow | undefined> {
    const row = await this.#db
      .selectFrom('x_content')
      .selectAll()
      .where('realm', '=', await this.#realm())
      .where('id', '=', id)
      .executeTakeFirst();
    return row && fromDb(row);
  }

  async list(states: readonly ContentState[], limit: number): Promise<readonly ContentRow[]> {
    const rows = await this.#db
      .selectFrom('x_content')
      .selectAll()
      .where('realm', '=', await this.#realm())
      .where('state', 'in', [...states])
      .orderBy('scheduled_for')
      .orderBy('id', 'desc')
      .limit(limit)
      .execute();
    return rows.map(fromDb);
  }

  /** A person is asked about this very item; it may not go out before the answer. */
  async linkApproval(id: number, approvalId: number): Promise<void> {
    await this.#db.updateTable('x_content').set({ approval_id: approvalId }).where('id', '=', id).execute();
  }

  /** Items whose approval may have been decided since. */
  async awaitingDecision(limit: number): Promise<readonly ContentRow[]> {
    const rows = await this.#db
      .selectFrom('x_content')
      .selectAll()
      .where('realm', '=', await this.#realm())
      .where('state', 'in', ['scheduled', 'waiting_approval'])
      .where('approval_id', 'is not', null)
      .orderBy('scheduled_for')
      .limit(limit)
      .execute();
    return rows.map(fromDb);
  }

  /** A person's edit; only what no process works on can be edited. */
  async update(
    id: number,
    change: {
      readonly texts?: readonly string[];
      readonly scheduledFor?: Date | null;
      readonly cancel?: boolean;
    },
    at: Date,
  ): Promise<ContentRow | undefined> {
    const row = await this.get(id);
    if (!row) return undefined;
    const when =
      change.scheduledFor === undefined ? row.scheduled_for : (change.scheduledFor?.toISOString() ?? null);
    const updated = await this.#db
      .updateTable('x_content')
      .set({
        content: change.texts ? encode(row.content_type, change.texts) : row.content,
        scheduled_for: when,
        next_try_at: when,
        state: change.cancel ? 'cancelled' : when ? 'scheduled' : 'draft',
        updated_at: at.toISOString(),
        attempts: 0,
        approval_id: null,
        error: null,
        error_code: null,
      })
      .where('id', '=', id)
      .where('state', 'in', ['draft', 'scheduled', 'failed'])
      .returningAll()
      .executeTakeFirst();
    return updated && fromDb(updated);
  }

  /** What is due, or was claimed by a process that has been silent since. */
  async due(now: Date, limit: number): Promise<readonly ContentRow[]> {
    const rows = await this.#db
      .selectFrom('x_content')
      .selectAll()
      .where('realm', '=', await this.#realm())
      .where((eb) =>
        eb.or([
          eb.and([eb('state', '=', 'scheduled'), eb('next_try_at', '<=', now.toISOString())]),
          eb.and([eb('state', '=', 'claimed'), eb('claimed_at', '<', silentSince(now))]),
        ]),
      )
      .orderBy('next_try_at')
      .limit(limit)
      .execute();
    return rows.map(fromDb);
  }

  /** Compare-and-set: of two daemons that saw the item due, one gets it. */
  async claim(item: ContentRow, by: string, now: Date): Promise<boolean> {
    let query = this.#db
      .updateTable('x_content')
      .set((eb) => ({
        state: 'claimed',
        claimed_by: by,
        claimed_at: now.toISOString(),
        attempts: eb('attempts', '+', 1),
      }))
      .where('id', '=', item.id)
      .where('state', '=', item.state)
      .where('updated_at', '=', item.updated_at);
    query =
      item.claimed_at === null
        ? query.where('claimed_at', 'is', null)
        : query.where('claimed_at', '=', item.claimed_at);
    const { numUpdatedRows } = await query.executeTakeFirst();
    return numUpdatedRows === 1n;
  }

  async settle(
    id: number,
    by: string,
    result: Partial<
      Pick<
        ContentRow,
        | 'state'
        | 'tweet_id'
        | 'posted_at'
        | 'approval_id'
        | 'next_try_at'
        | 'claimed_at'
        | 'error'
        | 'error_code'
      >
    >,
    at: Date,
  ): Promise<void> {
    await this.#db
      .updateTable('x_content')
      .set({ ...result, updated_at: at.toISOString() })
      .where('id', '=', id)
      .where('claimed_by', '=', by)
      .where('state', '=', 'claimed')
      .execute();
  }

  /** Not known yet whether it went out: stays claimed, and unedited, so that the next look uses the same key. */
  async hold(
    id: number,
    by: string,
    until: Date,
    doubt: Pick<ContentRow, 'error' | 'error_code'>,
  ): Promise<void> {
    await this.#db
      .updateTable('x_content')
      .set({ ...doubt, claimed_at: until.toISOString() })
      .where('id', '=', id)
      .where('claimed_by', '=', by)
      .where('state', '=', 'claimed')
      .execute();
  }

  /** A person decided on an item that waited for approval. */
  async resolve(
    id: number,
    result: Partial<Pick<ContentRow, 'state' | 'tweet_id' | 'posted_at' | 'error'>>,
    at: Date,
  ) {
    await this.#db
      .updateTable('x_content')
      .set({ ...result, updated_at: at.toISOString() })
      .where('id', '=', id)
      .where('state', 'in', ['scheduled', 'waiting_approval'])
      .execute();
  }
}

export const textsOf = (row: Pick<ContentRow, 'content_type' | 'content'>): string[] =>
  row.content_type === 'thread' ? (JSON.parse(row.content) as string[]) : [row.content];

const encode = (type: 'tweet' | 'thread', texts: readonly string[]): string =>
  type === 'thread' ? JSON.stringify(texts) : (texts[0] ?? '');

const silentSince = (now: Date): string => new Date(now.getTime() - CLAIM_MS).toISOString();

const fromDb = (row: Selectable<GrowthTables['x_content']>): ContentRow => ({ ...row, id: Number(row.id) });

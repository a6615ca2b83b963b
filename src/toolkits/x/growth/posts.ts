import type { Kysely } from 'kysely';
import { textKey } from '../posting/text.ts';
import type { GrowthTables, PostKind, PostRow } from './tables.ts';

export interface NewPost {
  readonly id: string;
  readonly kind: PostKind;
  readonly text: string;
  readonly actor: string;
  readonly at: Date;
  readonly mentionsProduct: boolean;
  readonly targetTweetId?: string;
  readonly targetAuthorId?: string;
  readonly targetAuthor?: string;
}

export interface Measured {
  readonly impressions: number;
  readonly likes: number;
  readonly replies: number;
  readonly retweets: number;
}

/** A post under way or in doubt counts like one that is out: limits must never be overrun. */
const COUNTED = ['posting', 'posted', 'unknown'] as const;

/** What was posted, by anyone: the basis of limits, duplicate checks and analytics. */
export class PostLog {
  readonly #db: Kysely<GrowthTables>;
  readonly #realm: () => Promise<string>;

  constructor(db: Kysely<GrowthTables>, realm: () => Promise<string>) {
    this.#db = db;
    this.#realm = realm;
  }

  /** Written before X is asked. What a generator said about the text (topic, style) is carried over. */
  async reserve(post: NewPost): Promise<void> {
    const key = textKey(post.text);
    const made = await this.#db
      .selectFrom('x_generated')
      .select(['topic', 'style'])
      .where('text_key', '=', key)
      .orderBy('at', 'desc')
      .limit(1)
      .executeTakeFirst();
    await this.#db
      .insertInto('x_posts')
      .values({
        id: post.id,
        realm: await this.#realm(),
        kind: post.kind,
        state: 'posting',
        text: post.text,
        text_key: key,
        tweet_id: null,
        target_tweet_id: post.targetTweetId ?? null,
        target_author_id: post.targetAuthorId ?? null,
        target_author: post.targetAuthor ?? null,
        topic: made?.topic ?? null,
        style: made?.style ?? null,
        actor: post.actor,
        mentions_product: post.mentionsProduct ? 1 : 0,
        created_at: post.at.toISOString(),
        posted_at: null,
        error_code: null,
        measured_at: null,
        impressions: null,
        likes: null,
        replies: null,
        retweets: null,
        score: null,
      })
      .execute();
  }

  async release(id: string): Promise<void> {
    await this.#db.deleteFrom('x_posts').where('id', '=', id).where('state', '=', 'posting').execute();
  }

  async posted(id: string, tweetId: string, at: Date): Promise<void> {
    await this.#settle(id, {
      state: 'posted',
      tweet_id: tweetId,
      posted_at: at.toISOString(),
      error_code: null,
    });
  }

  async failed(id: string, code: string): Promise<void> {
    await this.#settle(id, { state: 'failed', error_code: code });
  }

  async inDoubt(id: string, code: string): Promise<void> {
    await this.#settle(id, { state: 'unknown', error_code: code });
  }

  async #settle(id: string, values: Partial<PostRow>): Promise<void> {
    await this.#db.updateTable('x_posts').set(values).where('id', '=', id).execute();
  }

  async find(id: string): Promise<PostRow | undefined> {
    return this.#db.selectFrom('x_posts').selectAll().where('id', '=', id).executeTakeFirst();
  }

  /** How many count against a limit, the call `except` left out. */
  async count(filter: {
    readonly kinds: readonly PostKind[];
    readonly since: Date;
    readonly authorId?: string;
    readonly except?: string;
  }): Promise<{ readonly used: number; readonly oldest: Date | undefined }> {
    let query = this.#db
      .selectFrom('x_posts')
      .select((eb) => [eb.fn.countAll().as('used'), eb.fn.min('created_at').as('oldest')])
      .where('realm', '=', await this.#realm())
      .where('kind', 'in', [...filter.kinds])
      .where('state', 'in', [...COUNTED])
      .where('created_at', '>=', filter.since.toISOString());
    if (filter.authorId) query = query.where('target_author_id', '=', filter.authorId);
    if (filter.except) query = query.where('id', '!=', filter.except);
    const row = await query.executeTakeFirst();
    return { used: Number(row?.used ?? 0), oldest: row?.oldest ? new Date(row.oldest) : undefined };
  }

  async countByActor(actor: string, since: Date): Promise<number> {
    const row = await this.#db
      .selectFrom('x_posts')
      .select((eb) => eb.fn.countAll().as('used'))
      .where('realm', '=', await this.#realm())
      .where('actor', '=', actor)
      .where('state', 'in', [...COUNTED])
      .where('created_at', '>=', since.toISOString())
      .executeTakeFirst();
    return Number(row?.used ?? 0);
  }

  /** The latest posts of some kinds that are out, under way or in doubt, newest first. */
  async latest(
    kinds: readonly PostKind[],
    limit: number,
    options: { readonly except?: string; readonly since?: Date; readonly state?: 'posted' } = {},
  ): Promise<readonly PostRow[]> {
    let query = this.#db
      .selectFrom('x_posts')
      .selectAll()
      .where('realm', '=', await this.#realm())
      .where('kind', 'in', [...kinds])
      .where('state', 'in', options.state ? [options.state] : [...COUNTED]);
    if (options.except) query = query.where('id', '!=', options.except);
    if (options.since) query = query.where('created_at', '>=', options.since.toISOString());
    return query.orderBy('created_at', 'desc').limit(limit).execute();
  }

  async withText(text: string, except?: string): Promise<PostRow | undefined> {
    let query = this.#db
      .selectFrom('x_posts')
      .selectAll()
      .where('realm', '=', await this.#realm())
      .where('text_key', '=', textKey(text))
      .where('state', 'in', [...COUNTED]);
    if (except) query = query.where('id', '!=', except);
    return query.orderBy('created_at', 'desc').limit(1).executeTakeFirst();
  }

  async toAuthor(authorId: string): Promise<readonly PostRow[]> {
    return this.#db
      .selectFrom('x_posts')
      .selectAll()
      .where('realm', '=', await this.#realm())
      .where('target_author_id', '=', authorId)
      .where('state', '=', 'posted')
      .orderBy('created_at', 'desc')
      .limit(200)
      .execute();
  }

  /** Which of these posts already have our reply. */
  async repliedTo(tweetIds: readonly string[]): Promise<ReadonlySet<string>> {
    if (tweetIds.length === 0) return new Set();
    const rows = await this.#db
      .selectFrom('x_posts')
      .select('target_tweet_id')
      .where('realm', '=', await this.#realm())
      .where('kind', '=', 'reply')
      .where('target_tweet_id', 'in', [...tweetIds])
      .where('state', 'in', [...COUNTED])
      .execute();
    return new Set(rows.flatMap((row) => row.target_tweet_id ?? []));
  }

  /** Old enough for their numbers to mean something, and not measured yet. */
  async unmeasured(from: Date, to: Date, limit: number): Promise<readonly PostRow[]> {
    return this.#db
      .selectFrom('x_posts')
      .selectAll()
      .where('realm', '=', await this.#realm())
      .where('state', '=', 'posted')
      .where('measured_at', 'is', null)
      .where('tweet_id', 'is not', null)
      .where('posted_at', '>=', from.toISOString())
      .where('posted_at', '<=', to.toISOString())
      .orderBy('posted_at')
      .limit(limit)
      .execute();
  }

  async measured(id: string, metrics: Measured, at: Date): Promise<void> {
    const { impressions, likes, replies, retweets } = metrics;
    const score = ((3 * likes + 5 * replies + 4 * retweets) / Math.max(impressions, 1)) * 1000;
    await this.#settle(id, { ...metrics, score, measured_at: at.toISOString() });
  }
}

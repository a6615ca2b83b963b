import type { Kysely } from 'kysely';
import type { Score } from '../lib/scoring.ts';
import type { DiscoveredRow, GrowthTables } from './tables.ts';

export interface Found {
  readonly tweetId: string;
  readonly authorId: string;
  readonly authorUsername: string;
  readonly authorFollowers: number;
  readonly text: string;
  readonly createdAt: string;
  readonly likes: number;
  readonly retweets: number;
  readonly replies: number;
  readonly hasMedia: boolean;
  readonly isQuote: boolean;
}

/** Posts worth a look, with their score. A post that could not be answered yet stays `new`. */
export class DiscoveredPosts {
  readonly #db: Kysely<GrowthTables>;
  readonly #realm: () => Promise<string>;

  constructor(db: Kysely<GrowthTables>, realm: () => Promise<string>) {
    this.#db = db;
    this.#realm = realm;
  }

  /** Seen again, a post gets its new numbers and keeps its state. */
  async save(
    post: Found,
    score: Score,
    origin: { readonly source: DiscoveredRow['source']; readonly keyword?: string; readonly at: Date },
  ): Promise<void> {
    const numbers = {
      author_username: post.authorUsername,
      author_followers: post.authorFollowers,
      text: post.text,
      likes: post.likes,
      retweets: post.retweets,
      replies: post.replies,
      has_media: post.hasMedia ? 1 : 0,
      is_quote: post.isQuote ? 1 : 0,
      score: score.total,
      signals: JSON.stringify(score),
    };
    await this.#db
      .insertInto('x_discovered')
      .values({
        ...numbers,
        realm: await this.#realm(),
        tweet_id: post.tweetId,
        author_id: post.authorId,
        created_at: post.createdAt,
        keyword: origin.keyword ?? null,
        source: origin.source,
        state: 'new',
        found_at: origin.at.toISOString(),
        next_try_at: null,
      })
      .onConflict((conflict) => conflict.columns(['realm', 'tweet_id']).doUpdateSet(numbers))
      .execute();
  }

  async get(tweetId: string): Promise<DiscoveredRow | undefined> {
    return this.#db
      .selectFrom('x_discovered')
      .selectAll()
      .where('realm', '=', await this.#realm())
      .where('tweet_id', '=', tweetId)
      .executeTakeFirst();
  }

  async list(filter: {
    readonly minScore: number;
    readonly limit: number;
    readonly states?: readonly DiscoveredRow['state'][];
    readonly source?: DiscoveredRow['source'];
    readonly readyAt?: Date;
  }): Promise<readonly DiscoveredRow[]> {
    let query = this.#db
      .selectFrom('x_discovered')
      .selectAll()
      .where('realm', '=', await this.#realm())
      .where('score', '>=', filter.minScore);
    if (filter.states) query = query.where('state', 'in', [...filter.states]);
    if (filter.source) query = query.where('source', '=', filter.source);
    const { readyAt } = filter;
    if (readyAt) {
      query = query.where((eb) =>
        eb.or([eb('next_try_at', 'is', null), eb('next_try_at', '<=', readyAt.toISOString())]),
      );
    }
    return query.orderBy('score', 'desc').orderBy('found_at', 'desc').limit(filter.limit).execute();
  }

  async byAuthor(authorId: string, limit: number): Promise<readonly DiscoveredRow[]> {
    return this.#db
      .selectFrom('x_discovered')
      .selectAll()
      .where('realm', '=', await this.#realm())
      .where('author_id', '=', authorId)
      .orderBy('found_at', 'desc')
      .limit(limit)
      .execute();
  }

  async mark(tweetId: string, state: DiscoveredRow['state']): Promise<void> {
    await this.#db
      .updateTable('x_discovered')
      .set({ state })
      .where('realm', '=', await this.#realm())
      .where('tweet_id', '=', tweetId)
      .execute();
  }

  async retryLater(tweetId: string, at: Date): Promise<void> {
    await this.#db
      .updateTable('x_discovered')
      .set((eb) => ({ attempts: eb('attempts', '+', 1), next_try_at: at.toISOString() }))
      .where('realm', '=', await this.#realm())
      .where('tweet_id', '=', tweetId)
      .execute();
  }

  async countSince(since: Date): Promise<number> {
    const row = await this.#db
      .selectFrom('x_discovered')
      .select((eb) => eb.fn.countAll().as('total'))
      .where('realm', '=', await this.#realm())
      .where('found_at', '>=', since.toISOString())
      .executeTakeFirst();
    return Number(row?.total ?? 0);
  }
}

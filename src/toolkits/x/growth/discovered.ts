import type { Kysely } from 'kysely';
import type { ToolContext } from '../../../contract/tool.ts';
import { numberAt, readPost, type XPost } from '../client/read.ts';
import type { XServices } from '../services.ts';
import { type Score, scorePost } from './scoring.ts';
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

/** A post of X in the form the growth engine keeps; undefined when X did not say who wrote it. */
export function foundFrom(post: XPost): Found | undefined {
  const { author } = post;
  const authorId = typeof post.author_id === 'string' ? post.author_id : author?.id;
  if (!authorId) return undefined;
  const refs = Array.isArray(post.referenced_tweets) ? post.referenced_tweets : [];
  return {
    tweetId: post.id,
    authorId,
    authorUsername: author?.username ?? '',
    authorFollowers: author ? numberAt(author, 'public_metrics', 'followers_count') : 0,
    text: post.text,
    createdAt: typeof post.created_at === 'string' ? post.created_at : '',
    likes: numberAt(post, 'public_metrics', 'like_count'),
    retweets: numberAt(post, 'public_metrics', 'retweet_count'),
    replies: numberAt(post, 'public_metrics', 'reply_count'),
    hasMedia: post.attachments !== undefined,
    isQuote: refs.some((ref) => ref?.type === 'quoted'),
  };
}

/** Scores a post and keeps it for the discovery feed. */
export async function keepFound(
  context: Pick<ToolContext<XServices>, 'services' | 'now'>,
  post: Found,
  origin: { readonly source: DiscoveredRow['source']; readonly keyword?: string },
) {
  const { services, now } = context;
  const score = scorePost(post, services.settings, now());
  await services.growth.discovered.save(post, score, { ...origin, at: now() });
  return score;
}

/** A post by id: from the store when it is known there, else from X. */
export async function postById(context: ToolContext<XServices>, tweetId: string): Promise<Found> {
  const known = await context.services.growth.discovered.get(tweetId);
  if (known) return fromRow(known);
  const post = await readPost(context, { tweet_id: tweetId });
  return foundFrom(post) ?? unknownAuthor(post);
}

const fromRow = (row: DiscoveredRow): Found => ({
  tweetId: row.tweet_id,
  authorId: row.author_id,
  authorUsername: row.author_username,
  authorFollowers: row.author_followers,
  text: row.text,
  createdAt: row.created_at,
  likes: row.likes,
  retweets: row.retweets,
  replies: row.replies,
  hasMedia: row.has_media === 1,
  isQuote: row.is_quote === 1,
});

const unknownAuthor = (post: XPost): Found => ({
  tweetId: post.id,
  authorId: '',
  authorUsername: '',
  authorFollowers: 0,
  text: post.text,
  createdAt: '',
  likes: 0,
  retweets: 0,
  replies: 0,
  hasMedia: false,
  isQuote: false,
});

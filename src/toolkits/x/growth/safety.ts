import { ToolError } from '../../../contract/errors.ts';
import type { LimitUse as PresentedLimit } from '../../../contract/presentation.ts';
import { checkPostText, containsPhrase, similarity } from '../posting/text.ts';
import type { XSettings } from '../services.ts';
import { dayOf } from './clock.ts';
import type { NewPost, PostLog } from './posts.ts';
import type { PostKind } from './tables.ts';

const WEEK_SECONDS = 604_800;
const DAY_SECONDS = 86_400;
const COMPARED_POSTS = 20;
const RATIO_WINDOW = 20;
const TOO_SIMILAR = 0.8;
const DUPLICATE_DAYS = 30;

export interface Outgoing {
  readonly kind: PostKind;
  /** One text, or the parts of a thread. */
  readonly texts: readonly string[];
  /** Left out while it is not known yet: the author's own limit is then checked later. */
  readonly targetAuthorId?: string;
}

export interface LimitUse {
  /** The key in `[limits]`. */
  readonly key: string;
  readonly action: string;
  readonly used: number;
  readonly max: number;
  readonly periodSeconds: number;
  readonly periodStart: Date;
  readonly resetsAt: Date;
}

/**
 * The safety limits of the configuration, for every path: the posting tools ask here before policy and again, with a
 * reservation, right before X is asked. There is no other way to post.
 */
export class Safety {
  readonly #settings: Pick<XSettings, 'limits' | 'business' | 'schedule'>;
  readonly #posts: PostLog;
  readonly #now: () => Date;

  constructor(
    settings: Pick<XSettings, 'limits' | 'business' | 'schedule'>,
    posts: PostLog,
    now: () => Date,
  ) {
    this.#settings = settings;
    this.#posts = posts;
    this.#now = now;
  }

  /** Form, phrases, repetition and limits. `except` is the reservation of the very post that is checked. */
  async check(post: Outgoing, except?: string): Promise<void> {
    await this.checkTexts(post);
    await this.#checkRepetition(post, except);
    await this.#checkCounts(post, except);
    if (post.kind === 'reply') await this.#checkProductMentions(post, except);
  }

  /** The part that depends on the texts alone: enough for a draft. */
  async checkTexts({ kind, texts }: Outgoing): Promise<void> {
    for (const [index, text] of texts.entries()) {
      await checkPostText(text, kind === 'thread' ? index : undefined);
      const phrase = this.bannedPhrase(text);
      if (phrase === undefined) continue;
      throw new ToolError(
        'validation_error',
        `The text contains the banned phrase "${phrase}" (limits.banned_phrases).`,
        {
          detail: kind === 'thread' ? { phrase, tweet_index: index } : { phrase },
        },
      );
    }
  }

  bannedPhrase(text: string): string | undefined {
    return this.#settings.limits.banned_phrases.find((phrase) => containsPhrase(text, phrase));
  }

  mentionsProduct(text: string): boolean {
    const { product_name } = this.#settings.business;
    return product_name !== '' && containsPhrase(text, product_name);
  }

  /**
   * Reserves the post and checks again. Everybody reserves first and then counts everybody, so that two posts at the
   * same moment can both be refused but never both slip through the last place.
   */
  async admit(post: Omit<NewPost, 'mentionsProduct' | 'at'>, texts: readonly string[]): Promise<void> {
    const mentionsProduct = texts.some((text) => this.mentionsProduct(text));
    await this.#posts.reserve({ ...post, mentionsProduct, at: this.#now() });
    try {
      await this.check({ kind: post.kind, texts, targetAuthorId: post.targetAuthorId }, post.id);
    } catch (error) {
      await this.#posts.release(post.id);
      throw error;
    }
  }

  /** Where each limit of the whole account stands. */
  async usage(): Promise<readonly LimitUse[]> {
    const kinds = ['reply', 'tweet', 'thread'] as const;
    return (await Promise.all(kinds.map((kind) => this.limitsOf({ kind })))).flat();
  }

  /** The limits that a post of this kind counts in. `except` is the reservation of the very post that is checked. */
  async limitsOf(
    { kind, targetAuthorId }: Pick<Outgoing, 'kind' | 'targetAuthorId'>,
    except?: string,
  ): Promise<readonly LimitUse[]> {
    const { limits, schedule } = this.#settings;
    const day = dayOf(this.#now(), schedule.timezone);
    const daily = { periodSeconds: DAY_SECONDS, periodStart: day.start, resetsAt: day.end };
    const since = day.start;
    switch (kind) {
      case 'reply': {
        const key = 'max_replies_per_day';
        const all = await this.#posts.count({ kinds: ['reply'], since, except });
        const total = { key, action: 'reply', used: all.used, max: limits[key], ...daily };
        if (!targetAuthorId) return [total];
        const authorKey = 'max_replies_per_author_per_day';
        const author = { kinds: ['reply'], since, authorId: targetAuthorId, except } as const;
        const { used } = await this.#posts.count(author);
        return [total, { key: authorKey, action: 'reply to author', used, max: limits[authorKey], ...daily }];
      }
      case 'tweet':
      case 'quote': {
        const key = 'max_tweets_per_day';
        const { used } = await this.#posts.count({ kinds: ['tweet', 'quote'], since, except });
        return [{ key, action: 'tweet', used, max: limits[key], ...daily }];
      }
      case 'thread': {
        const key = 'max_threads_per_week';
        const periodStart = new Date(this.#now().getTime() - WEEK_SECONDS * 1000);
        const { used, oldest } = await this.#posts.count({ kinds: ['thread'], since: periodStart, except });
        const resetsAt = new Date((oldest ?? this.#now()).getTime() + WEEK_SECONDS * 1000);
        const weekly = { periodSeconds: WEEK_SECONDS, periodStart, resetsAt };
        return [{ key, action: 'thread', used, max: limits[key], ...weekly }];
      }
      default:
        return kind satisfies never;
    }
  }

  /** The same for the person who decides. */
  async presentLimits(post: Pick<Outgoing, 'kind' | 'targetAuthorId'>): Promise<readonly PresentedLimit[]> {
    return (await this.limitsOf(post)).map(({ key, used, max, periodSeconds }) => ({
      key: `limits.${key}`,
      used,
      of: max,
      period_seconds: periodSeconds,
    }));
  }

  async #checkRepetition({ kind, texts }: Outgoing, except?: string): Promise<void> {
    const text = texts.join('\n\n');
    const same = await this.#posts.withText(text, except);
    const since = this.#now().getTime() - DUPLICATE_DAYS * DAY_SECONDS * 1000;
    if (same && Date.parse(same.created_at) >= since) {
      throw new ToolError(
        'validation_error',
        'The same text was already posted; X and its readers treat duplicates as spam.',
        {
          detail: { duplicate_of: same.tweet_id ?? same.id },
        },
      );
    }
    const recent = await this.#posts.latest(
      kind === 'reply' ? ['reply'] : ['tweet', 'quote', 'thread'],
      COMPARED_POSTS,
      {
        except,
      },
    );
    const close = recent.find((earlier) => similarity(earlier.text, text) >= TOO_SIMILAR);
    if (close) {
      throw new ToolError('validation_error', 'The text is nearly the same as a recent one; rewrite it.', {
        detail: { similar_to: close.tweet_id ?? close.id },
      });
    }
  }

  async #checkCounts(post: Outgoing, except?: string): Promise<void> {
    const full = (await this.limitsOf(post, except)).find(({ used, max }) => used >= max);
    if (!full) return;
    const { key, max, resetsAt } = full;
    throw new ToolError('policy_denied_hard_rule', `The safety limit limits.${key} = ${max} is reached.`, {
      resetAt: resetsAt,
      detail: { limit: key, max },
    });
  }

  /** Of any 20 replies in a row at most the configured share names the product. */
  async #checkProductMentions({ texts }: Outgoing, except?: string): Promise<void> {
    if (!texts.some((text) => this.mentionsProduct(text))) return;
    const { product_mention_ratio: ratio } = this.#settings.limits;
    const recent = await this.#posts.latest(['reply'], RATIO_WINDOW - 1, { except });
    const mentions = recent.filter((reply) => reply.mentions_product === 1).length + 1;
    if (mentions <= ratio * RATIO_WINDOW) return;
    throw new ToolError(
      'policy_denied_hard_rule',
      `Too many of the last ${RATIO_WINDOW} replies name the product (limits.product_mention_ratio = ${ratio}).`,
      { detail: { limit: 'product_mention_ratio', mentions, window: RATIO_WINDOW } },
    );
  }
}

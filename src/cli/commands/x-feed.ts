import { ask, look } from '../act.ts';
import { CliError, type GlobalOptions, withApp } from '../context.ts';
import { print, printJson, table } from '../output.ts';
import { oneLine, paragraph, plainText } from '../plain-text.ts';
import { age, limitOf } from '../text.ts';
import { postIdOf } from './x-post.ts';

interface FeedItem {
  readonly tweet_id: string;
  readonly author_username: string;
  readonly author_followers: number;
  readonly text: string;
  readonly created_at: string;
  readonly likes: number;
  readonly retweets: number;
  readonly replies: number;
  readonly score: number;
  readonly matched_keyword: string | null;
  readonly replied: boolean;
}

interface XPost {
  readonly id: string;
  readonly text: string;
  readonly created_at?: string;
  readonly author?: { readonly username: string; readonly public_metrics?: Counts };
  readonly public_metrics?: Counts;
  readonly attachments?: unknown;
  readonly referenced_tweets?: readonly { readonly type: string }[];
}
type Counts = Readonly<Record<string, number | undefined>>;

/** What discovery found, best first: posts worth a reply. */
export function feed(global: GlobalOptions, options: { limit?: string; minScore?: string }): Promise<void> {
  return withApp(global, async (app) => {
    const shown = await look<{ count: number; tweets: FeedItem[] }>(app, 'x', 'discovery_feed', {
      limit: limitOf(options.limit) ?? 10,
      min_score: options.minScore === undefined ? undefined : scoreOf(options.minScore),
    });
    if (global.json) return printJson(shown);
    if (shown.count === 0)
      return print(
        'Nothing found yet. `countersign up` searches for business.product_keywords and target accounts while it runs.',
      );
    for (const one of shown.tweets) {
      const keyword = one.matched_keyword ? `, "${oneLine(one.matched_keyword, 30)}"` : '';
      print(
        `${String(Math.round(one.score)).padStart(3)}  @${plainText(one.author_username)} (${one.author_followers} followers), ${age(new Date(one.created_at), app.now())} ago${keyword}${one.replied ? ', replied' : ''}`,
      );
      print(paragraph(one.text, '     '));
      print(`     ${one.tweet_id}  ♥ ${one.likes}  ↻ ${one.retweets}  ↩ ${one.replies}\n`);
    }
    print('Answer one: countersign x reply ID TEXT');
  });
}

/** Posts that mention the account. */
export function mentions(global: GlobalOptions): Promise<void> {
  return withApp(global, async (app) => {
    const page = await ask<{ tweets: XPost[] }>(app, 'x_get_user_mentions', {});
    if (global.json) return printJson(page);
    if (page.tweets.length === 0) return print('Nobody has mentioned the account lately.');
    for (const one of page.tweets) {
      const when = one.created_at ? `, ${age(new Date(one.created_at), app.now())} ago` : '';
      print(`${one.id}  @${plainText(one.author?.username ?? 'unknown')}${when}`);
      print(`${paragraph(one.text)}\n`);
    }
    print('Answer one: countersign x reply ID TEXT');
  });
}

interface Score {
  readonly total: number;
  readonly threshold: number;
}

/** Reads one post and scores it for a reply. */
export function score(global: GlobalOptions, id: string): Promise<void> {
  return withApp(global, async (app) => {
    const one = await ask<XPost>(app, 'get_tweet_by_id', { tweet_id: postIdOf(id) });
    const count = (field: string): number => one.public_metrics?.[field] ?? 0;
    const scored = await ask<Score & Record<string, unknown>>(app, 'score_tweet', {
      tweet: {
        text: one.text,
        author_username: one.author?.username ?? 'unknown',
        author_followers: one.author?.public_metrics?.followers_count ?? 0,
        likes: count('like_count'),
        retweets: count('retweet_count'),
        replies: count('reply_count'),
        created_at: one.created_at ?? app.now().toISOString(),
        has_media: one.attachments !== undefined,
        is_quote: one.referenced_tweets?.some(({ type }) => type === 'quoted') ?? false,
      },
    });
    if (global.json) return printJson({ tweet: one, score: scored });
    print(`@${plainText(one.author?.username ?? 'unknown')}`);
    print(`${paragraph(one.text)}\n`);
    const signals = Object.entries(scored).filter(
      (entry): entry is [string, number] =>
        typeof entry[1] === 'number' && entry[0] !== 'total' && entry[0] !== 'threshold',
    );
    for (const [name, points] of signals)
      print(`  ${name.replaceAll('_', ' ').padEnd(18)} ${points.toFixed(1)}`);
    const verdict = scored.total >= scored.threshold ? 'worth a reply' : 'below the threshold';
    print(`\nScore ${scored.total.toFixed(1)} of 100, threshold ${scored.threshold}: ${verdict}.`);
  });
}

interface Targets {
  readonly count: number;
  readonly max_replies_per_day: number;
  readonly accounts: readonly {
    readonly username: string;
    readonly posts_seen: number;
    readonly replies_sent: number;
    readonly last_reply_at: string | null;
    readonly last_checked_at: string | null;
  }[];
}

/** The accounts the target loop watches. */
export function targets(global: GlobalOptions): Promise<void> {
  return withApp(global, async (app) => {
    const shown = await look<Targets>(app, 'x', 'targets');
    if (global.json) return printJson(shown);
    if (shown.count === 0)
      return print(
        `No target accounts. Name them in ${app.config.path}:\n\n[targets]\naccounts = ["somebody"]`,
      );
    const when = (time: string | null): string => (time ? `${age(new Date(time), app.now())} ago` : 'never');
    print(
      table(
        ['ACCOUNT', 'POSTS SEEN', 'REPLIES', 'LAST REPLY', 'LAST CHECKED'],
        shown.accounts.map((one) => [
          `@${one.username}`,
          String(one.posts_seen),
          String(one.replies_sent),
          when(one.last_reply_at),
          when(one.last_checked_at),
        ]),
      ),
    );
    print(`\nAt most ${shown.max_replies_per_day} replies a day to all of them together.`);
  });
}

function scoreOf(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0 && value <= 100))
    throw new CliError(`"${text}" is not a score from 0 to 100.`, 2);
  return value;
}

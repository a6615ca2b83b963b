import { CliError, type CommandHost } from '../../../contract/command.ts';
import { isObject } from '../../../lib/is-object.ts';
import { print, printJson, table } from '../../../terminal/output.ts';
import { age, counted, limitOf, oneLine, paragraph, plainText } from '../../../terminal/text.ts';
import { numberAt, type XPost } from '../client/read.ts';
import { scoreTweet } from '../tools/discovery.ts';
import { getTweetById, xGetUserMentions } from '../tools/read-posts.ts';
import { views } from '../views.ts';
import { postIdOf } from './post.ts';

/** What discovery found, best first: posts worth a reply. */
export function feed(host: CommandHost, options: { limit?: string; minScore?: string }): Promise<void> {
  return host.open(async (app) => {
    const shown = await app.view(views, 'discovery_feed', {
      limit: limitOf(options.limit) ?? 10,
      min_score: options.minScore === undefined ? undefined : scoreOf(options.minScore),
    });
    if (host.options.json) return printJson(shown);
    if (shown.count === 0)
      return print(
        'No posts found yet. While `countersign up` is running, it searches for `business.product_keywords` and target accounts.',
      );
    for (const one of shown.tweets) {
      const keyword = one.matched_keyword ? `, "${oneLine(one.matched_keyword, 30)}"` : '';
      print(
        `${String(Math.round(one.score)).padStart(3)}  @${plainText(one.author_username)} (${counted(one.author_followers, 'follower')}), ${age(new Date(one.created_at), app.now())} ago${keyword}${one.replied ? ', replied' : ''}`,
      );
      print(paragraph(one.text, '     '));
      print(`     ${one.tweet_id}  ♥ ${one.likes}  ↻ ${one.retweets}  ↩ ${one.replies}\n`);
    }
    print('Reply: countersign x reply ID TEXT');
  });
}

/** Posts that mention the account. */
export function mentions(host: CommandHost): Promise<void> {
  return host.open(async (app) => {
    const page = await app.ask(xGetUserMentions, {});
    if (host.options.json) return printJson(page);
    if (page.tweets.length === 0) return print('No recent mentions.');
    for (const one of page.tweets) {
      const at = createdAt(one);
      const when = at ? `, ${age(new Date(at), app.now())} ago` : '';
      print(`${one.id}  @${plainText(one.author?.username ?? 'unknown')}${when}`);
      print(`${paragraph(one.text)}\n`);
    }
    print('Reply: countersign x reply ID TEXT');
  });
}

const createdAt = ({ created_at }: XPost): string | undefined =>
  typeof created_at === 'string' ? created_at : undefined;

/** Reads one post and scores it for a reply. */
export function score(host: CommandHost, id: string): Promise<void> {
  return host.open(async (app) => {
    const one = await app.ask(getTweetById, { tweet_id: postIdOf(id) });
    const count = (field: string): number => numberAt(one, 'public_metrics', field);
    const refs: unknown[] = Array.isArray(one.referenced_tweets) ? one.referenced_tweets : [];
    const scored = await app.ask(scoreTweet, {
      tweet: {
        text: one.text,
        author_username: one.author?.username ?? 'unknown',
        author_followers: one.author ? numberAt(one.author, 'public_metrics', 'followers_count') : 0,
        likes: count('like_count'),
        retweets: count('retweet_count'),
        replies: count('reply_count'),
        created_at: createdAt(one) ?? app.now().toISOString(),
        has_media: one.attachments !== undefined,
        is_quote: refs.some((ref) => isObject(ref) && ref.type === 'quoted'),
      },
    });
    if (host.options.json) return printJson({ tweet: one, score: scored });
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

/** The accounts the target loop watches. */
export function targets(host: CommandHost): Promise<void> {
  return host.open(async (app) => {
    const shown = await app.view(views, 'targets');
    if (host.options.json) return printJson(shown);
    if (shown.count === 0)
      return print(
        `No target accounts. Set them in ${app.kernel.config.path}:\n\n[targets]\naccounts = ["username"]`,
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
    print(
      `\nLimit: ${counted(shown.max_replies_per_day, 'reply', 'replies')} per day to all target accounts together.`,
    );
  });
}

function scoreOf(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0 && value <= 100))
    throw new CliError(`Invalid score "${text}". Use a number from 0 to 100.`, 2);
  return value;
}

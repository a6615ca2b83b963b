import { z } from 'zod';
import { ToolError } from '../../../contract/errors.ts';
import { principalName } from '../../../contract/principal.ts';
import { CHANGE_PROFILES, READ_PROFILES } from '../../../contract/tool.ts';
import { requireDecider } from '../approval-view.ts';
import { scorePost } from '../growth/scoring.ts';
import type { DiscoveredRow } from '../growth/tables.ts';
import { setWatched, watchedAccounts } from '../growth/watched.ts';
import { defineXTool, type XServices } from '../services.ts';
import { feedShape, scoreShape, targetsShape } from '../views.ts';

export const toFeed = (rows: readonly DiscoveredRow[]): z.input<typeof feedShape> => ({
  count: rows.length,
  tweets: rows.map((row) => ({
    tweet_id: row.tweet_id,
    author_id: row.author_id,
    author_username: row.author_username,
    author_followers: row.author_followers,
    text: row.text,
    created_at: row.created_at,
    likes: row.likes,
    retweets: row.retweets,
    replies: row.replies,
    score: row.score,
    signals: JSON.parse(row.signals) as unknown,
    matched_keyword: row.keyword,
    source: row.source,
    replied: row.state === 'replied',
    discovered_at: row.found_at,
  })),
});

export const getDiscoveryFeed = defineXTool({
  name: 'get_discovery_feed',
  title: 'Get discovery feed',
  summary: 'Posts that discovery found, best score first.',
  effect: 'read',
  reach: 'local',
  category: 'discovery',
  profiles: CHANGE_PROFILES,
  errors: ['db_error'],
  requires: { db: true },
  input: z.object({
    limit: z.number().int().min(1).max(200).default(10),
    min_score: z.number().min(0).max(100).default(50),
  }),
  output: feedShape,
  async run({ limit, min_score }, { services }) {
    return toFeed(await services.growth.discovered.list({ minScore: min_score, limit }));
  },
});

export const listUnrepliedTweets = defineXTool({
  name: 'list_unreplied_tweets',
  title: 'List unanswered posts',
  summary: 'Discovered posts not answered from here, best score first.',
  effect: 'read',
  reach: 'local',
  category: 'discovery',
  profiles: CHANGE_PROFILES,
  errors: ['db_error'],
  requires: { db: true },
  input: z.object({
    limit: z.number().int().min(1).max(200).default(50),
    min_score: z.number().min(0).max(100).default(0),
  }),
  output: feedShape,
  async run({ limit, min_score }, { services }) {
    return toFeed(await services.growth.discovered.list({ minScore: min_score, limit, states: ['new'] }));
  },
});

const POSTS_COUNTED = 200;

export const targetCursor = (username: string): string => `target:${username.toLowerCase()}`;

/** Kept by the target loop once it knows the account. */
export const targetState = z.object({ userId: z.string(), sinceId: z.string().optional() });

export async function targetsOf({ settings, growth }: Pick<XServices, 'settings' | 'growth'>) {
  const known = new Map((await growth.journal.cursors('target:')).map((row) => [row.name, row]));
  const accounts = await Promise.all(
    (await watchedAccounts({ settings, growth })).map(async ({ username, configured }) => {
      const row = known.get(targetCursor(username));
      const state = row && targetState.safeParse(JSON.parse(row.value)).data;
      const replies = state ? await growth.posts.toAuthor(state.userId) : [];
      const seen = state ? await growth.discovered.byAuthor(state.userId, POSTS_COUNTED) : [];
      return {
        username,
        user_id: state?.userId ?? null,
        posts_seen: seen.length,
        replies_sent: replies.length,
        last_reply_at: replies[0]?.posted_at ?? null,
        last_checked_at: row?.updated_at ?? null,
        configured,
      };
    }),
  );
  return {
    count: accounts.length,
    max_replies_per_day: settings.targets.max_target_replies_per_day,
    accounts,
  };
}

export const listTargetAccounts = defineXTool({
  name: 'list_target_accounts',
  title: 'List target accounts',
  summary: 'Watched accounts and past exchanges with each.',
  effect: 'read',
  reach: 'local',
  category: 'discovery',
  profiles: CHANGE_PROFILES,
  errors: ['db_error'],
  requires: { db: true },
  input: z.object({}),
  output: targetsShape,
  async run(_args, { services }) {
    const { accounts, ...rest } = await targetsOf(services);
    return { ...rest, accounts: accounts.map(({ configured: _, ...account }) => account) };
  },
});

/** For people in the web app: no profile lists it, so no agent is offered it. */
export const updateTargetAccount = defineXTool({
  name: 'update_target_account',
  title: 'Watch or stop watching an account',
  summary: 'Adds an account to those that are watched and answered, or removes it. A person decides.',
  effect: 'decide',
  reach: 'local',
  category: 'discovery',
  profiles: [],
  errors: ['db_error', 'validation_error'],
  requires: { db: true },
  input: z.object({
    username: z.string().regex(/^@?\w{1,15}$/u, 'must be an X username'),
    watched: z.boolean().describe('False: stop watching it.'),
  }),
  output: z.object({ username: z.string(), watched: z.boolean(), count: z.number().int() }),
  // An account is not an approval.
  decides: () => ({ ids: [] }),
  async run({ username: given, watched }, { services, decider, now }) {
    const by = principalName(requireDecider(decider));
    const username = given.replace('@', '');
    const before = await watchedAccounts(services);
    if (watched && before.length >= MOST_WATCHED && !before.some((one) => one.username === username))
      throw new ToolError('validation_error', `At most ${MOST_WATCHED} accounts can be watched.`);
    await setWatched(services, { username, watched, by }, now());
    return { username, watched, count: (await watchedAccounts(services)).length };
  },
});

/** Each costs a read of X in every round. */
const MOST_WATCHED = 100;

const count = z.number().int().min(0);
const time = z.string().refine((text) => !Number.isNaN(Date.parse(text)), 'must be an ISO-8601 time');

const scorable = z
  .object({
    text: z.string(),
    author_username: z.string(),
    author_followers: count,
    likes: count,
    retweets: count,
    replies: count,
    created_at: time,
    has_media: z.boolean().optional(),
    is_quote: z.boolean().optional(),
  })
  .strict();

/** A post as our own reads return it, with its author next to it. */
const foundPost = z
  .looseObject({
    id: z.string(),
    text: z.string(),
    created_at: time,
    public_metrics: z.looseObject({ like_count: count, retweet_count: count, reply_count: count }),
    author: z.looseObject({
      username: z.string(),
      public_metrics: z.looseObject({ followers_count: count }),
    }),
  })
  .transform(
    (post): z.output<typeof scorable> => ({
      text: post.text,
      author_username: post.author.username,
      author_followers: post.author.public_metrics.followers_count,
      likes: post.public_metrics.like_count,
      retweets: post.public_metrics.retweet_count,
      replies: post.public_metrics.reply_count,
      created_at: post.created_at,
      has_media: post.attachments !== undefined,
      is_quote:
        Array.isArray(post.referenced_tweets) && post.referenced_tweets.some((one) => one?.type === 'quoted'),
    }),
  );

const SCORABLE_FORMS =
  'must be a post as x_search_tweets returns it, or { text, author_username, author_followers, likes, retweets, replies, created_at }';

export const scoreTweet = defineXTool({
  name: 'score_tweet',
  title: 'Score a post',
  summary:
    'Scores a post for a reply, 0 to 100, by six signals: keywords, reach, recency, engagement, replies, content.',
  effect: 'read',
  reach: 'local',
  category: 'scoring',
  profiles: READ_PROFILES,
  errors: ['invalid_input'],
  input: z.object({
    tweet: z.union([scorable, foundPost], {
      error: ({ input }) => (input === undefined ? 'is missing' : SCORABLE_FORMS),
    }),
  }),
  output: scoreShape.extend({ threshold: z.number(), author_username: z.string() }),
  async run({ tweet }, { services, now }) {
    const score = scorePost(
      {
        text: tweet.text,
        authorFollowers: tweet.author_followers,
        likes: tweet.likes,
        retweets: tweet.retweets,
        replies: tweet.replies,
        createdAt: tweet.created_at,
        hasMedia: tweet.has_media ?? false,
        isQuote: tweet.is_quote ?? false,
      },
      services.settings,
      now(),
    );
    return {
      ...score,
      threshold: services.settings.scoring.threshold,
      author_username: tweet.author_username,
    };
  },
});

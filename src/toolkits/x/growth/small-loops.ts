import { z } from 'zod';
import { numberAt, postShape } from '../client/read.ts';
import { ANALYTICS, MENTIONS } from '../services.ts';
import { answerAll, ownId } from './answer.ts';
import { foundFrom, keepFound } from './discovered.ts';
import { type Engine, need, tellPages } from './engine.ts';
import type { Loop } from './loop.ts';

const HOUR = 3_600_000;
const SETTLED_MS = 23 * HOUR;
const LATEST_MS = 7 * 24 * HOUR;
const BATCH = 100;
const ALARM_DROP = 0.02;

const userShape = z.looseObject({ id: z.string() });
const lookupShape = z.union([
  z.object({ data: z.array(postShape) }).transform(({ data }) => data),
  z.object({ tweets: z.array(postShape) }).transform(({ tweets }) => tweets),
]);

/** Follower counts every hour, and the numbers of each post once, a day after it went out. */
export function analyticsLoop(engine: Engine): Loop {
  return {
    name: 'analytics',
    activeOnly: false,
    autopilotOnly: false,
    everySeconds: engine.services.settings.intervals.analytics_seconds,
    async round(signal) {
      await snapshot(engine, signal);
      await measure(engine, signal);
      await engine.services.growth.journal.cleanUp(engine.now());
    },
  };
}

async function snapshot(engine: Engine, signal: AbortSignal): Promise<void> {
  const { services, now } = engine;
  const { journal } = services.growth;
  const me = await ownId(engine, ANALYTICS, signal);
  const user = userShape.parse(
    await need(engine, ANALYTICS, 'x_get_user_by_id', { user_id: me }, { signal }),
  );
  const followers = numberAt(user, 'public_metrics', 'followers_count');
  const before = (await journal.followerTrend(new Date(now().getTime() - 24 * HOUR)))[0];
  await journal.followers({
    at: now(),
    followers,
    following: numberAt(user, 'public_metrics', 'following_count'),
    posts: numberAt(user, 'public_metrics', 'tweet_count'),
  });
  if (before && followers < before.followers * (1 - ALARM_DROP)) {
    const lost = before.followers - followers;
    await journal.act(now(), 'follower_drop', 'alert', `${lost} followers left within a day.`, { lost });
    await services.kernel.events.publish('x.followers', { followers, lost });
  }
}

async function measure(engine: Engine, signal: AbortSignal): Promise<void> {
  const { services, now } = engine;
  const { posts } = services.growth;
  const at = now().getTime();
  const due = await posts.unmeasured(new Date(at - LATEST_MS), new Date(at - SETTLED_MS), BATCH);
  if (due.length === 0) return;
  const ids = due.flatMap((post) => post.tweet_id ?? []).join(',');
  const found = lookupShape.parse(await need(engine, ANALYTICS, 'x_v2_tweets_lookup', { ids }, { signal }));
  const byId = new Map(found.map((post) => [post.id, post]));
  for (const post of due) {
    const seen = byId.get(post.tweet_id ?? '');
    // A post that is gone counts as measured with nothing, or it would be asked for until it is a week old.
    const count = (field: string): number => (seen ? numberAt(seen, 'public_metrics', field) : 0);
    await posts.measured(
      post.id,
      {
        impressions: count('impression_count'),
        likes: count('like_count'),
        replies: count('reply_count'),
        retweets: count('retweet_count'),
      },
      now(),
    );
  }
}

const PER_ROUND = 5;
const FRESH_MS = 24 * 3_600_000;
const CURSOR = 'mentions:since';

const pageShape = z.object({ tweets: z.array(postShape) });

/** Answers those who speak to the account. */
export function mentionsLoop(engine: Engine): Loop {
  return {
    name: 'mentions',
    activeOnly: true,
    autopilotOnly: true,
    everySeconds: engine.services.settings.intervals.mentions_check_seconds,
    async round(signal) {
      await collect(engine, signal);
      const { discovered } = engine.services.growth;
      const found = await discovered.list({
        minScore: 0,
        states: ['new'],
        source: 'mention',
        readyAt: engine.now(),
        limit: 50,
      });
      const oldest = new Date(engine.now().getTime() - FRESH_MS).toISOString();
      // No one waits for an answer to last week's question; a new installation must not wake them all.
      for (const post of found.filter(({ created_at }) => created_at < oldest))
        await discovered.mark(post.tweet_id, 'skipped');
      const open = found.filter(({ created_at }) => created_at >= oldest).slice(0, PER_ROUND);
      await answerAll(engine, MENTIONS, open, signal);
    },
  };
}

async function collect(engine: Engine, signal: AbortSignal): Promise<void> {
  const { services, now } = engine;
  const { journal } = services.growth;
  const sinceId = await journal.cursor(CURSOR);
  const me = await ownId(engine, MENTIONS, signal);
  const data = await need(engine, MENTIONS, 'x_get_user_mentions', sinceId ? { since_id: sinceId } : {}, {
    signal,
  });
  const { tweets } = pageShape.parse(data);
  for (const found of tweets.flatMap((post) => foundFrom(post) ?? [])) {
    if (found.authorId !== me) await keepFound({ services, now }, found, { source: 'mention' });
  }
  // Only after all are stored: a crash in between finds them again.
  const newest = tweets.map(({ id }) => id).reduce(laterId, sinceId ?? '0');
  if (newest !== '0') await journal.setCursor(CURSOR, newest, now());
  if (tweets.length > 0) await tellPages(engine);
}

/** Ids outgrow a double: they are compared as the numbers they are, by length and digits. */
export const laterId = (a: string, b: string): string =>
  a.length !== b.length ? (a.length > b.length ? a : b) : a > b ? a : b;

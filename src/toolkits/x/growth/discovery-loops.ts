import { z } from 'zod';
import { principalName } from '../../../contract/principal.ts';
import { postShape } from '../client/read.ts';
import { DISCOVERY, TARGETS } from '../services.ts';
import { targetCursor, targetState } from '../tools/discovery.ts';
import { answerAll, ownId } from './answer.ts';
import { dayOf } from './clock.ts';
import { foundFrom, keepFound } from './discovered.ts';
import { type Engine, need, tellPages } from './engine.ts';
import type { Loop } from './loop.ts';
import { keywordsOf } from './scoring.ts';
import { laterId } from './small-loops.ts';
import type { DiscoveredRow } from './tables.ts';
import { watchedAccounts } from './watched.ts';

const PER_SEARCH = 20;
const PER_ROUND = 3;
const FRESH_MS = 24 * 3_600_000;
/** X searches seven days back and refuses an older since_id. */
const CURSOR_MS = 6 * 86_400_000;

const resultShape = z.object({ newest_id: z.string().nullable() });
const cursorShape = z.object({ sinceId: z.string(), at: z.string() });

/** Looks for posts on one keyword after the other; in Autopilot it answers the best, in Composer it only finds. */
export function discoveryLoop(engine: Engine): Loop {
  return {
    name: 'discovery',
    activeOnly: true,
    autopilotOnly: false,
    everySeconds: engine.services.settings.intervals.discovery_search_seconds,
    async round(signal) {
      const keyword = await nextKeyword(engine);
      if (keyword === undefined) return;
      await search(engine, keyword, signal);
      if (engine.services.operatingMode().mode === 'autopilot') await answerBest(engine, signal);
    },
  };
}

async function nextKeyword({ services, now }: Engine): Promise<string | undefined> {
  const keywords = keywordsOf(services.settings.business);
  if (keywords.length === 0) return undefined;
  const { journal } = services.growth;
  const index = (Number((await journal.cursor('discovery:turn')) ?? -1) + 1) % keywords.length;
  await journal.setCursor('discovery:turn', String(index), now());
  return keywords[index];
}

async function search(engine: Engine, keyword: string, signal: AbortSignal): Promise<void> {
  const { journal } = engine.services.growth;
  const name = `discovery:since:${keyword}`;
  const sinceId = await sinceIdOf(engine, name);
  const phrase = keyword.includes(' ') ? `"${keyword}"` : keyword;
  const data = await need(
    engine,
    DISCOVERY,
    'find_reply_opportunities',
    { query: `${phrase} -is:retweet`, limit: PER_SEARCH, ...(sinceId ? { since_id: sinceId } : {}) },
    { signal },
  );
  const { newest_id } = resultShape.parse(data);
  if (newest_id === null) return;
  await journal.setCursor(
    name,
    JSON.stringify({ sinceId: newest_id, at: engine.now().toISOString() }),
    engine.now(),
  );
}

async function sinceIdOf({ services, now }: Engine, name: string): Promise<string | undefined> {
  const value = await services.growth.journal.cursor(name);
  const cursor = value === undefined ? undefined : cursorShape.safeParse(JSON.parse(value)).data;
  return cursor && now().getTime() - Date.parse(cursor.at) < CURSOR_MS ? cursor.sinceId : undefined;
}

async function answerBest(engine: Engine, signal: AbortSignal): Promise<void> {
  const { services, now } = engine;
  const me = await ownId(engine, DISCOVERY, signal);
  const found = await services.growth.discovered.list({
    minScore: services.settings.scoring.threshold,
    states: ['new'],
    source: 'search',
    readyAt: now(),
    limit: 50,
  });
  const oldest = new Date(now().getTime() - FRESH_MS).toISOString();
  const fresh = found.filter((post) => post.author_id !== me && post.created_at >= oldest);
  const replied = await services.growth.posts.repliedTo(fresh.map((post) => post.tweet_id));
  const open = fresh.filter((post) => !replied.has(post.tweet_id)).slice(0, PER_ROUND);
  await answerAll(engine, DISCOVERY, open, signal);
}

const userShape = z.object({ id: z.string() });
const pageShape = z.object({ tweets: z.array(postShape) });
const POSTS_READ = 5;

/** Watches the target accounts: one reply per account and round, a few a day in all. */
export function targetLoop(engine: Engine): Loop {
  return {
    name: 'targets',
    activeOnly: true,
    autopilotOnly: true,
    everySeconds: engine.services.settings.intervals.mentions_check_seconds,
    async round(signal) {
      const { services, now } = engine;
      const { max_target_replies_per_day: max } = services.settings.targets;
      const { start } = dayOf(now(), services.settings.schedule.timezone);
      let left = max - (await services.growth.posts.countByActor(principalName(TARGETS), start));
      for (const { username } of await watchedAccounts(services)) {
        if (left <= 0 || signal.aborted) return;
        const post = await newestOf(engine, username, signal);
        if (post) left -= await answerAll(engine, TARGETS, [post], signal);
      }
    },
  };
}

async function newestOf(
  engine: Engine,
  username: string,
  signal: AbortSignal,
): Promise<DiscoveredRow | undefined> {
  const { services, now } = engine;
  const { journal, discovered } = services.growth;
  const name = targetCursor(username);
  const known = await journal.cursor(name);
  const state = known === undefined ? undefined : targetState.safeParse(JSON.parse(known)).data;
  const userId = state?.userId ?? (await idOf(engine, username, signal));
  const data = await need(
    engine,
    TARGETS,
    'x_get_user_tweets',
    { user_id: userId, max_results: POSTS_READ },
    { signal },
  );
  const { tweets } = pageShape.parse(data);
  const seen = state?.sinceId ?? '0';
  const fresh = tweets.filter(({ id }) => laterId(id, seen) === id && id !== seen);
  for (const found of fresh.flatMap((post) => foundFrom(post) ?? [])) {
    const author = found.authorUsername || username;
    await keepFound(
      { services, now },
      { ...found, authorUsername: author },
      { source: 'target', keyword: username },
    );
  }
  const newest = tweets.map(({ id }) => id).reduce(laterId, seen);
  await journal.setCursor(
    name,
    JSON.stringify({ userId, ...(newest === '0' ? {} : { sinceId: newest }) }),
    now(),
  );
  await tellPages(engine);
  // On the first look everything is old; only what comes from now on is answered.
  if (!state?.sinceId) return undefined;
  const open = await discovered.byAuthor(userId, POSTS_READ);
  return open.find((post) => post.state === 'new' && post.source === 'target');
}

async function idOf(engine: Engine, username: string, signal: AbortSignal): Promise<string> {
  return userShape.parse(await need(engine, TARGETS, 'x_get_user_by_username', { username }, { signal })).id;
}

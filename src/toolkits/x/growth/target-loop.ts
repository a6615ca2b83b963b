import { z } from 'zod';
import { principalName } from '../../../contract/principal.ts';
import { foundFrom, keepFound } from '../lib/found-post.ts';
import { targetCursor, targetState } from '../lib/targets.ts';
import { postShape } from '../lib/x-replies.ts';
import { answerAll } from './answer.ts';
import { dayOf } from './clock.ts';
import { type Engine, need, tellPages } from './engine.ts';
import type { Loop } from './loop.ts';
import { laterId } from './mentions-loop.ts';
import { TARGETS } from './principals.ts';
import type { DiscoveredRow } from './tables.ts';

const userShape = z.object({ id: z.string() });
const pageShape = z.object({ tweets: z.array(postShape) });
const POSTS_READ = 5;

/** Watches the configured accounts: one reply per account and round, a few a day in all. */
export function targetLoop(engine: Engine): Loop {
  return {
    name: 'targets',
    activeOnly: true,
    autopilotOnly: true,
    everySeconds: engine.services.settings.intervals.mentions_check_seconds,
    async round(signal) {
      const { services, now } = engine;
      const { accounts, max_target_replies_per_day: max } = services.settings.targets;
      const { start } = dayOf(now(), services.settings.schedule.timezone);
      let left = max - (await services.growth.posts.countByActor(principalName(TARGETS), start));
      for (const account of accounts) {
        if (left <= 0 || signal.aborted) return;
        const post = await newestOf(engine, account.replace('@', ''), signal);
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

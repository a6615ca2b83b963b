import { z } from 'zod';
import { keywordsOf } from '../lib/scoring.ts';
import { answerAll, ownId } from './answer.ts';
import { type Engine, need } from './engine.ts';
import type { Loop } from './loop.ts';
import { DISCOVERY } from './principals.ts';

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
      if (engine.services.stance().mode === 'autopilot') await answerBest(engine, signal);
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

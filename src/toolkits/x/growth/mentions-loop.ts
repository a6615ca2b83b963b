import { z } from 'zod';
import { foundFrom, keepFound } from '../lib/found-post.ts';
import { postShape } from '../lib/x-replies.ts';
import { answerAll, ownId } from './answer.ts';
import { type Engine, need, tellPages } from './engine.ts';
import type { Loop } from './loop.ts';
import { MENTIONS } from './principals.ts';

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
      // Nobody waits for an answer to last week's question; a new installation must not wake them all.
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

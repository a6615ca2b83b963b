import { z } from 'zod';
import { FORMAT_NAMES, pickOne } from '../content/prompts.ts';
import { CONTENT, THREADS } from '../services.ts';
import { hasSlots, openSlot, openThreadSlot, WEEKDAYS } from './clock.ts';
import { type Engine, need, perform } from './engine.ts';
import { type Loop, LoopStop } from './loop.ts';
import { topicsOf } from './scoring.ts';
import { topicsBy } from './stats.ts';

const EXPLORE = 0.2;
const LOOK_BACK_MS = 90 * 86_400_000;

/** Mostly what worked, sometimes something else, never what was posted about just now. */
async function pickTopic(engine: Engine): Promise<string | undefined> {
  const { services, now, random } = engine;
  const topics = topicsOf(services.settings.business);
  if (topics.length === 0) return undefined;
  const since = new Date(now().getTime() - LOOK_BACK_MS);
  const posts = await services.growth.posts.latest(['tweet', 'thread'], 500, { since, state: 'posted' });
  const rest = Math.max(3, Math.floor(topics.length / 2));
  const recent = posts.slice(0, Math.min(rest, topics.length - 1)).map((post) => post.topic);
  const open = topics.filter((topic) => !recent.includes(topic));
  const choices = open.length > 0 ? open : topics;
  if (random() >= EXPLORE) {
    const best = topicsBy(posts).find(({ topic, avgScore }) => avgScore !== null && choices.includes(topic));
    if (best) return best.topic;
  }
  return choices[Math.min(choices.length - 1, Math.floor(random() * choices.length))];
}

const POLL_SECONDS = 60;
const NEAR_MS = 30 * 60_000;

const tweetShape = z.object({ content: z.string() });
const threadShape = z.object({ tweets: z.array(z.string()) });

/** Original posts at the preferred times, or one per interval. */
export function contentLoop(engine: Engine): Loop {
  const { schedule, intervals } = engine.services.settings;
  return {
    name: 'content',
    activeOnly: true,
    autopilotOnly: true,
    everySeconds: POLL_SECONDS,
    polls: true,
    async round(signal) {
      if (!engine.services.writer.configured) return;
      const slotted = hasSlots(schedule, WEEKDAYS);
      const turn = slotted
        ? openSlot(engine.now(), schedule)?.id
        : await intervalTurn(engine, 'content', intervals.content_post_window_seconds);
      if (turn === undefined || (await isUsed(engine, 'content', turn))) return;
      if (await somethingScheduled(engine)) return;
      const topic = await pickTopic(engine);
      if (topic === undefined) return;
      const style = pickOne(FORMAT_NAMES, engine.random);
      const draft = tweetShape.parse(
        await need(engine, CONTENT, 'generate_tweet', { topic, style }, { signal }),
      );
      await publish(engine, 'content', turn, 'x_post_tweet', { text: draft.content }, signal);
    },
  };
}

/** One thread a week, at its day and time or per interval. */
export function threadLoop(engine: Engine): Loop {
  const { schedule, intervals } = engine.services.settings;
  return {
    name: 'threads',
    activeOnly: true,
    autopilotOnly: true,
    everySeconds: POLL_SECONDS,
    polls: true,
    async round(signal) {
      if (!engine.services.writer.configured) return;
      const turn = schedule.thread_preferred_day
        ? openThreadSlot(engine.now(), schedule)?.id
        : await intervalTurn(engine, 'threads', intervals.thread_interval_seconds);
      if (turn === undefined || (await isUsed(engine, 'threads', turn))) return;
      const topic = await pickTopic(engine);
      if (topic === undefined) return;
      const count = 5 + Math.min(3, Math.floor(engine.random() * 4));
      const data = await need(engine, THREADS, 'generate_thread', { topic, num_tweets: count }, { signal });
      await publish(
        engine,
        'threads',
        turn,
        'x_post_thread',
        { tweets: threadShape.parse(data).tweets },
        signal,
      );
    },
  };
}

type Kind = 'content' | 'threads';

/** The turn is used up once the post is out, waits for a person, or may be out: never two for one turn. */
async function publish(
  engine: Engine,
  kind: Kind,
  turn: string,
  tool: string,
  args: { text: string } | { tweets: string[] },
  signal: AbortSignal,
): Promise<void> {
  const who = kind === 'content' ? CONTENT : THREADS;
  const outcome = await perform(engine, who, tool, args, {
    signal,
    key: `${kind}-${turn}`,
    reason: `Turn ${turn}`,
  });
  if (outcome.status === 'refused' || outcome.status === 'failed') {
    // The key was used before a crash: this turn has its post.
    if (outcome.fault.code !== 'idempotency_conflict') throw LoopStop.from(tool, outcome);
  }
  const { journal } = engine.services.growth;
  await journal.setCursor(`${kind}:turn`, turn, engine.now());
  await journal.setCursor(`${kind}:at`, engine.now().toISOString(), engine.now());
  await journal.act(engine.now(), kind, outcome.status === 'ok' ? 'success' : outcome.status, `Turn ${turn}`);
}

async function isUsed({ services }: Engine, kind: Kind, turn: string): Promise<boolean> {
  return (await services.growth.journal.cursor(`${kind}:turn`)) === turn;
}

/** The first turn of a fresh installation comes one interval after its first look, not immediately. */
async function intervalTurn(
  { services, now }: Engine,
  kind: Kind,
  seconds: number,
): Promise<string | undefined> {
  const { journal } = services.growth;
  const last = await journal.cursor(`${kind}:at`);
  if (last === undefined) {
    await journal.setCursor(`${kind}:at`, now().toISOString(), now());
    return undefined;
  }
  return now().getTime() - Date.parse(last) >= seconds * 1000 ? `after ${last}` : undefined;
}

/** A person's own post goes first: half an hour before and after it nothing is added. */
async function somethingScheduled({ services, now }: Engine): Promise<boolean> {
  const items = await services.growth.contentQueue.list(['scheduled', 'claimed'], 100);
  return items.some(
    (item) =>
      item.scheduled_for !== null && Math.abs(Date.parse(item.scheduled_for) - now().getTime()) <= NEAR_MS,
  );
}

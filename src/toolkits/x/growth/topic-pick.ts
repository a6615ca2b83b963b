import { topicsOf } from '../lib/scoring.ts';
import { topicsBy } from '../lib/stats.ts';
import type { Engine } from './engine.ts';

const EXPLORE = 0.2;
const LOOK_BACK_MS = 90 * 86_400_000;

/** Mostly what worked, sometimes something else, never what was posted about just now. */
export async function pickTopic(engine: Engine): Promise<string | undefined> {
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

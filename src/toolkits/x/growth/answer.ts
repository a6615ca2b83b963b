import { z } from 'zod';
import type { Principal } from '../../../contract/principal.ts';
import { actionDelay, type Engine, need, perform, tellPages } from './engine.ts';
import { LoopStop } from './loop.ts';
import type { DiscoveredRow } from './tables.ts';

const MAX_ATTEMPTS = 3;
const RETRY_MS = 1_800_000;

const draftShape = z.object({ content: z.string() });

/** Faults of this very text or post: the next candidate may well be fine. */
const OF_THIS_POST = new Set(['validation_error', 'tweet_too_long', 'not_found', 'llm_error', 'x_forbidden']);

type Answered = 'replied' | 'queued' | 'skipped' | 'later';

/** Drafts and sends one reply. What cannot be answered now stays in the feed and is tried again. */
async function answer(
  engine: Engine,
  who: Principal,
  post: DiscoveredRow,
  signal: AbortSignal,
): Promise<Answered> {
  const { services } = engine;
  const already = await services.growth.posts.repliedTo([post.tweet_id]);
  if (already.has(post.tweet_id))
    return mark(engine, who, post, 'replied', `Already replied to ${post.tweet_id}`);
  const mention = engine.random() < services.settings.limits.product_mention_ratio;
  const drafted = await perform(
    engine,
    who,
    'generate_reply',
    {
      tweet_id: post.tweet_id,
      tweet_text: post.text,
      tweet_author: post.author_username,
      mention_product: mention,
    },
    { signal },
  );
  if (drafted.status !== 'ok') return setAside(engine, who, post, LoopStop.from('generate_reply', drafted));
  const { content } = draftShape.parse(drafted.data);
  const sent = await perform(
    engine,
    who,
    'x_reply_to_tweet',
    { text: content, in_reply_to_id: post.tweet_id },
    {
      signal,
      key: `reply-${post.tweet_id}-${post.attempts}`,
      reason: `Found by ${who.id}, score ${post.score.toFixed(0)}`,
    },
  );
  switch (sent.status) {
    case 'ok':
      return mark(engine, who, post, 'replied', `Replied to ${post.tweet_id}`);
    case 'routed':
    case 'indeterminate':
      return mark(engine, who, post, 'queued', `A reply to ${post.tweet_id} is pending (${sent.status})`);
    case 'dry_run':
      return mark(engine, who, post, 'skipped', 'Dry run: no reply was sent');
    default:
      return setAside(engine, who, post, LoopStop.from('x_reply_to_tweet', sent));
  }
}

/** Answers some posts with pauses between them. */
export async function answerAll(
  engine: Engine,
  who: Principal,
  posts: readonly DiscoveredRow[],
  signal: AbortSignal,
): Promise<number> {
  // Finding continues without a model; only the answers need one.
  if (!engine.services.writer.configured) return 0;
  let replied = 0;
  for (const [index, post] of posts.entries()) {
    if (signal.aborted) break;
    if (index > 0) await engine.sleep(actionDelay(engine), signal);
    if ((await answer(engine, who, post, signal)) !== 'later') replied += 1;
  }
  return replied;
}

/** The first draft was sent under this key before a crash; what became of it is in the record, not in a second one. */
const SENT_BEFORE = 'idempotency_conflict';

async function setAside(
  engine: Engine,
  who: Principal,
  post: DiscoveredRow,
  stop: LoopStop,
): Promise<Answered> {
  if (stop.code === SENT_BEFORE) return mark(engine, who, post, 'queued', stop.message);
  if (OF_THIS_POST.has(stop.code)) {
    if (post.attempts + 1 >= MAX_ATTEMPTS || stop.code !== 'llm_error') {
      return mark(engine, who, post, 'skipped', stop.message);
    }
    const at = new Date(engine.now().getTime() + RETRY_MS);
    await engine.services.growth.discovered.retryLater(post.tweet_id, at);
    return 'later';
  }
  // A limit, the network, the account: no other post would fare better now.
  throw stop;
}

async function mark(
  engine: Engine,
  who: Principal,
  post: DiscoveredRow,
  state: 'replied' | 'queued' | 'skipped',
  message: string,
): Promise<'replied' | 'queued' | 'skipped'> {
  const { discovered, journal } = engine.services.growth;
  await discovered.mark(post.tweet_id, state);
  await journal.act(engine.now(), `${who.id}_reply`, state, message, { tweet_id: post.tweet_id });
  await tellPages(engine);
  return state;
}

const meShape = z.object({ id: z.string() });
const own = new WeakMap<object, Promise<string>>();

/** The account's own id, read once: its own posts are never answered. */
export function ownId(engine: Engine, who: Principal, signal: AbortSignal): Promise<string> {
  const known = own.get(engine.services);
  if (known) return known;
  const reading = need(engine, who, 'x_get_me', {}, { signal }).then((data) => meShape.parse(data).id);
  own.set(engine.services, reading);
  reading.catch(() => own.delete(engine.services));
  return reading;
}

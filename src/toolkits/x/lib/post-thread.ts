import { hash } from 'node:crypto';
import { ToolFault } from '../../../contract/faults.ts';
import type { Settlement } from '../../../contract/outcome.ts';
import { principalName } from '../../../contract/principal.ts';
import type { ReconcileContext, ToolContext } from '../../../contract/tool.ts';
import type { XApi } from '../client/api.ts';
import type { OpenThread } from '../growth/threads.ts';
import { reachX, type XServices } from '../services.ts';
import { findOwnPost } from './own-posts.ts';
import { postedFrom, requestOf } from './post-x.ts';
import { dataOf } from './x-replies.ts';

export interface ThreadWish {
  readonly tweets: readonly string[];
  readonly mediaIds: readonly (readonly string[])[];
}

/** Equal threads have equal keys: this is what lets the identical call resume. */
export const threadKey = ({ tweets, mediaIds }: ThreadWish): string =>
  hash('sha256', JSON.stringify([tweets, mediaIds]));

export interface SentThread {
  readonly thread_tweet_ids: string[];
  readonly tweet_count: number;
  readonly root_tweet_id: string;
}

/**
 * Posts part after part, each noted before and after, so that the identical call goes on where this one stopped.
 * A part in doubt is looked up on X first; it is sent again only when it is not there.
 */
export async function sendThread(context: ToolContext<XServices>, wish: ThreadWish): Promise<SentThread> {
  const { services, callId, now } = context;
  const { threads } = services.growth;
  const x = await reachX(context);
  const thread = await threads.takeUp(threadKey(wish), wish.tweets.length, callId, now());
  try {
    if (thread.id === callId) await admitThread(context, wish);
    const ids = await postParts(context, x, wish, thread);
    const root = ids[0] ?? '';
    await writeDown(context, thread.id, ids.length, root);
    context.note({
      rollback: {
        reversible: true,
        undo_tool: 'x_delete_tweet',
        undo_params: { tweet_id: root },
        note: 'One call per part.',
      },
    });
    return { thread_tweet_ids: ids, tweet_count: ids.length, root_tweet_id: root };
  } finally {
    await threads.letGo(thread.id, callId).catch((error: unknown) => logged(services, callId, error));
  }
}

/** Every part is out whatever the store says now; the parts' own records already tell so. */
async function writeDown(
  { services, callId, now }: ToolContext<XServices>,
  id: string,
  count: number,
  root: string,
) {
  const { threads, posts, journal } = services.growth;
  try {
    await threads.complete(id, now());
    await posts.posted(id, root, now());
    await journal.act(now(), 'thread', 'success', `Posted a thread of ${count}`, { tweet_id: root });
  } catch (error) {
    logged(services, callId, error);
  }
}

const logged = (services: XServices, call: string, error: unknown): void =>
  services.log.error('A thread could not be written down', { call, error: String(error) });

async function admitThread({ services, callId, principal }: ToolContext<XServices>, { tweets }: ThreadWish) {
  const { threads } = services.growth;
  const post = {
    id: callId,
    kind: 'thread',
    text: tweets.join('\n\n'),
    actor: principalName(principal),
  } as const;
  try {
    await services.safety.admit(post, tweets);
  } catch (error) {
    await threads.discard(callId);
    throw error;
  }
}

async function postParts(
  context: ToolContext<XServices>,
  x: XApi,
  wish: ThreadWish,
  thread: OpenThread,
): Promise<string[]> {
  const { services, callId, now, signal } = context;
  const { threads } = services.growth;
  const ids: string[] = [];
  const earlier = new Map(thread.parts.map((part) => [part.position, part]));
  if (thread.parts.length > 0) context.note({ resumed: true });
  for (const [index, text] of wish.tweets.entries()) {
    const part = earlier.get(index);
    const done = part?.tweetId ?? (part ? await lookUp(context, x, text, ids.at(-1)) : undefined);
    if (done) {
      if (!part?.tweetId) await threads.posted(thread.id, index, done, now());
      ids.push(done);
      continue;
    }
    context.progress(`Posting part ${index + 1} of ${wish.tweets.length}`, index, wish.tweets.length);
    await threads.posting(thread.id, index, callId, now());
    try {
      const request = requestOf({ text, mediaIds: wish.mediaIds[index], inReplyTo: ids.at(-1) });
      const reply = await x.request('create_tweet', request, { signal, callId });
      const { id } = postedFrom(dataOf(reply), text);
      ids.push(id);
      await threads.posted(thread.id, index, id, now());
    } catch (error) {
      if (ids.length > index) throw partial(wish, ids, index, error);
      throw await stopped(context, x, thread, { wish, index, text, ids, error });
    }
  }
  return ids;
}

interface Stop {
  readonly wish: ThreadWish;
  readonly index: number;
  readonly text: string;
  readonly ids: string[];
  readonly error: unknown;
}

/** What the caller is told when a part failed; when nothing at all is out, simply why. */
async function stopped(
  context: ToolContext<XServices>,
  x: XApi,
  thread: OpenThread,
  stop: Stop,
): Promise<ToolFault> {
  const { services, now } = context;
  const { threads, posts } = services.growth;
  const { wish, index, text, ids, error } = stop;
  if (error instanceof ToolFault && error.effect === 'none') {
    await threads.notPosted(thread.id, index);
    if (index > 0) return partial(wish, ids, index, error);
    await threads.discard(thread.id);
    await posts.failed(thread.id, error.code);
    return error;
  }
  // The part stays noted as in doubt unless X shows it at once; the identical call looks again.
  const found = await lookUp(context, x, text, ids.at(-1)).catch(() => undefined);
  if (found) {
    await threads.posted(thread.id, index, found, now());
    return partial(wish, [...ids, found], index, error);
  }
  return partial(wish, ids, index, error);
}

/** `failed_at_index` is the part whose request failed, even where X turned out to have taken it. */
function partial(
  { tweets }: ThreadWish,
  ids: readonly string[],
  failedAt: number,
  cause: unknown,
): ToolFault {
  const fault = cause instanceof ToolFault ? cause : undefined;
  const why = fault?.message ?? 'the call was interrupted';
  return new ToolFault(
    'thread_partial_failure',
    `${ids.length} of ${tweets.length} parts are posted; the request for part ${failedAt + 1} failed: ${why}. Send the identical call again to go on.`,
    {
      detail: {
        posted_tweet_ids: [...ids],
        failed_at_index: failedAt,
        ...(fault ? { cause: fault.code } : {}),
      },
      resetAt: fault?.resetAt,
      cause,
      effect: 'partial',
    },
  );
}

const LOOK_BACK_MS = 24 * 3_600_000;

async function lookUp(context: ToolContext<XServices>, x: XApi, text: string, inReplyTo: string | undefined) {
  const since = new Date(context.now().getTime() - LOOK_BACK_MS);
  // The caller may be gone; whether the part is out must be known all the same.
  const signal = context.signal.aborted ? AbortSignal.timeout(10_000) : context.signal;
  const found = await findOwnPost(x, { text, inReplyTo, since }, { signal, callId: context.callId });
  return found?.id;
}

/** After a crash the record says how far the thread got; what is missing is posted by the identical call. */
export async function reconcileThread(
  { services }: ReconcileContext<XServices>,
  wish: ThreadWish,
): Promise<Settlement> {
  const thread = await services.growth.threads.latest(threadKey(wish));
  if (!thread || thread.parts.length === 0) return { settled: 'not_done' };
  const ids = thread.parts.flatMap((part) => part.tweetId ?? []);
  const [root] = ids;
  if (thread.complete && root) {
    return { settled: 'done', data: { thread_tweet_ids: ids, tweet_count: ids.length, root_tweet_id: root } };
  }
  const why = `${ids.length} of ${wish.tweets.length} parts are posted; the identical call posts the rest.`;
  return { settled: 'unknown', why };
}

import { hash } from 'node:crypto';
import { ToolError } from '../../../contract/errors.ts';
import type { JsonObject } from '../../../contract/json.ts';
import type { Settlement } from '../../../contract/outcome.ts';
import { principalName } from '../../../contract/principal.ts';
import type { ReconcileContext, ToolContext } from '../../../contract/tool.ts';
import type { XApi } from '../client/api.ts';
import { sleep } from '../client/exchange.ts';
import { dataOf } from '../client/read.ts';
import { XError } from '../errors.ts';
import type { OpenThread } from '../growth/threads.ts';
import { reachX, type XServices } from '../services.ts';
import { describeDoubt, postedFrom, requestOf } from './post.ts';
import { findOwnPost, type Sighting } from './sighting.ts';

export interface ThreadRequest {
  readonly tweets: readonly string[];
  readonly mediaIds: readonly (readonly string[])[];
}

/** Equal threads have equal keys: this is what lets the identical call resume. */
export const threadKey = ({ tweets, mediaIds }: ThreadRequest): string =>
  hash('sha256', JSON.stringify([tweets, mediaIds]));

export interface SentThread {
  readonly thread_tweet_ids: string[];
  readonly tweet_count: number;
  readonly root_tweet_id: string;
}

/**
 * Posts part after part, each noted before and after, so that the identical call continues where this one stopped.
 * A part in doubt is looked up on X first; it is sent again only when it is not there.
 */
export async function sendThread(
  context: ToolContext<XServices>,
  wanted: ThreadRequest,
): Promise<SentThread> {
  const { services, callId, now } = context;
  const { threads } = services.growth;
  const x = await reachX(context);
  const thread = await threads.claim(threadKey(wanted), wanted.tweets.length, callId, now());
  try {
    if (thread.id === callId) await admitThread(context, wanted);
    const ids = await postParts(context, x, wanted, thread);
    const root = ids[0] ?? '';
    await writeDown(context, thread.id, ids.length, root);
    return { thread_tweet_ids: ids, tweet_count: ids.length, root_tweet_id: root };
  } finally {
    await threads.release(thread.id, callId).catch((error: unknown) => logged(services, callId, error));
  }
}

/** Every part is out even if the store fails now; the parts' own records already say so. */
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
  services.log.error('A thread could not be recorded', { call, error: String(error) });

async function admitThread(
  { services, callId, principal }: ToolContext<XServices>,
  { tweets }: ThreadRequest,
) {
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
  wanted: ThreadRequest,
  thread: OpenThread,
): Promise<string[]> {
  const { services, callId, now, signal } = context;
  const { threads } = services.growth;
  const ids: string[] = [];
  const earlier = new Map(thread.parts.map((part) => [part.position, part]));
  if (thread.parts.length > 0) context.note({ resumed: true });
  for (const [index, text] of wanted.tweets.entries()) {
    const part = earlier.get(index);
    const done =
      part?.tweetId ?? (part && (await settledPart(context, x, thread, { wanted, index, ids, part })));
    if (done) {
      if (!part?.tweetId) await threads.posted(thread.id, index, done, now());
      ids.push(done);
      continue;
    }
    context.progress(`Posting part ${index + 1} of ${wanted.tweets.length}`, index, wanted.tweets.length);
    await threads.posting(thread.id, index, callId, now());
    try {
      const request = requestOf({ text, mediaIds: wanted.mediaIds[index], inReplyTo: ids.at(-1) });
      const reply = await x.request('create_tweet', request, { signal, callId });
      const id = await idOf(context, x, thread, { wanted, index, ids }, dataOf(reply));
      ids.push(id);
      await threads.posted(thread.id, index, id, now());
    } catch (error) {
      if (ids.length > index) throw partial(wanted, ids, index, error);
      throw await stopped(context, x, thread, { wanted, index, ids, error });
    }
  }
  return ids;
}

/** X need not name the post it accepted; then it is found like one whose answer was lost. */
async function idOf(
  context: ToolContext<XServices>,
  x: XApi,
  thread: OpenThread,
  place: Place,
  data: JsonObject,
): Promise<string> {
  if (data.id === undefined) {
    const sighting = await lookUp(context, x, thread, place);
    if (sighting.state === 'found') return sighting.post.id;
  }
  return postedFrom(data, place.wanted.tweets[place.index] ?? '').id;
}

interface Place {
  readonly wanted: ThreadRequest;
  readonly index: number;
  /** The parts before it. */
  readonly ids: readonly string[];
}

interface Stop extends Place {
  readonly error: unknown;
}

/** X shows a post a moment after it took it; an absence is believed only this long after the request. */
const SETTLE_MS = 5_000;

/** The ID of a part that was sent without an answer; undefined when X certainly does not have it. */
async function settledPart(
  context: ToolContext<XServices>,
  x: XApi,
  thread: OpenThread,
  place: Place & { readonly part: OpenThread['parts'][number] },
): Promise<string | undefined> {
  const { index, part } = place;
  context.progress(`Checking whether part ${index + 1} was posted`, index, place.wanted.tweets.length);
  let sighting = await lookUp(context, x, thread, place);
  const early = SETTLE_MS - (context.now().getTime() - part.at.getTime());
  if (sighting.state === 'absent' && early > 0) {
    await sleep(early, context.signal);
    sighting = await lookUp(context, x, thread, place);
  }
  if (sighting.state === 'undecided') throw inDoubt(place, sighting.post?.id);
  return sighting.state === 'found' ? sighting.post.id : undefined;
}

/** What the caller sees when a part failed; when nothing at all is out, simply why. */
async function stopped(
  context: ToolContext<XServices>,
  x: XApi,
  thread: OpenThread,
  stop: Stop,
): Promise<ToolError> {
  const { services, now } = context;
  const { threads, posts } = services.growth;
  const { wanted, index, ids, error } = stop;
  if (error instanceof ToolError && error.effect === 'none') {
    await threads.notPosted(thread.id, index);
    if (index > 0) return partial(wanted, ids, index, error);
    await threads.discard(thread.id);
    await posts.failed(thread.id, error.code);
    return error;
  }
  // The part stays noted as in doubt unless X shows it immediately; the identical call looks again.
  const sighting = await lookUp(context, x, thread, stop).catch(() => undefined);
  if (sighting?.state === 'undecided') return inDoubt(stop, sighting.post?.id, error);
  if (sighting?.state !== 'found') return partial(wanted, ids, index, error);
  await threads.posted(thread.id, index, sighting.post.id, now());
  return partial(wanted, [...ids, sighting.post.id], index, error);
}

/** Posting on could duplicate the part, and leaving it out could lose it: a person has to look. */
function inDoubt({ wanted, index, ids }: Place, candidate: string | undefined, cause?: unknown): ToolError {
  const state = `${ids.length} of ${wanted.tweets.length} parts are posted; whether part ${index + 1} is posted is unknown`;
  return new XError(
    'thread_partial_failure',
    `${state}. ${describeDoubt(candidate)}. Nothing more was sent: a person must check the account on X.`,
    {
      detail: {
        posted_tweet_ids: [...ids],
        failed_at_index: index,
        ...(candidate ? { possible_tweet_id: candidate } : {}),
      },
      retryable: false,
      cause,
      effect: 'unknown',
    },
  );
}

/** `failed_at_index` is the part whose request failed, even where X turned out to have taken it. */
function partial(
  { tweets }: ThreadRequest,
  ids: readonly string[],
  failedAt: number,
  cause: unknown,
): ToolError {
  const fault = cause instanceof ToolError ? cause : undefined;
  const why = fault?.message ?? 'the call was interrupted';
  return new XError(
    'thread_partial_failure',
    `${ids.length} of ${tweets.length} parts are posted; the request for part ${failedAt + 1} failed: ${why}. Send the identical call again to continue.`,
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

function lookUp(
  context: ToolContext<XServices>,
  x: XApi,
  thread: OpenThread,
  { wanted, index, ids }: Place,
): Promise<Sighting> {
  // The caller may be gone; whether the part is out must be known all the same.
  const signal = context.signal.aborted ? AbortSignal.timeout(10_000) : context.signal;
  const sent = {
    text: wanted.tweets[index] ?? '',
    inReplyTo: ids.at(-1),
    conversation: ids[0],
    others: ids,
    since: thread.createdAt,
  };
  return findOwnPost(x, sent, { signal, callId: context.callId });
}

/** After a crash the record says how far the thread got; what is missing is posted by the identical call. */
export async function reconcileThread(
  { services }: ReconcileContext<XServices>,
  wanted: ThreadRequest,
): Promise<Settlement> {
  const thread = await services.growth.threads.latest(threadKey(wanted));
  if (!thread || thread.parts.length === 0) return { settled: 'not_done' };
  const ids = thread.parts.flatMap((part) => part.tweetId ?? []);
  const [root] = ids;
  if (thread.complete && root) {
    return { settled: 'done', data: { thread_tweet_ids: ids, tweet_count: ids.length, root_tweet_id: root } };
  }
  const why = `${ids.length} of ${wanted.tweets.length} parts are posted; the identical call posts the rest.`;
  return { settled: 'unknown', why };
}

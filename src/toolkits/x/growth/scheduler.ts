import type { JsonValue } from '../../../contract/json.ts';
import type { Outcome } from '../../../contract/outcome.ts';
import { principalName } from '../../../contract/principal.ts';
import { isObject } from '../../../lib/is-object.ts';
import { callFor, voidPermits } from '../content/compose.ts';
import { SCHEDULER } from '../services.ts';
import { textsOf } from './content-queue.ts';
import { type Engine, perform, tellPages } from './engine.ts';
import type { ContentRow } from './tables.ts';

const SCHEDULER_POLL_MS = 10_000;
const BATCH = 20;
const MAX_ATTEMPTS = 10;
/** The kernel remembers a key for a day; well before that, a person must look. */
const DOUBT_MS = 12 * 3_600_000;
const DOUBT_RETRY_MS = 300_000;
const PAUSE_RETRY_MS = 60_000;

/** Posts what is due, in both modes and at any hour: a person chose the time. */
export async function runScheduler(engine: Engine, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await postDue(engine, signal).catch((error: unknown) =>
      engine.services.log.error('The scheduler failed', { error: String(error) }),
    );
    await engine.sleep(SCHEDULER_POLL_MS, signal);
  }
}

export async function postDue(engine: Engine, signal: AbortSignal): Promise<void> {
  const { contentQueue } = engine.services.growth;
  // First, so that what a person rejected in advance is never sent.
  await followApprovals(engine);
  for (const item of await contentQueue.due(engine.now(), BATCH)) {
    if (signal.aborted) return;
    if (await contentQueue.claim(item, engine.holder, engine.now())) await postClaimed(engine, item, signal);
  }
}

/**
 * The key stays the same from claim to claim, no matter who claims: a process that died after posting left the answer under
 * it, and one that is only slow is waited for. It changes with every edit and every certain failure.
 */
async function postClaimed(engine: Engine, item: ContentRow, signal: AbortSignal): Promise<void> {
  const { approvals } = engine.services.kernel;
  const asked = item.approval_id === null ? undefined : await approvals.get(item.approval_id);
  if (asked?.state === 'pending') {
    await engine.services.growth.contentQueue.settle(
      item.id,
      engine.holder,
      { state: 'waiting_approval' },
      engine.now(),
    );
    return;
  }
  const { tool, args } = callFor(item);
  const outcome = await perform(engine, SCHEDULER, tool, args, {
    signal,
    key: `content-${item.id}-${item.updated_at}`,
    reason: `Scheduled for ${item.scheduled_for} by ${item.created_by} (item ${item.id})`,
  });
  const { growth } = engine.services;
  if (inDoubt(outcome, item, engine.now())) {
    const { code, message } = outcome.fault;
    const until = new Date(engine.now().getTime() + DOUBT_RETRY_MS);
    await growth.contentQueue.hold(item.id, engine.holder, until, { error_code: code, error: message });
    return;
  }
  const result = (await postedBefore(engine, item, outcome)) ?? settlementOf(outcome, item, engine.now());
  await growth.contentQueue.settle(item.id, engine.holder, result, engine.now());
  // A permit the policy did not need must not let an equal post through later.
  if (result.state === 'posted' || result.state === 'failed') await dropPermits(engine, item.id);
  await growth.journal.act(engine.now(), 'scheduled_post', result.state ?? 'claimed', `Item ${item.id}`, {
    content_id: item.id,
    ...(result.tweet_id ? { tweet_id: result.tweet_id } : {}),
    ...(result.error_code ? { code: result.error_code } : {}),
  });
  await tellPages(engine);
}

async function dropPermits(engine: Engine, contentId: number): Promise<void> {
  await voidPermits(engine, contentId, SCHEDULER).catch((error: unknown) =>
    engine.services.log.warn('A permit could not be withdrawn', { item: contentId, error: String(error) }),
  );
}

/** Refused as a repetition of our own post of this very item: a daemon that died had posted it. */
async function postedBefore(
  { services }: Engine,
  item: ContentRow,
  outcome: Outcome,
): Promise<Settled | undefined> {
  if (!('fault' in outcome) || outcome.fault.detail?.duplicate_of === undefined) return undefined;
  const earlier = await services.growth.posts.withText(textsOf(item).join('\n\n'));
  const ours = earlier?.actor === principalName(SCHEDULER) && earlier.created_at >= item.created_at;
  if (!ours || earlier.state !== 'posted') return undefined;
  return {
    state: 'posted',
    tweet_id: earlier.tweet_id,
    posted_at: earlier.posted_at,
    error: null,
    error_code: null,
  };
}

type Faulty = Extract<Outcome, { fault: unknown }>;

function inDoubt(outcome: Outcome, item: ContentRow, now: Date): outcome is Faulty {
  if (!('fault' in outcome) || outcome.fault.code !== 'indeterminate') return false;
  return now.getTime() - Date.parse(item.scheduled_for ?? item.created_at) <= DOUBT_MS;
}

type Settled = Parameters<Engine['services']['growth']['contentQueue']['settle']>[2];

function settlementOf(outcome: Outcome, item: ContentRow, now: Date): Settled {
  switch (outcome.status) {
    case 'ok':
      return {
        state: 'posted',
        tweet_id: postedId(outcome.data),
        posted_at: now.toISOString(),
        error: null,
        error_code: null,
      };
    case 'routed':
      return { state: 'waiting_approval', approval_id: outcome.approvalId };
    case 'dry_run':
      return { state: 'failed', error_code: 'dry_run', error: 'Dry run: nothing was posted.' };
    case 'needs_person':
      return { state: 'failed', error_code: 'approval_required', error: outcome.question };
    default:
      return failureOf(outcome, item, now);
  }
}

function failureOf(outcome: Faulty, item: ContentRow, now: Date): Settled {
  const { code, message, resetAt, retryable } = outcome.fault;
  const said = { error_code: code, error: message };
  const later = (ms: number): Settled => ({ ...said, state: 'scheduled', next_try_at: after(now, ms) });
  if (resetAt) return { ...said, state: 'scheduled', next_try_at: resetAt.toISOString() };
  if (code === 'paused') return later(PAUSE_RETRY_MS);
  if (retryable && item.attempts < MAX_ATTEMPTS) return later(Math.min(900_000, 30_000 * 2 ** item.attempts));
  return { ...said, state: 'failed' };
}

/** Items that wait for a person learn here what the person decided. */
async function followApprovals(engine: Engine): Promise<void> {
  const { services, now } = engine;
  const { growth, kernel } = services;
  for (const item of await growth.contentQueue.awaitingDecision(BATCH)) {
    if (item.approval_id === null) continue;
    const approval = await kernel.approvals.get(item.approval_id);
    const at = now();
    switch (approval?.state) {
      case 'done': {
        const data = approval.outcome ?? null;
        const tweetId = postedId(data) ?? postedId(isObject(data) ? (data.data ?? null) : null);
        await growth.contentQueue.resolve(
          item.id,
          { state: 'posted', tweet_id: tweetId, posted_at: at.toISOString() },
          at,
        );
        break;
      }
      case 'rejected':
      case 'expired':
      case 'withdrawn':
        await growth.contentQueue.resolve(
          item.id,
          { state: 'cancelled', error: `The post was ${approval.state}.` },
          at,
        );
        break;
      case 'failed':
      case 'indeterminate':
        await growth.contentQueue.resolve(
          item.id,
          { state: 'failed', error: `The approved post is ${approval.state}.` },
          at,
        );
        break;
      case 'approved':
        // A permit for a post that became due while the person was asked: it goes out in this round.
        if (approval.kind !== 'permit' || item.state !== 'waiting_approval') continue;
        await growth.contentQueue.resolve(item.id, { state: 'scheduled' }, at);
        break;
      default:
        continue;
    }
    await tellPages(engine);
  }
}

function postedId(data: JsonValue): string | null {
  if (!isObject(data)) return null;
  const id = data.root_tweet_id ?? data.id;
  return typeof id === 'string' ? id : null;
}

const after = (now: Date, ms: number): string => new Date(now.getTime() + ms).toISOString();

import { setTimeout as sleep } from 'node:timers/promises';
import { ProtocolError } from '@modelcontextprotocol/client';
import { ToolError } from '../contract/errors.ts';
import type { JsonObject, JsonValue } from '../contract/json.ts';
import type { ClientAsk } from '../contract/tool.ts';
import { isObject } from '../lib/is-object.ts';
import { answersFrom, MAX_ROUNDS } from './asking.ts';
import type { RequestOptions, Upstream } from './upstream.ts';

const DEFAULT_POLL_MS = 1_000;
const SHORTEST_POLL_MS = 50;
const LONGEST_POLL_MS = 5_000;
/** How long a server may take to accept that its task is cancelled. */
const CANCEL_MS = 5_000;

export interface TaskFollower {
  readonly server: string;
  readonly ask: ClientAsk | undefined;
  readonly options: Pick<RequestOptions, 'principal' | 'signal'>;
  onStatus(message: string): void;
}

/** The handle in an answer of either generation; undefined for an answer that is a result. */
export function findTask(result: JsonObject): JsonObject | undefined {
  if (result.resultType === 'task') return result;
  return isObject<JsonValue>(result.task) && typeof result.task.taskId === 'string' ? result.task : undefined;
}

/**
 * Follows a server's task to its end and gives the result of the call. The call was sent once; only questions about it
 * are repeated. A task that the server no longer knows says nothing about its effect.
 */
export async function followTask(
  upstream: Upstream,
  handle: JsonObject,
  follower: TaskFollower,
): Promise<JsonObject> {
  const { options, onStatus } = follower;
  const { signal } = options;
  const taskId = String(handle.taskId);
  const isModern = handle.resultType === 'task';
  const ask = (method: string, more: JsonObject = {}): Promise<JsonObject> =>
    upstream
      .request(method, { taskId, ...more }, { ...options, ask: follower.ask, task: true, mayRetry: true })
      .catch((error) => {
        throw asUnknown(error);
      });
  let task = handle;
  try {
    for (let rounds = 0; ; ) {
      if (typeof task.statusMessage === 'string') onStatus(upstream.hide(task.statusMessage));
      switch (task.status) {
        case 'completed':
        case 'failed':
          return isModern ? await endOf(task, upstream) : await ask('tasks/result');
        case 'cancelled':
          throw new ToolError('server_error', `The server ${follower.server} cancelled its task.`, {
            effect: 'unknown',
          });
        case 'input_required':
          // A legacy server pushes its questions to the client that waits for the result.
          if (!isModern) return await ask('tasks/result');
          rounds += 1;
          await ask('tasks/update', {
            inputResponses: await answersTo(upstream.hide(task.inputRequests), follower, rounds),
          });
          break;
        default:
          await sleep(pollOf(task), undefined, { signal });
      }
      task = await ask('tasks/get');
    }
  } catch (error) {
    if (signal?.aborted) await cancel(upstream, taskId, options.principal);
    throw error;
  }
}

function answersTo(
  inputRequests: JsonValue | undefined,
  { ask, server }: TaskFollower,
  round: number,
): Promise<JsonObject> {
  if (!ask || round > MAX_ROUNDS)
    throw new ToolError(
      'server_error',
      `The task of the server ${server} asks for input. No client can answer.`,
      {
        effect: 'unknown',
      },
    );
  return answersFrom(ask, inputRequests);
}

async function endOf({ result, error }: JsonObject, upstream: Upstream): Promise<JsonObject> {
  if (isObject<JsonValue>(result)) return result;
  const { code, message, data } = isObject<JsonValue>(error) ? error : {};
  const said = typeof message === 'string' ? message : 'The task failed without a message.';
  throw await upstream.toError(new ProtocolError(typeof code === 'number' ? code : -32_603, said, data));
}

const pollOf = ({ pollIntervalMs, pollInterval }: JsonObject): number => {
  const wanted = Number(pollIntervalMs ?? pollInterval ?? DEFAULT_POLL_MS) || DEFAULT_POLL_MS;
  return Math.min(Math.max(wanted, SHORTEST_POLL_MS), LONGEST_POLL_MS);
};

/** The question failed, not the call: that may have had its effect, also where the server says it knows no such task. */
const asUnknown = (error: unknown): unknown =>
  error instanceof ToolError
    ? error.reworded(`${error.message} The task that was under way there cannot be followed.`, {
        cause: error,
        effect: 'unknown',
        detail: error.detail,
      })
    : error;

async function cancel(upstream: Upstream, taskId: string, principal: string): Promise<void> {
  const signal = AbortSignal.timeout(CANCEL_MS);
  await upstream
    .request('tasks/cancel', { taskId }, { principal, signal, task: true, mayRetry: false })
    .catch(() => {});
}

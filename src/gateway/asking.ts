import { ToolError } from '../contract/errors.ts';
import type { JsonObject, JsonValue } from '../contract/json.ts';
import type { ServerSettings } from '../contract/servers.ts';
import type { ClientAsk } from '../contract/tool.ts';
import { isObject } from '../lib/is-object.ts';
import type { RequestOptions, Upstream } from './upstream.ts';

/** A server that asks more often than this does not want an answer. */
export const MAX_ROUNDS = 16;
/** Long enough for a person to answer a dialog. */
const ASKING_MS = 900_000;

export const deadlineOf = ({
  timeout_seconds: seconds,
  may_ask: mayAsk,
}: ServerSettings): number | undefined =>
  seconds === undefined ? (mayAsk.length > 0 ? ASKING_MS : undefined) : seconds * 1000;

/** The answers to a modern server's questions. One that policy refused and that has no answer ends the call. */
export async function answersFrom(ask: ClientAsk, requests: JsonValue | undefined): Promise<JsonObject> {
  const asked = isObject<JsonValue>(requests) ? requests : {};
  const answers = await ask.put(asked);
  const refused = Object.entries(asked).find(([key]) => !Object.hasOwn(answers, key));
  if (!refused) return answers;
  const { method } = isObject<JsonValue>(refused[1]) ? refused[1] : {};
  throw new ToolError('not_allowed', `Policy refused what the server asked during the call (${method}).`, {
    effect: 'partial',
  });
}

/** Hands a modern server's questions on and sends the answers with the same request, until it has a result. */
export async function requestWithAnswers(
  upstream: Upstream,
  method: string,
  params: JsonObject,
  ask: ClientAsk | undefined,
  options: RequestOptions,
): Promise<JsonObject> {
  let result = await upstream.request(method, params, { ...options, ask });
  for (let round = 0; ask && round < MAX_ROUNDS && result.resultType === 'input_required'; round += 1) {
    const { inputRequests, requestState } = result;
    const inputResponses = await answersFrom(ask, upstream.hide(inputRequests));
    const next = { ...params, inputResponses, ...(requestState === undefined ? {} : { requestState }) };
    result = await upstream.request(method, next, { ...options, ask });
  }
  return result;
}

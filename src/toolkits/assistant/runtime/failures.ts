import { z } from 'zod';
import { type ErrorCode, findErrorSpec, ToolError } from '../../../contract/errors.ts';
import type { JsonObject } from '../../../contract/json.ts';
import { AssistantError, type AssistantErrorCode } from '../errors.ts';

/** Thrown where a stream ended without the model saying that it had finished. */
export class BrokenStream extends Error {
  constructor(message = 'The stream ended before the answer was complete.') {
    super(message);
    this.name = 'BrokenStream';
  }
}

const QUOTED_CHARS = 200;
const OVERFLOW =
  /context[_ ]length|context window|maximum context|prompt is too long|too many (input )?tokens|input length and .?max_tokens|exceeds? the (model's )?(maximum )?(context|token)/i;
const NO_QUOTA = /insufficient_quota|quota|billing|credit balance/i;

/**
 * What went wrong with a model request, as the caller should see it. Read by shape, not by class: the SDK's error
 * classes are only loaded once a model is used.
 */
export function modelError(error: unknown, model: string): ToolError {
  if (error instanceof ToolError) return error;
  const source = innermost(error);
  const status = numberField(source, 'statusCode');
  const text = `${textField(source, 'message')} ${textField(source, 'responseBody')}`;
  if (status !== undefined && status >= 400) return statusError(source, status, text, model);
  if (OVERFLOW.test(text)) return overflowError(model, source);
  if (isTimeout(source)) {
    return new ToolError('timeout', `${model} did not answer in time.`, { cause: error, detail: { model } });
  }
  if (textField(source, 'name') === 'AI_LoadAPIKeyError') {
    return new AssistantError('assistant_not_configured', `No API key is configured for ${model}.`, {
      cause: error,
    });
  }
  const unreachable = textField(source, 'message').startsWith('Cannot connect to API');
  const what = unreachable
    ? 'could not be reached, or closed the connection without an answer'
    : 'broke off its answer or sent an unreadable one';
  return new AssistantError('assistant_error', `${model} ${what}.`, { cause: error, detail: { model } });
}

/** Worth asking the same model again immediately: nothing had happened yet, and it may go well the next time. */
export function isBrokenAnswer(error: unknown): boolean {
  const source = innermost(error);
  const status = numberField(source, 'statusCode');
  if (status !== undefined && status >= 400) return false;
  return !isTimeout(source) && !(source instanceof ToolError) && !OVERFLOW.test(textField(source, 'message'));
}

function statusError(source: unknown, status: number, text: string, model: string): ToolError {
  const options = { cause: source, detail: { model, status } };
  // The text of a refused sign-in may repeat the key, so it is never quoted.
  if (status === 401 || status === 403) {
    return new AssistantError(
      'assistant_auth',
      `${model} rejected the credentials (HTTP ${status}).`,
      options,
    );
  }
  if (status === 413 || ((status === 400 || status === 422) && OVERFLOW.test(text))) {
    return overflowError(model, source);
  }
  if (status === 402 || (status === 429 && NO_QUOTA.test(text))) {
    return new AssistantError(
      'assistant_rate_limited',
      `The account behind ${model} has no quota left (HTTP ${status}).`,
      {
        ...options,
        retryable: false,
      },
    );
  }
  if (status === 429) {
    const resetAt = retryAfter(source);
    return new AssistantError('assistant_rate_limited', `${model} is rate limiting requests (HTTP 429).`, {
      ...options,
      ...(resetAt ? { resetAt } : {}),
    });
  }
  if (status === 404) {
    return new AssistantError(
      'assistant_not_configured',
      `${model} was not found at its address (HTTP 404).`,
      options,
    );
  }
  if (status === 408 || status === 504) {
    return new ToolError('timeout', `${model} did not answer in time (HTTP ${status}).`, options);
  }
  const quoted = quote(textField(source, 'message'));
  return new AssistantError('assistant_error', `${model} returned HTTP ${status}${quoted}.`, {
    ...options,
    retryable: status >= 500,
  });
}

const overflowError = (model: string, cause: unknown): ToolError =>
  new AssistantError('assistant_context_overflow', `The conversation is too large for ${model}.`, {
    cause,
    detail: { model },
  });

/** The SDK wraps the last of several attempts. */
function innermost(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'lastError' in error ? error.lastError : error;
}

function isTimeout(error: unknown): boolean {
  return textField(error, 'name') === 'TimeoutError';
}

function retryAfter(source: unknown): Date | undefined {
  if (typeof source !== 'object' || source === null || !('responseHeaders' in source)) return undefined;
  const value = textField(source.responseHeaders, 'retry-after');
  if (value === '') return undefined;
  const seconds = Number(value);
  const at = Number.isFinite(seconds) ? new Date(Date.now() + seconds * 1000) : new Date(value);
  return Number.isNaN(at.getTime()) ? undefined : at;
}

function quote(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  if (line === '') return '';
  return `: “${line.length > QUOTED_CHARS ? `${line.slice(0, QUOTED_CHARS)}…` : line}”`;
}

/** Fields that an error may also inherit, such as its name. */
function textField(value: unknown, name: 'name' | 'message' | 'responseBody' | 'retry-after'): string {
  if (typeof value !== 'object' || value === null) return '';
  const found = (value as Record<string, unknown>)[name];
  return typeof found === 'string' ? found : '';
}

function numberField(value: unknown, name: 'statusCode'): number | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const found = (value as Record<string, unknown>)[name];
  return typeof found === 'number' ? found : undefined;
}

const isCode = (text: string): text is AssistantErrorCode | ErrorCode => findErrorSpec(text) !== undefined;

const storedError = z.object({
  code: z.string().refine(isCode),
  message: z.string(),
  retryable: z.boolean(),
  effect: z.enum(['none', 'partial', 'unknown']),
});

/** A failure as it is kept until a caller has received it. */
export const errorToJson = (fault: ToolError): JsonObject => ({
  code: fault.code,
  message: fault.message,
  retryable: fault.retryable,
  effect: fault.effect,
});

export function errorFromJson(text: string | null): ToolError {
  const { code, message, retryable, effect } = storedError.parse(JSON.parse(text ?? '{}'));
  return new AssistantError(code, message, { retryable, effect });
}

/**
 * Did the caller give up because it waited too long? SDK clients then cancel with a reason that says so: an error
 * named TimeoutError, the protocol's code for it, or words. Anything else is a wish to stop.
 */
export function isTimeoutReason(reason: unknown, depth = 0): boolean {
  if (typeof reason === 'string') return /time[- ]?out|timed[- ]?out|deadline exceeded/i.test(reason);
  if (typeof reason !== 'object' || reason === null || depth > 3) return false;
  if ('name' in reason && reason.name === 'TimeoutError') return true;
  if ('code' in reason && (reason.code === REQUEST_TIMEOUT || reason.code === 'ETIMEDOUT')) return true;
  if ('message' in reason && isTimeoutReason(reason.message)) return true;
  if ('reason' in reason && isTimeoutReason(reason.reason, depth + 1)) return true;
  return 'cause' in reason && isTimeoutReason(reason.cause, depth + 1);
}

/**
 * Does the caller want the work stopped? Only a cancel that gives a reason, and no other one, says so. A time-out, a
 * dropped stream and a closed connection say that no one waits any more, some clients report all of them alike, and some
 * give no reason for anything: what cannot be told apart must not be lost.
 */
export const asksToStop = (reason: unknown): boolean =>
  givesReason(reason) && !isTimeoutReason(reason) && !saysGone(reason);

/** Aborting without a reason makes an `AbortError`; one that a client names comes as text. */
const givesReason = (reason: unknown): boolean =>
  typeof reason === 'string' ? reason !== '' : reason instanceof Error && reason.name !== 'AbortError';

/** Codex drops its future for a time-out as for an interruption; HTTP clients of 2026 close the stream for both. */
const GONE = /future dropped|connection closed|client left|disconnect|request was aborted before/i;

function saysGone(reason: unknown, depth = 0): boolean {
  if (typeof reason === 'string') return GONE.test(reason);
  if (typeof reason !== 'object' || reason === null || depth > 3) return false;
  if ('message' in reason && saysGone(reason.message)) return true;
  if ('reason' in reason && saysGone(reason.reason, depth + 1)) return true;
  return 'cause' in reason && saysGone(reason.cause, depth + 1);
}

/** JSON-RPC code that MCP SDKs use for a request that timed out. */
const REQUEST_TIMEOUT = -32001;

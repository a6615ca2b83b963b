import { ToolFault } from '../../../contract/faults.ts';

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
export function modelFault(error: unknown, model: string): ToolFault {
  if (error instanceof ToolFault) return error;
  const source = innermost(error);
  const status = numberField(source, 'statusCode');
  const text = `${textField(source, 'message')} ${textField(source, 'responseBody')}`;
  if (status !== undefined && status >= 400) return statusFault(source, status, text, model);
  if (OVERFLOW.test(text)) return overflowFault(model, source);
  if (isTimeout(source)) {
    return new ToolFault('timeout', `${model} did not answer in time.`, { cause: error, detail: { model } });
  }
  if (textField(source, 'name') === 'AI_LoadAPIKeyError') {
    return new ToolFault('assistant_not_configured', `No API key is configured for ${model}.`, {
      cause: error,
    });
  }
  const unreachable = textField(source, 'message').startsWith('Cannot connect to API');
  const what = unreachable
    ? 'could not be reached, or closed the connection without an answer'
    : 'broke off its answer or sent one that cannot be read';
  return new ToolFault('assistant_error', `${model} ${what}.`, { cause: error, detail: { model } });
}

/** Worth asking the same model again at once: nothing had happened yet, and it may go well the next time. */
export function isBrokenAnswer(error: unknown): boolean {
  const source = innermost(error);
  const status = numberField(source, 'statusCode');
  if (status !== undefined && status >= 400) return false;
  return !isTimeout(source) && !(source instanceof ToolFault) && !OVERFLOW.test(textField(source, 'message'));
}

function statusFault(source: unknown, status: number, text: string, model: string): ToolFault {
  const options = { cause: source, detail: { model, status } };
  // The text of a refused sign-in may repeat the key, so it is never quoted.
  if (status === 401 || status === 403) {
    return new ToolFault('assistant_auth', `${model} refused the credentials (HTTP ${status}).`, options);
  }
  if (status === 413 || ((status === 400 || status === 422) && OVERFLOW.test(text))) {
    return overflowFault(model, source);
  }
  if (status === 402 || (status === 429 && NO_QUOTA.test(text))) {
    return new ToolFault(
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
    return new ToolFault('assistant_rate_limited', `${model} asks to slow down (HTTP 429).`, {
      ...options,
      ...(resetAt ? { resetAt } : {}),
    });
  }
  if (status === 404) {
    return new ToolFault(
      'assistant_not_configured',
      `${model} is not known at its address (HTTP 404).`,
      options,
    );
  }
  if (status === 408 || status === 504) {
    return new ToolFault('timeout', `${model} did not answer in time (HTTP ${status}).`, options);
  }
  const quoted = quote(textField(source, 'message'));
  return new ToolFault('assistant_error', `${model} answered with HTTP ${status}${quoted}.`, {
    ...options,
    retryable: status >= 500,
  });
}

const overflowFault = (model: string, cause: unknown): ToolFault =>
  new ToolFault('assistant_context_overflow', `The conversation is too large for ${model}.`, {
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

function textField(value: unknown, name: string): string {
  if (typeof value !== 'object' || value === null) return '';
  const found = (value as Record<string, unknown>)[name];
  return typeof found === 'string' ? found : '';
}

function numberField(value: unknown, name: string): number | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const found = (value as Record<string, unknown>)[name];
  return typeof found === 'number' ? found : undefined;
}

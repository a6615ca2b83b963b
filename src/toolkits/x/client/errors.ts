import { ToolError } from '../../../contract/errors.ts';
import type { JsonValue } from '../../../contract/json.ts';
import { isObject } from '../../../lib/is-object.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { XError } from '../errors.ts';

export interface FailedReply {
  readonly status: number;
  readonly json: JsonValue | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

export interface FaultContext {
  /** Absent for universal requests outside the table. */
  readonly endpoint?: Endpoint;
  readonly change: boolean;
  /** Scopes the token has, where known. */
  readonly granted?: readonly string[];
  readonly now: Date;
}

/** Error codes of v1.1 bodies that say the account itself is in trouble. */
const RESTRICTED_CODES = new Set([64, 326]);
const RESTRICTED_WORDS =
  /your account (is|has been) (suspended|locked|restricted|temporarily locked)|account is temporarily locked|to protect our users from spam|user is suspended/i;
const DUPLICATE = /duplicate content|status is a duplicate/i;
const NO_ADS = /UNAUTHORIZED_CLIENT_APPLICATION|not (allowlisted|whitelisted)/i;

/** One X error as one documented fault. Only X's own words are quoted; bodies go to the log. */
export function toToolError(reply: FailedReply, context: FaultContext): ToolError {
  const said = readProblem(reply.json);
  const where = context.endpoint ? `${context.endpoint.method} ${context.endpoint.path}` : 'the request';
  const quote = said.text ? `: "${said.text}"` : '';
  const cause = { status: reply.status, body: reply.json };
  const detail = { http_status: reply.status, ...(said.type ? { x_problem: said.type } : {}) };

  if (reply.status === 429) {
    const resetAt = resetOf(reply.headers, context.now);
    const capped = /usage-capped/i.test(said.type ?? '');
    const message = capped
      ? `X's usage cap for this app is reached${quote}`
      : `X's rate limit for ${where} is used up${resetAt ? ` until ${resetAt.toISOString()}` : ''}`;
    return new XError('x_rate_limited', message, {
      resetAt,
      cause,
      detail,
      ...(capped ? { retryable: false } : {}),
    });
  }
  if (said.codes.some((code) => RESTRICTED_CODES.has(code)) || RESTRICTED_WORDS.test(said.text)) {
    return new XError('x_account_restricted', `X has restricted the account${quote}`, { cause, detail });
  }
  if (NO_ADS.test(said.text)) {
    return new XError('x_forbidden', `The credentials have no Ads API access${quote}`, { cause, detail });
  }
  if (reply.status === 401) {
    return new XError('x_auth_expired', `X did not accept the credentials for ${where}${quote}`, {
      cause,
      detail,
    });
  }
  if (reply.status === 403) return forbidden(said, where, quote, context, { cause, detail });
  if (reply.status === 404) return missing(said, where, quote, context, { cause, detail });
  if (reply.status >= 500) {
    return new XError('x_api_error', `X failed with status ${reply.status} on ${where}${quote}`, {
      cause,
      detail,
      // A server that failed while answering a change may have made it.
      effect: context.change ? 'unknown' : 'none',
    });
  }
  if (reply.status >= 300 && reply.status < 400) {
    return new XError('x_api_error', `X answered ${where} with a redirect, which is never followed`, {
      cause,
      detail,
      retryable: false,
    });
  }
  return new XError('x_api_error', `X refused ${where} with status ${reply.status}${quote}`, {
    cause,
    detail,
    retryable: false,
  });
}

/** X answers 200 with `errors` and no `data` for what it cannot show. */
export function faultInside(json: JsonValue, context: FaultContext): ToolError | undefined {
  if (!isObject(json) || json.data !== undefined || !Array.isArray(json.errors)) return undefined;
  const said = readProblem(json);
  const options = { cause: { status: 200, body: json }, detail: { http_status: 200 } };
  const quote = said.text ? `: "${said.text}"` : '';
  if (/resource-not-found/.test(said.type ?? '') || /not found|could not find/i.test(said.text)) {
    return new ToolError('not_found', `X has no such item${quote}`, options);
  }
  if (/not-authorized|disallowed/.test(said.type ?? '')) {
    return new XError('x_forbidden', `X does not show this item${quote}`, options);
  }
  return new XError('x_api_error', `X could not answer${quote}`, {
    ...options,
    retryable: false,
    ...effectOf(context),
  });
}

/** The network failed. `sent`: the request may have reached X. */
export function networkError(
  cause: unknown,
  context: { readonly change: boolean; readonly sent: boolean },
): ToolError {
  const doubt = context.change && context.sent;
  return new XError(
    'x_network_error',
    doubt
      ? 'The connection to X broke after the request was sent; it may have taken effect'
      : 'X could not be reached; nothing was changed',
    { cause, effect: doubt ? 'unknown' : 'none', retryable: !doubt },
  );
}

type Options = { readonly cause: unknown; readonly detail: { http_status: number } };

function forbidden(
  said: Problem,
  where: string,
  quote: string,
  context: FaultContext,
  options: Options,
): ToolError {
  if (DUPLICATE.test(said.text)) {
    return new XError('x_forbidden', `X refused the post as a duplicate of a recent one${quote}`, options);
  }
  const missing = missingScopes(context);
  if (missing.length > 0 && /scope|permission|^forbidden$/i.test(said.text)) {
    return new XError('x_forbidden', `The token lacks the scope ${missing.join(', ')} for ${where}`, options);
  }
  return new XError('x_forbidden', `X does not allow ${where}${quote}`, options);
}

function missing(
  said: Problem,
  where: string,
  quote: string,
  context: FaultContext,
  options: Options,
): ToolError {
  // The Ads API has words for codes.
  const aboutItem =
    /resource-not-found/.test(said.type ?? '') || said.codes.length > 0 || /^NOT_FOUND\b/.test(said.text);
  if (context.endpoint?.unlisted && !aboutItem) {
    return new XError('x_api_error', `X no longer offers ${where} (404)`, {
      ...options,
      retryable: false,
    });
  }
  return new ToolError('not_found', `X has no such item for ${where}${quote}`, options);
}

export const missingScopes = ({ endpoint, granted }: Pick<FaultContext, 'endpoint' | 'granted'>): string[] =>
  endpoint && granted ? endpoint.scopes.filter((scope) => !granted.includes(scope)) : [];

const effectOf = (context: FaultContext) => (context.change ? ({ effect: 'unknown' } as const) : {});

export function resetOf(headers: Readonly<Record<string, string>>, now: Date): Date | undefined {
  // Daily limits exist in addition to the usual one; the one that is used up counts.
  const daily = ['x-user-limit-24hour', 'x-app-limit-24hour']
    .filter((name) => headers[`${name}-remaining`] === '0')
    .map((name) => Number(headers[`${name}-reset`]))
    .filter((reset) => Number.isFinite(reset) && reset > 0);
  if (daily.length > 0) return new Date(Math.max(...daily) * 1000);
  const reset = Number(headers['x-rate-limit-reset'] ?? headers['x-account-rate-limit-reset']);
  if (Number.isFinite(reset) && reset > 0) return new Date(reset * 1000);
  const wait = Number(headers['retry-after']);
  return Number.isFinite(wait) && wait > 0 ? new Date(now.getTime() + wait * 1000) : undefined;
}

interface Problem {
  readonly text: string;
  readonly type: string | undefined;
  readonly codes: readonly number[];
}

/** X has three shapes of error: problem+json, a list of errors, and `{ code, message }`. */
function readProblem(json: JsonValue | undefined): Problem {
  if (!isObject(json)) return { text: '', type: undefined, codes: [] };
  const errors = Array.isArray(json.errors) ? json.errors.filter((each) => isObject(each)) : [];
  const first = errors[0] ?? {};
  const text = [
    first.message,
    // The detail around the list only says that something in it is wrong.
    first.detail,
    json.detail,
    json.message,
    json.error_description,
    json.title,
  ].find((value): value is string => typeof value === 'string' && value !== '');
  const code = errors.map((error) => error.code).find((value): value is string => typeof value === 'string');
  const type = [json.type, first.type].find(
    (value): value is string => typeof value === 'string' && value !== 'about:blank',
  );
  return {
    text: [code, text].filter(Boolean).join(': ').slice(0, 300),
    type,
    codes: errors.map((error) => error.code).filter((value): value is number => typeof value === 'number'),
  };
}

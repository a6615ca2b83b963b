import { defineErrors, type ErrorCode, ToolError } from '../../contract/errors.ts';

export const XError = defineErrors({
  x_rate_limited: {
    retryable: true,
    hint: 'Wait until rate_limit_reset, then retry.',
    hintForPeople: 'Retry when X allows it.',
  },
  x_auth_expired: { retryable: false, hint: 'Run `countersign auth x` to sign in again.' },
  x_forbidden: {
    retryable: false,
    hint: 'The account, its scopes or its API plan does not allow this. Run `countersign x status`.',
  },
  x_account_restricted: {
    retryable: false,
    hint: 'X has restricted the account. A person must resolve this on x.com.',
  },
  x_network_error: { retryable: true, hint: 'The network failed before X answered. Retry.' },
  x_not_configured: {
    retryable: false,
    hint: 'Run `countersign auth x`, or unset provider_backend to use the sandbox.',
  },
  x_api_error: { retryable: true, hint: 'X returned an error; see the message.' },
  scraper_mutation_blocked: {
    retryable: false,
    hint: 'The scraper backend only reads. A person must set x_api.provider_backend = "x_api" for changes.',
  },
  tweet_too_long: {
    retryable: false,
    hint: 'Shorten the text to 280 weighted characters, or post a thread.',
  },
  unsupported_media_type: { retryable: false, hint: 'Use jpg, png, webp, gif or mp4.' },
  media_upload_error: { retryable: false, hint: 'X rejected the file; see the message.' },
  thread_partial_failure: {
    retryable: true,
    hint: 'Send the identical call again to resume after the last posted part.',
  },
  context_error: { retryable: false, hint: 'The author context could not be gathered.' },
  recommendation_error: { retryable: false, hint: 'No recommendation could be made for this post.' },
  topic_error: { retryable: false, hint: 'Topic performance could not be computed.' },
});

export type XErrorCode = keyof typeof XError.codes;

/**
 * The documented codes of each family of tools, in the order of the reference. Every tool may besides answer
 * `invalid_input`, `db_error`, `policy_error`, `policy_denied_user_rule` and `serialization_error`: they come from the
 * kernel. They are declared only where the reference names them.
 */
export const X_ERRORS = [
  'x_not_configured',
  'x_rate_limited',
  'x_auth_expired',
  'x_forbidden',
  'x_account_restricted',
  'x_network_error',
  'x_api_error',
  'not_found',
] as const satisfies readonly (ErrorCode | XErrorCode)[];

export const POLICY_ERRORS = [
  'policy_denied_blocked',
  'policy_denied_rate_limited',
  'policy_denied_hard_rule',
  'policy_denied_user_rule',
  'policy_error',
] as const satisfies readonly (ErrorCode | XErrorCode)[];

export const ENGAGE_ERRORS = [
  ...X_ERRORS,
  'scraper_mutation_blocked',
  ...POLICY_ERRORS,
] as const satisfies readonly (ErrorCode | XErrorCode)[];

export const POST_ERRORS = [
  ...X_ERRORS,
  'tweet_too_long',
  'validation_error',
  'scraper_mutation_blocked',
  ...POLICY_ERRORS,
] as const satisfies readonly (ErrorCode | XErrorCode)[];

/** Approving executes what was queued, so its failure is the failure of the approval. */
export const APPROVE_ERRORS = [...ENGAGE_ERRORS, 'db_error', 'validation_error'] as const satisfies readonly (
  | ErrorCode
  | XErrorCode
)[];

/**
 * Turns anything a store throws into the documented `db_error`, in one place: tools and their tests then deal
 * with faults only. The driver's words go to `cause`, because they can quote stored text.
 */
export function withDbErrors<T extends object>(port: T): T {
  return new Proxy(port, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        const result: unknown = Reflect.apply(value, target, args);
        return result instanceof Promise ? result.catch(asDbError) : result;
      };
    },
  });
}

function asDbError(error: unknown): never {
  if (error instanceof ToolError) throw error;
  throw new ToolError('db_error', 'The database could not be read or written.', { cause: error });
}

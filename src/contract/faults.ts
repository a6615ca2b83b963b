import type { JsonObject } from './json.ts';

export interface FaultSpec {
  /** May the caller send the same call again without changing anything? */
  readonly retryable: boolean;
  /** What to do next, in one sentence. */
  readonly hint: string;
}

/**
 * Every fault a caller can meet. The first block is the documented v1.0 set of toolkit x; the kernel speaks it
 * too, and each dialect translates to its own words.
 */
export const FAULTS = {
  x_rate_limited: { retryable: true, hint: 'Wait until rate_limit_reset, then send the call again.' },
  x_auth_expired: { retryable: false, hint: 'Run `countersign auth x` to sign in again.' },
  x_forbidden: {
    retryable: false,
    hint: 'The account, its scopes or its API plan do not allow this; see `countersign x status`.',
  },
  x_account_restricted: {
    retryable: false,
    hint: 'X has restricted the account; a person must look at it on x.com.',
  },
  x_network_error: { retryable: true, hint: 'The network failed before X answered; try again.' },
  x_not_configured: {
    retryable: false,
    hint: 'Run `countersign auth x`, or unset provider_backend to use the sandbox.',
  },
  x_api_error: { retryable: true, hint: 'X answered with an error; the message says which.' },
  scraper_mutation_blocked: {
    retryable: false,
    hint: 'Set x_api.scraper_allow_mutations = true to allow it on purpose.',
  },
  db_error: { retryable: true, hint: 'The store could not be read or written; run `countersign doctor`.' },
  validation_error: { retryable: false, hint: 'Change the arguments as the message says.' },
  invalid_input: {
    retryable: false,
    hint: 'Change the arguments as the message says; describe the tool to see its schema.',
  },
  tweet_too_long: {
    retryable: false,
    hint: 'Shorten the text to 280 weighted characters, or post a thread.',
  },
  llm_error: { retryable: true, hint: 'The language model failed; try again.' },
  llm_not_configured: {
    retryable: false,
    hint: 'A person sets provider, model and api_key under [llm] in the configuration; `countersign doctor` shows which file that is.',
  },
  unsupported_media_type: { retryable: false, hint: 'Use jpg, png, webp, gif or mp4.' },
  file_read_error: {
    retryable: false,
    hint: 'Check that the file exists in an allowed folder and can be read.',
  },
  media_upload_error: { retryable: false, hint: 'X did not take the file; the message says why.' },
  thread_partial_failure: {
    retryable: true,
    hint: 'Send the identical call again: it resumes after the last posted part.',
  },
  policy_error: {
    retryable: true,
    hint: 'The policy could not be evaluated, so the call was refused; run `countersign doctor`.',
  },
  policy_denied_blocked: {
    retryable: false,
    hint: 'A person must take the tool off mcp_policy.blocked_tools.',
  },
  policy_denied_rate_limited: { retryable: false, hint: 'Wait until rate_limit_reset.' },
  policy_denied_hard_rule: { retryable: false, hint: 'A hard safety rule stopped this; a person must act.' },
  policy_denied_user_rule: {
    retryable: false,
    hint: 'A configured rule stopped this; see `countersign policy explain`.',
  },
  context_error: { retryable: false, hint: 'The author context could not be gathered.' },
  recommendation_error: { retryable: false, hint: 'No recommendation could be made for this post.' },
  topic_error: { retryable: false, hint: 'Topic performance could not be computed.' },
  not_found: { retryable: false, hint: 'List the items first and use a listed id.' },
  serialization_error: { retryable: false, hint: 'Report the call id to the operator.' },

  internal: { retryable: false, hint: 'Report the call id to the operator; details are in the server log.' },
  timeout: { retryable: true, hint: 'The call took longer than its deadline; ask for less or try again.' },
  cancelled: { retryable: true, hint: 'The caller cancelled the call.' },
  busy: { retryable: true, hint: 'An equal call is still running; wait for it.' },
  paused: { retryable: false, hint: 'A person paused all changes; `countersign resume` lifts it.' },
  idempotency_conflict: {
    retryable: false,
    hint: 'This idempotency key was used with other arguments; use a new key.',
  },
  indeterminate: {
    retryable: false,
    hint: 'Do not repeat the call. It may have happened; a person or reconcile settles it.',
  },
  approval_required: { retryable: false, hint: 'A person must approve first; see approval_request.' },
  approval_invalid: {
    retryable: false,
    hint: 'The approval does not fit this call; request a new one for the exact arguments.',
  },
  approval_state: { retryable: false, hint: 'The item was already decided; list what is pending.' },
  conflict: { retryable: false, hint: 'The target changed meanwhile; read it again and redo the change.' },
  not_allowed: { retryable: false, hint: 'The configuration does not allow this target.' },
  unavailable: { retryable: true, hint: 'The remote service failed; try again later.' },

  no_project: {
    retryable: false,
    hint: 'A person opens one with `countersign research open PATH`, or makes one with `countersign research create PATH`.',
  },
  code_not_found: { retryable: false, hint: 'Use an id from list_codes.' },
  source_not_found: { retryable: false, hint: 'Use an id from list_sources.' },
  invalid_position: {
    retryable: false,
    hint: 'Positions are code points; read_source_content gives total_length.',
  },

  assistant_not_configured: {
    retryable: false,
    hint: 'Set [assistant] model and credentials, or backend = "command".',
  },
  assistant_auth: {
    retryable: false,
    hint: 'The model provider refused the credentials; check the API key.',
  },
  assistant_rate_limited: { retryable: true, hint: 'The model provider asks to slow down; try again later.' },
  assistant_context_overflow: {
    retryable: false,
    hint: 'The message is too large for the model; send less.',
  },
  assistant_refused: { retryable: false, hint: 'The model refused to answer; rephrase the request.' },
  assistant_limit: {
    retryable: false,
    hint: 'The run reached its step, token or cost limit; raise it in [assistant].',
  },
  assistant_error: { retryable: true, hint: 'The assistant failed; try again.' },
} as const satisfies Record<string, FaultSpec>;

export type FaultCode = keyof typeof FAULTS;

export interface FaultOptions {
  /** Ids and field names for the caller, as separate values. Never text from a remote service. */
  readonly detail?: JsonObject;
  /** When a limit lifts. */
  readonly resetAt?: Date;
  /** Overrides the catalogue where this one occurrence differs (an X 4xx that will fail again). */
  readonly retryable?: boolean;
  /** What really happened, for the server log only. */
  readonly cause?: unknown;
  /** Did the effect certainly not happen? A failed change that cannot say so becomes `indeterminate`. */
  readonly effect?: 'none' | 'partial' | 'unknown';
}

/** The one error class handlers throw. Everything else that is thrown is `internal`. */
export class ToolFault extends Error {
  readonly code: FaultCode;
  readonly detail: JsonObject | undefined;
  readonly resetAt: Date | undefined;
  readonly retryable: boolean;
  readonly effect: 'none' | 'partial' | 'unknown';

  constructor(code: FaultCode, message: string, options: FaultOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ToolFault';
    this.code = code;
    this.detail = options.detail;
    this.resetAt = options.resetAt;
    this.retryable = options.retryable ?? FAULTS[code].retryable;
    this.effect = options.effect ?? 'none';
  }

  get hint(): string {
    return FAULTS[this.code].hint;
  }
}

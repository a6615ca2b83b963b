import type { JsonObject } from './json.ts';

export interface ErrorSpec {
  /** May the caller send the same call again without changing anything? */
  readonly retryable: boolean;
  /** What to do next, in one sentence. */
  readonly hint: string;
  /** What a person at a page can do, where that differs; null: the message says it all. */
  readonly hintForPeople?: string | null;
}

/** The codes any tool can answer with. A toolkit adds its own with `defineErrors`. */
const ERROR_CODES = {
  db_error: { retryable: true, hint: 'The database could not be read or written. Run `countersign doctor`.' },
  validation_error: { retryable: false, hint: 'Change the arguments as the message says.' },
  invalid_input: {
    retryable: false,
    hint: 'Change the arguments as the message says; describe the tool to see its schema.',
  },
  llm_error: { retryable: true, hint: 'The language model failed. Retry.' },
  llm_not_configured: {
    retryable: false,
    hint: 'A person must set provider, model and api_key under [llm]. Run `countersign doctor` to find the configuration file.',
  },
  file_read_error: {
    retryable: false,
    hint: 'Check that the file is in an allowed directory and readable.',
  },
  policy_error: {
    retryable: true,
    hint: 'The policy could not be evaluated, so the call was refused. Run `countersign doctor`.',
  },
  policy_denied_blocked: {
    retryable: false,
    hint: 'A person must remove the tool from mcp_policy.blocked_tools.',
  },
  policy_denied_rate_limited: { retryable: false, hint: 'Wait until rate_limit_reset.' },
  policy_denied_hard_rule: { retryable: false, hint: 'A built-in rule denied this call. A person must act.' },
  policy_denied_user_rule: {
    retryable: false,
    hint: 'A policy rule denied this call. See `countersign policy explain`.',
  },
  not_found: { retryable: false, hint: 'List the items first, then use a listed ID.' },
  serialization_error: { retryable: false, hint: 'Report the call ID to the operator.' },
  internal: { retryable: false, hint: 'Report the call ID to the operator. Details are in the server log.' },
  timeout: { retryable: true, hint: 'The call exceeded its deadline. Request less, or retry.' },
  cancelled: { retryable: true, hint: 'The client cancelled the call.' },
  busy: { retryable: true, hint: 'An identical call is still running. Wait for it to finish.' },
  paused: { retryable: false, hint: 'A person paused all changes. A person lifts the pause in the inbox.' },
  agent_paused: {
    retryable: false,
    hint: 'A person paused this agent. A person lifts the pause on its page in the web app.',
  },
  quota_exceeded: {
    retryable: false,
    hint: 'Use fewer at a time, or ask a person to raise the setting that the message names.',
  },
  idempotency_conflict: {
    retryable: false,
    hint: 'This idempotency key was used with different arguments. Use a new key.',
  },
  indeterminate: {
    retryable: false,
    hint: 'Do not retry: the change may have happened. Reconciliation or a person will settle it.',
  },
  approval_required: {
    retryable: false,
    hint: 'A person must approve this call first. See approval_request.',
  },
  approval_invalid: {
    retryable: false,
    hint: 'The approval does not match this call. Request a new one for these exact arguments.',
  },
  signature_required: {
    retryable: false,
    hint: 'A person must sign this decision with a passkey, in the inbox of the web app.',
  },
  signature_invalid: {
    retryable: false,
    hint: 'The signature was refused. Start again, and sign with an enrolled passkey.',
  },
  approval_state: { retryable: false, hint: 'This approval was already decided. List pending approvals.' },
  conflict: { retryable: false, hint: 'The target has changed. Read it again, then redo the change.' },
  not_allowed: { retryable: false, hint: 'The configuration does not allow this target.' },
  unavailable: { retryable: true, hint: 'The remote service failed. Retry later.' },
  definition_changed: {
    retryable: false,
    hint: 'The server changed this tool after a person trusted it. A person compares both in the inbox and decides.',
  },
  server_unavailable: {
    retryable: true,
    hint: 'The server cannot be started or reached. `countersign servers logs` shows its output.',
  },
  server_error: { retryable: false, hint: 'The server reported an error; the result contains its message.' },
} as const satisfies Record<string, ErrorSpec>;

export type ErrorCode = keyof typeof ERROR_CODES;

const specs = new Map<string, ErrorSpec>(Object.entries(ERROR_CODES));

/** Looks up a code of the core or of any toolkit whose errors were defined. */
export const findErrorSpec = (code: string): ErrorSpec | undefined => specs.get(code);

/** Every code, in the order of definition. */
export const errorCodes = (): string[] => [...specs.keys()];

export interface ToolErrorOptions {
  /** Ids and field names for the caller, as separate values. Never text from a remote service. */
  readonly detail?: JsonObject;
  /** When a limit lifts. */
  readonly resetAt?: Date;
  /** Overrides the catalogue where this one occurrence differs (an X 4xx that will fail again). */
  readonly retryable?: boolean;
  /** Says what to do next where the code's general hint would point elsewhere. */
  readonly hint?: string;
  /** What really happened, for the server log only. */
  readonly cause?: unknown;
  /** Did the effect certainly not happen? A failed change that cannot say so becomes `indeterminate`. */
  readonly effect?: 'none' | 'partial' | 'unknown';
  /** The remote server's own error result, for a dialect that passes results on. */
  readonly result?: JsonObject;
}

/** The one error class handlers throw. Everything else that is thrown is `internal`. */
export class ToolError extends Error {
  readonly code: string;
  readonly detail: JsonObject | undefined;
  readonly resetAt: Date | undefined;
  readonly retryable: boolean;
  readonly effect: 'none' | 'partial' | 'unknown';
  readonly result: JsonObject | undefined;
  readonly #hint: string | undefined;

  constructor(code: ErrorCode, message: string, options: ToolErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ToolError';
    this.code = code;
    this.detail = options.detail;
    this.resetAt = options.resetAt;
    this.retryable = options.retryable ?? findErrorSpec(code)?.retryable ?? false;
    this.effect = options.effect ?? 'none';
    this.result = options.result;
    this.#hint = options.hint;
  }

  /** The same code with another message; nothing else is carried over. */
  reworded(message: string, options: ToolErrorOptions = {}): ToolError {
    return new ToolError(this.code as ErrorCode, message, options);
  }

  /** The hint of this very error, where it has one. */
  get ownHint(): string | undefined {
    return this.#hint;
  }

  get hint(): string {
    return this.#hint ?? findErrorSpec(this.code)?.hint ?? '';
  }
}

/** The error class of a toolkit: it takes the toolkit's own codes and those of the core. */
export interface ToolErrorClass<Code extends string> {
  new (code: Code | ErrorCode, message: string, options?: ToolErrorOptions): ToolError;
  readonly codes: Readonly<Record<Code, ErrorSpec>>;
}

/** Adds a toolkit's codes to those that can be looked up. A code that is taken is a programming error. */
export function defineErrors<Code extends string>(
  codes: Readonly<Record<Code, ErrorSpec>>,
): ToolErrorClass<Code> {
  for (const [code, spec] of Object.entries<ErrorSpec>(codes)) {
    if (specs.has(code)) throw new Error(`The error code ${code} is defined twice.`);
    specs.set(code, spec);
  }
  return class extends ToolError {
    static readonly codes = codes;
    constructor(code: Code | ErrorCode, message: string, options?: ToolErrorOptions) {
      super(code as ErrorCode, message, options);
    }
  };
}

import type { Octokit } from 'octokit';
import { ToolError } from '../../../../contract/errors.ts';
import { type GithubClient, type Need, RedirectError, RequestTimeoutError } from './client.ts';

/** One repository on GitHub: opens a client that may do what is needed and turns failures into faults. */
export class GithubRepo {
  readonly owner: string;
  readonly name: string;
  readonly #client: GithubClient;

  constructor(fullName: string, client: GithubClient) {
    const [owner = '', name = ''] = fullName.split('/');
    this.owner = owner;
    this.name = name;
    this.#client = client;
  }

  /** The parameters every request about this repository carries. */
  at(signal: AbortSignal) {
    return { owner: this.owner, repo: this.name, request: { signal } };
  }

  async read<T>(need: Need, what: string, send: (octokit: Octokit) => Promise<T>): Promise<T> {
    try {
      return await send(await this.#client.octokit(this, need));
    } catch (error) {
      throw await this.#fault(error, what, 'read');
    }
  }

  /** Like `read`, but an absent thing is an answer. */
  async find<T>(need: Need, what: string, send: (octokit: Octokit) => Promise<T>): Promise<T | undefined> {
    try {
      return await send(await this.#client.octokit(this, need));
    } catch (error) {
      if (statusOf(error) === 404) return undefined;
      throw await this.#fault(error, what, 'read');
    }
  }

  async write<T>(need: Need, what: string, send: (octokit: Octokit) => Promise<T>): Promise<T> {
    const octokit = await this.read(need, 'sign in', async (client) => client);
    try {
      return await send(octokit);
    } catch (error) {
      throw await this.#fault(error, what, 'write');
    }
  }

  async #fault(error: unknown, what: string, kind: 'read' | 'write'): Promise<unknown> {
    if (!(error instanceof RedirectError)) return githubError(error, what, kind);
    return movedError(error, `${this.owner}/${this.name}`, await this.#client.nameAt(this, error.location));
  }
}

interface HttpError {
  readonly status: number;
  readonly message: string;
  readonly response?: {
    readonly headers: Record<string, string | number | undefined>;
    readonly data?: unknown;
  };
}

const REASON: Record<number, string> = {
  401: 'github_auth_failed',
  403: 'github_permission_denied',
  404: 'github_not_found',
  409: 'github_conflict',
  422: 'github_validation_failed',
};

const HINT: Record<number, string> = {
  401: 'A person must renew GITHUB_TOKEN or dev.github.token; `countersign doctor` checks it.',
  403: 'The token lacks this permission, or the organization restricts it; `countersign doctor` lists its scopes.',
  404: 'Check the number or name. GitHub also answers 404 where the token may not see the repository.',
  409: 'Read what GitHub says; an empty repository needs its first commit from a person.',
  422: 'Change the arguments as GitHub says in the message.',
};

/**
 * Says what a failed request means for the caller. A write that got no clear answer may have happened: only a refusal
 * (4xx) proves that it did not.
 */
function githubError(error: unknown, what: string, kind: 'read' | 'write'): unknown {
  if (error instanceof ToolError) return error;
  const lost = kind === 'write' ? ' The outcome is unknown.' : '';
  const effect = kind === 'write' ? 'unknown' : 'none';
  if (error instanceof RequestTimeoutError) {
    const message = `GitHub did not answer within ${error.seconds} s when asked to ${what}.${lost}`;
    return new ToolError('timeout', message, {
      cause: error,
      effect,
      hint: 'GitHub is slow or unreachable; try again later. A person can raise dev.github.timeout_seconds.',
      detail: { reason: 'github_timeout', seconds: error.seconds },
    });
  }
  const { status, response } = error as HttpError;
  if (typeof status !== 'number') return error;
  if (response === undefined) {
    const left = !neverLeft(error);
    return new ToolError('unavailable', `GitHub could not be reached to ${what}.${left ? lost : ''}`, {
      cause: error,
      effect: left ? effect : 'none',
      detail: { reason: 'github_unreachable' },
    });
  }
  const wait = waitUntil(response.headers);
  if (status === 429 || (status === 403 && wait)) {
    return new ToolError('unavailable', `GitHub's rate limit stopped the call to ${what}.`, {
      cause: error,
      resetAt: wait,
      hint: wait ? `Try again after ${wait.toISOString()}.` : 'Try again in some minutes.',
      detail: { reason: 'github_rate_limited', primary: isPrimary(response.headers) },
    });
  }
  if (status >= 500) {
    return new ToolError('unavailable', `GitHub returned HTTP ${status} on the request to ${what}.`, {
      cause: error,
      effect,
      detail: { reason: 'github_error', status },
    });
  }
  const code =
    status === 404
      ? 'not_found'
      : status === 401 || status === 403
        ? 'not_allowed'
        : status === 409
          ? 'conflict'
          : 'invalid_input';
  return new ToolError(code, `GitHub refused to ${what} (${status}): ${JSON.stringify(saidBy(error))}`, {
    cause: error,
    hint: HINT[status],
    detail: { reason: REASON[status] ?? 'github_refused', status },
  });
}

/** Another repository was not asked for: it may lie outside the allowlist, and an approval is for the one that was named. */
function movedError(error: RedirectError, repo: string, now: string | undefined): ToolError {
  const where = now === undefined ? 'another address' : now;
  return new ToolError(
    'not_found',
    `GitHub answered ${error.answered}: ${repo} has moved to ${where}. Nothing was sent there.`,
    {
      cause: error,
      hint: `A person must put the new name${now === undefined ? '' : ` ${now}`} in the configuration (dev.repos or REPO_ALLOWLIST).`,
      detail: {
        reason: 'github_moved',
        status: error.answered,
        repo,
        ...(now === undefined ? {} : { moved_to: now }),
      },
    },
  );
}

export const missingRepo = (name: string): ToolError =>
  new ToolError('not_found', `GitHub was asked for ${name} and has no such repository for this token.`, {
    hint: 'Check the name and that the token may see it. A clone on this machine is used with dev.forge = "local".',
    detail: { reason: 'github_not_found', repo: name, forge: 'github' },
  });

/** GitHub's own words with the details of a validation error, without the address of its documentation. */
function saidBy(error: unknown): string {
  const { message } = error as HttpError;
  return message.replace(/ - https:\/\/docs\.github\.com\S*$/, '').slice(0, 500);
}

/** Errors of a connection that never came about: nothing was sent. */
const NEVER_LEFT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

function neverLeft(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('code' in at && typeof at.code === 'string' && NEVER_LEFT.has(at.code)) return true;
  }
  return false;
}

const statusOf = (error: unknown): number | undefined => {
  const { status, response } = error as Partial<HttpError>;
  return response === undefined ? undefined : status;
};

const isPrimary = (headers: Record<string, string | number | undefined>): boolean =>
  Number(headers['x-ratelimit-remaining']) === 0 && headers['x-ratelimit-remaining'] !== undefined;

function waitUntil(headers: Record<string, string | number | undefined>): Date | undefined {
  const after = Number(headers['retry-after']);
  if (after > 0) return new Date(Date.now() + after * 1000);
  const reset = Number(headers['x-ratelimit-reset']);
  return isPrimary(headers) && reset > 0 ? new Date(reset * 1000) : undefined;
}

const SECOND_LOOK_MS = 15_000;

/**
 * A write whose answer was lost is looked up by its marker before anything is said about it. Found: it happened.
 * Not found: it may still be on its way, so the fault stays `unknown`.
 */
export async function writeOnce<T>(
  send: () => Promise<T>,
  look: (signal: AbortSignal) => Promise<T | undefined>,
): Promise<T> {
  try {
    return await send();
  } catch (error) {
    if (!(error instanceof ToolError) || error.effect !== 'unknown') throw error;
    // The caller's own signal may be what cut the answer off.
    const found = await look(AbortSignal.timeout(SECOND_LOOK_MS)).catch(() => undefined);
    if (found !== undefined) return found;
    throw error;
  }
}

import { ToolFault } from '../../../../contract/faults.ts';

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
  422: 'github_validation_failed',
};

/**
 * Says what a failed request means for the caller. A write that got no clear answer may have happened: only a refusal
 * (4xx) proves that it did not.
 */
export function githubFault(error: unknown, what: string, kind: 'read' | 'write'): unknown {
  if (error instanceof ToolFault) return error;
  const { status, response, message } = error as HttpError;
  if (typeof status !== 'number') return error;
  if (response === undefined) {
    const lost = kind === 'write' ? ' Whether it happened is not known.' : '';
    return new ToolFault('unavailable', `GitHub could not be reached to ${what}.${lost}`, {
      cause: error,
      effect: kind === 'write' ? 'unknown' : 'none',
      detail: { reason: 'github_unreachable' },
    });
  }
  const wait = waitUntil(response.headers);
  if (status === 429 || (status === 403 && wait)) {
    return new ToolFault('unavailable', `GitHub's rate limit stopped the call to ${what}.`, {
      cause: error,
      resetAt: wait,
      detail: { reason: 'github_rate_limited' },
    });
  }
  if (status >= 500) {
    return new ToolFault('unavailable', `GitHub answered ${status} when asked to ${what}.`, {
      cause: error,
      effect: kind === 'write' ? 'unknown' : 'none',
      detail: { reason: 'github_error', status },
    });
  }
  const code =
    status === 404 ? 'not_found' : status === 401 || status === 403 ? 'not_allowed' : 'invalid_input';
  return new ToolFault(
    code,
    `GitHub refused to ${what} (${status}): ${JSON.stringify(message.slice(0, 300))}`,
    {
      cause: error,
      detail: { reason: REASON[status] ?? 'github_refused', status },
    },
  );
}

export const statusOf = (error: unknown): number | undefined => {
  const { status, response } = error as Partial<HttpError>;
  return response === undefined ? undefined : status;
};

function waitUntil(headers: Record<string, string | number | undefined>): Date | undefined {
  const after = Number(headers['retry-after']);
  if (after > 0) return new Date(Date.now() + after * 1000);
  const reset = Number(headers['x-ratelimit-reset']);
  return Number(headers['x-ratelimit-remaining']) === 0 && reset > 0 ? new Date(reset * 1000) : undefined;
}

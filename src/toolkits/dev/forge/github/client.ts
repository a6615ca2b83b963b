import type { Octokit } from 'octokit';
import type { Log } from '../../../../contract/ports.ts';
import { timeLimit } from '../../../../lib/time-limit.ts';
import type { GithubAccess } from './access.ts';

/** What a request is for; an App asks for a token that can do that on that repository and nothing else. */
export type Need =
  | 'issues:read'
  | 'issues:write'
  | 'pulls:read'
  | 'pulls:write'
  | 'code:read'
  | 'code:write'
  | 'checks:read';

const PERMISSIONS: Record<Need, Record<string, 'read' | 'write'>> = {
  'issues:read': { issues: 'read' },
  'issues:write': { issues: 'write' },
  'pulls:read': { pull_requests: 'read' },
  'pulls:write': { pull_requests: 'write' },
  'code:read': { contents: 'read' },
  'code:write': { contents: 'write', pull_requests: 'write' },
  'checks:read': { checks: 'read', statuses: 'read', actions: 'read' },
};

const LONGEST_WAIT_SECONDS = 60;
/** A token is given up this long before GitHub ends it. */
const TOKEN_MARGIN_MS = 60_000;

export interface ClientOptions {
  /** GitHub asks for seconds between writes; only tests against a double switch this off. */
  readonly pace: boolean;
  readonly retryBaseMs: number;
  /** How long GitHub may take to carry out a request whose answer was lost; it ends them itself after 10 s. */
  readonly commitWindowMs?: number;
  /** Longest one request may take. */
  readonly timeoutMs?: number;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_COMMIT_WINDOW_MS = 20_000;

type OctokitClass = typeof Octokit;

/** Opens authenticated clients for one account on one GitHub. octokit is loaded by the first request. */
export class GithubClient {
  readonly #settle: () => Promise<GithubAccess>;
  readonly #log: Log;
  readonly #options: ClientOptions;
  readonly #tokens = new Map<string, { readonly client: Promise<Octokit>; readonly until: number }>();
  #known: Promise<GithubAccess> | undefined;
  #class: Promise<OctokitClass> | undefined;
  #byToken: Promise<Octokit> | undefined;
  #byApp: Promise<Octokit> | undefined;

  constructor(access: () => Promise<GithubAccess>, log: Log, options: ClientOptions) {
    this.#settle = access;
    this.#log = log;
    this.#options = options;
  }

  get commitWindowMs(): number {
    return this.#options.commitWindowMs ?? DEFAULT_COMMIT_WINDOW_MS;
  }

  async octokit(repo: { owner: string; name: string }, need: Need): Promise<Octokit> {
    const access = await this.#access();
    if (access.kind === 'token') {
      this.#byToken ??= this.#open(access.token);
      return this.#byToken;
    }
    const key = `${repo.owner}/${repo.name} ${need}`;
    const known = this.#tokens.get(key);
    if (known && known.until > Date.now()) return known.client;
    const made = await this.#installationToken(repo, need);
    const client = this.#open(made.token);
    this.#tokens.set(key, { client, until: Date.parse(made.expires_at) - TOKEN_MARGIN_MS });
    return client;
  }

  /** The name a repository has now, for the address GitHub redirects to. */
  async nameAt(repo: { owner: string; name: string }, location: string): Promise<string | undefined> {
    const id = /\/repositories\/(\d+)(?:[/?]|$)/.exec(location)?.[1];
    const named = /\/repos\/([^/?#]+\/[^/?#]+)/.exec(location)?.[1];
    if (id === undefined) return named && decodeURIComponent(named);
    try {
      const octokit = await this.octokit(repo, 'code:read');
      const { data } = await octokit.request('GET /repositories/{id}', { id });
      return (data as { full_name?: string }).full_name;
    } catch {
      // The name is a help; without it the refusal stays the same.
      return undefined;
    }
  }

  async #installationToken(repo: { owner: string; name: string }, need: Need) {
    const { app, configured } = await this.#app();
    const installationId =
      configured ?? (await app.rest.apps.getRepoInstallation({ owner: repo.owner, repo: repo.name })).data.id;
    const { data } = await app.rest.apps.createInstallationAccessToken({
      installation_id: installationId,
      repositories: [repo.name],
      permissions: PERMISSIONS[need],
    });
    return data;
  }

  async #app(): Promise<{ app: Octokit; configured: number | undefined }> {
    const access = await this.#access();
    if (access.kind !== 'app') throw new Error('Only a GitHub App has its own client.');
    this.#byApp ??= (async () => {
      const { App } = await import('octokit');
      return new App({
        appId: access.appId,
        privateKey: access.privateKey,
        Octokit: await this.#configured(),
      }).octokit;
    })();
    return { app: await this.#byApp, configured: access.installationId };
  }

  #access(): Promise<GithubAccess> {
    this.#known ??= this.#settle();
    return this.#known;
  }

  async #open(token: string): Promise<Octokit> {
    const Configured = await this.#configured();
    const octokit = new Configured({ auth: token });
    octokit.hook.before('request', (options) => {
      // A write that failed without a clear answer may have happened; sending it again could make it twice.
      if (options.method !== 'GET') options.request = { ...options.request, retries: 0 };
    });
    return octokit;
  }

  #configured(): Promise<OctokitClass> {
    this.#class ??= (async () => {
      const [{ Octokit }, { baseUrl }] = await Promise.all([import('octokit'), this.#access()]);
      return Octokit.defaults({
        baseUrl,
        userAgent: 'countersign',
        log: {
          debug: () => {},
          info: () => {},
          warn: (message: string) => this.#log.warn(`GitHub: ${message}`),
          error: (message: string) => this.#log.debug(`GitHub: ${message}`),
        },
        request: { fetch: createFetch(this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS) },
        retry: { retries: 2, retryAfterBaseValue: this.#options.retryBaseMs },
        throttle: this.#options.pace
          ? { onRateLimit: waitOnce, onSecondaryRateLimit: waitOnce }
          : { enabled: false },
      });
    })();
    return this.#class;
  }
}

/** A request refused for its rate was not carried out, so sending it again is safe with any method. */
function waitOnce(retryAfter: number, _options: object, _octokit: unknown, retryCount: number): boolean {
  return retryCount < 1 && retryAfter <= LONGEST_WAIT_SECONDS;
}

/** Octokit hands errors of this name on as they are, and its retries leave them alone. */
const ABORT = 'AbortError';

/** GitHub did not answer in time. Whether it acted is unknown. */
export class RequestTimeoutError extends Error {
  readonly seconds: number;

  constructor(ms: number) {
    super(`GitHub did not answer within ${ms / 1000} s.`);
    this.name = ABORT;
    this.seconds = ms / 1000;
  }
}

/** GitHub pointed elsewhere. Nothing was sent there: a write that follows would become a read, or reach another repository. */
export class RedirectError extends Error {
  /** Not `status`: octokit writes 500 there. */
  readonly answered: number;
  readonly location: string;

  constructor(answered: number, location: string) {
    super(`GitHub answered ${answered}.`);
    this.name = ABORT;
    this.answered = answered;
    this.location = location;
  }
}

/**
 * The fetch octokit is given. The clock starts when the request leaves, not while it waits its turn, and runs until the
 * whole answer is here. Redirects are followed only where the caller asks for the redirect itself.
 */
export const createFetch =
  (timeoutMs: number) =>
  async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    const limit = timeLimit(timeoutMs, init.signal);
    try {
      const response = await fetch(url, { ...init, redirect: 'manual', signal: limit.signal });
      const location = response.headers.get('location');
      const isRedirect = response.status >= 300 && response.status < 400 && location !== null;
      if (isRedirect && init.redirect !== 'manual') {
        await response.body?.cancel();
        throw new RedirectError(response.status, location);
      }
      const isEmpty = [101, 204, 205, 304].includes(response.status);
      const body = isEmpty ? null : await response.arrayBuffer();
      const { status, statusText, headers } = response;
      const complete = new Response(body, { status, statusText, headers });
      Object.defineProperty(complete, 'url', { value: response.url });
      return complete;
    } catch (error) {
      if (limit.expired) throw new RequestTimeoutError(timeoutMs);
      throw error;
    } finally {
      limit.clear();
    }
  };

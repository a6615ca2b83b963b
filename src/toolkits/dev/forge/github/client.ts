import type { Octokit } from 'octokit';
import type { Log } from '../../../../contract/ports.ts';
import type { GithubAccess } from './access.ts';

/** What a request is for; an App asks for a token that can do that on that repository and nothing else. */
export type Need = 'issues:read' | 'issues:write' | 'pulls:read' | 'pulls:write' | 'code:read' | 'code:write';

const PERMISSIONS: Record<Need, Record<string, 'read' | 'write'>> = {
  'issues:read': { issues: 'read' },
  'issues:write': { issues: 'write' },
  'pulls:read': { pull_requests: 'read' },
  'pulls:write': { pull_requests: 'write' },
  'code:read': { contents: 'read' },
  'code:write': { contents: 'write', pull_requests: 'write' },
};

const REQUEST_TIMEOUT_MS = 30_000;
const LONGEST_WAIT_SECONDS = 60;
/** A token is given up this long before GitHub ends it. */
const TOKEN_MARGIN_MS = 60_000;

export interface ClientOptions {
  /** GitHub asks for seconds between writes; only tests against a double switch this off. */
  readonly pace: boolean;
  readonly retryBaseMs: number;
}

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

  constructor(
    access: () => Promise<GithubAccess>,
    log: Log,
    options: ClientOptions = { pace: true, retryBaseMs: 1000 },
  ) {
    this.#settle = access;
    this.#log = log;
    this.#options = options;
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
    if (access.kind !== 'app') throw new Error('Only an App has a client of its own.');
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
        request: { fetch: timedFetch },
        retry: { retries: 2, retryAfterBaseValue: this.#options.retryBaseMs },
        throttle: this.#options.pace
          ? { onRateLimit: waitOnce, onSecondaryRateLimit: waitOnce }
          : { enabled: false },
      });
    })();
    return this.#class;
  }
}

/** A request refused for its rate was not carried out, so sending it again is safe, whatever its method. */
function waitOnce(retryAfter: number, _options: object, _octokit: unknown, retryCount: number): boolean {
  return retryCount < 1 && retryAfter <= LONGEST_WAIT_SECONDS;
}

/** The clock starts when the request leaves, not while it waits its turn. */
function timedFetch(url: string | URL, init: RequestInit = {}): Promise<Response> {
  const limit = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
  return fetch(url, { ...init, signal: init.signal ? AbortSignal.any([init.signal, limit]) : limit });
}

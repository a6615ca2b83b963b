import type { Scraper } from '@the-convocation/twitter-scraper';
import { ToolError } from '../../../contract/errors.ts';
import type { JsonObject, JsonValue } from '../../../contract/json.ts';
import { buildRequest, ParamError } from '../endpoints/build.ts';
import type { EndpointId } from '../endpoints/ids.ts';
import { ENDPOINTS } from '../endpoints/table.ts';
import { withDbErrors, XError } from '../errors.ts';
import {
  type AccessInfo,
  type ConnectOptions,
  type OwnUser,
  type ProviderInfo,
  type RateLimitRow,
  type RawReply,
  type RawRequest,
  type RequestOptions,
  scraperInfo,
  type UploadedMedia,
  type UsageRow,
  type XApi,
  type XReply,
} from './api.ts';
import { networkError, toToolError } from './errors.ts';
import { sleep, withRetries } from './exchange.ts';
import { guardRaw } from './raw-guard.ts';
import { loadScraper } from './scraper-library.ts';
import { SCRAPER_READS } from './scraper-reads.ts';
import { ExchangeStore, warnLost } from './store.ts';

/** Reads X as a browser does. No credentials of the API, no changes, and X may stop it at any time. */
export class ScraperApi implements XApi {
  readonly provider: ProviderInfo;
  readonly #options: ConnectOptions;
  readonly #store: ExchangeStore;
  #scraper: Promise<Scraper> | undefined;

  constructor(options: ConnectOptions) {
    this.provider = scraperInfo(options.settings.scraper_allow_mutations === true);
    this.#options = options;
    this.#store = withDbErrors(new ExchangeStore(options.db, 'scraper', warnLost(options.log)));
  }

  async request(id: EndpointId, params: JsonObject, options: RequestOptions = {}): Promise<XReply> {
    const endpoint = ENDPOINTS[id];
    if (endpoint.effect !== 'read') throw this.#noChange(`${endpoint.method} ${endpoint.path}`);
    const read = SCRAPER_READS[id];
    if (!read)
      throw new XError(
        'x_forbidden',
        `The scraper cannot read ${endpoint.path}; use provider_backend = "x_api"`,
      );
    check(id, params);
    const scraper = await this.#open();
    const attempt = async (retries: number): Promise<XReply> => {
      try {
        const json = await stoppable(read(scraper, params), options.signal);
        await this.#record(id, true, Array.isArray(json.data) ? json.data.length : 1);
        return { status: 200, json, headers: {}, rateLimit: undefined, retries };
      } catch (error) {
        await this.#record(id, false, 0);
        throw await this.#faultOf(error, id);
      }
    };
    const { sleep: wait = sleep, random = Math.random } = this.#options;
    return withRetries(attempt, isTransient, { sleep: wait, random }, options.signal);
  }

  async raw(request: RawRequest): Promise<RawReply> {
    guardRaw(request);
    if (request.method !== 'GET') throw this.#noChange(`${request.method} ${request.endpoint}`);
    throw new XError('x_forbidden', 'Universal requests need the X API; use provider_backend = "x_api"');
  }

  checkRaw(request: RawRequest): { readonly url: string; readonly family: string } {
    const { url, family } = guardRaw(request);
    return { url, family };
  }

  async uploadMedia(): Promise<UploadedMedia> {
    throw this.#noChange('uploading media');
  }

  async me(): Promise<OwnUser> {
    throw new XError(
      'x_forbidden',
      'The scraper does not know whose account this is; use provider_backend = "x_api"',
    );
  }

  async access(): Promise<AccessInfo> {
    const signedIn = this.#options.settings.scraper_cookies !== undefined;
    return {
      tier: 'Unknown',
      can_reply: false,
      can_post: false,
      can_search: signedIn,
      can_read_mentions: false,
      can_use_ads: false,
      can_use_app_only: false,
      granted_scopes: [],
      missing_scopes: [],
      token_expires_at: undefined,
    };
  }

  async signedIn(): Promise<boolean> {
    return this.#options.settings.scraper_cookies !== undefined;
  }

  async rateLimits(): Promise<readonly RateLimitRow[]> {
    return [];
  }

  usage(since: Date): Promise<readonly UsageRow[]> {
    return this.#store.usage(since);
  }

  close(): Promise<void> {
    return this.#store.flush();
  }

  /** One code whatever `scraper_allow_mutations` says: the library offers no changes that it could allow. */
  #noChange(what: string): ToolError {
    return new XError(
      'scraper_mutation_blocked',
      `The scraper backend cannot make changes: ${what} was not sent. Use provider_backend = "x_api".`,
    );
  }

  #open(): Promise<Scraper> {
    this.#scraper ??= this.#start();
    return this.#scraper;
  }

  async #start(): Promise<Scraper> {
    const { Scraper, ErrorRateLimitStrategy } = await loadScraper();
    const { scraperFetch, settings } = this.#options;
    const scraper = new Scraper({
      rateLimitStrategy: new ErrorRateLimitStrategy(),
      ...(scraperFetch ? { fetch: scraperFetch } : {}),
    });
    const cookies = (settings.scraper_cookies ?? '')
      .split(';')
      .map((cookie) => cookie.trim())
      .filter((cookie) => cookie.includes('='));
    // Even an empty list would make the library believe that someone is signed in.
    if (cookies.length > 0)
      await scraper.setCookies(cookies.map((cookie) => `${cookie}; Domain=.x.com; Path=/; Secure`));
    return scraper;
  }

  #record(id: EndpointId, ok: boolean, items: number): Promise<void> {
    const at = this.#options.now();
    return this.#store.record({
      endpoint: id,
      method: 'GET',
      auth: 'scraper',
      ok,
      items,
      costMicros: 0,
      rateLimit: undefined,
      at,
    });
  }

  async #faultOf(error: unknown, id: EndpointId): Promise<ToolError> {
    if (error instanceof ToolError) return error;
    const { ApiError, AuthenticationError } = await loadScraper();
    if (error instanceof ApiError) {
      const { response } = error;
      return toToolError(
        {
          status: response.status,
          json: isJson(error.data) ? error.data : undefined,
          headers: Object.fromEntries(
            [...response.headers].filter(([name]) => name.startsWith('x-rate-limit')),
          ),
        },
        { endpoint: ENDPOINTS[id], change: false, now: this.#options.now() },
      );
    }
    if (error instanceof AuthenticationError) {
      return new XError(
        'x_auth_expired',
        'X shows this to signed-in browsers only; set x_api.scraper_cookies',
        { cause: error },
      );
    }
    if (isNetworkFailure(error)) return networkError(error, { change: false, sent: true });
    const message = error instanceof Error ? error.message.slice(0, 200) : 'unknown reason';
    if (/not found|does not exist/i.test(message))
      return new ToolError('not_found', `X shows no such item: "${message}"`, { cause: error });
    return new XError('x_api_error', `The scraper could not read X: "${message}"`, {
      cause: error,
      retryable: false,
    });
  }
}

const isTransient = (error: unknown): boolean =>
  error instanceof ToolError &&
  (error.code === 'x_network_error' || (error.code === 'x_api_error' && error.retryable));

/** The library passes failures of fetch on as they are, or wraps them in errors of its own. */
function isNetworkFailure(error: unknown): boolean {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if (
      at instanceof TypeError &&
      (at.cause !== undefined || /fetch failed|network|terminated/i.test(at.message))
    )
      return true;
    if ('code' in at && /^(E[A-Z]+|UND_ERR_\w+)$/.test(String(at.code))) return true;
  }
  return false;
}

/** The same checks as for the API, so that a bad id never reaches X. */
function check(id: EndpointId, params: JsonObject): void {
  try {
    buildRequest(ENDPOINTS[id], params);
  } catch (error) {
    if (error instanceof ParamError)
      throw new ToolError('validation_error', error.message, { detail: { field: error.param } });
    throw error;
  }
}

function stoppable<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (!signal) return work;
  const stopped = new Promise<never>((_, reject) => {
    const stop = () => reject(new ToolError('cancelled', 'The call was stopped before X answered'));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  return Promise.race([work, stopped]);
}

const isJson = (value: unknown): value is JsonValue => typeof value === 'object' && value !== null;

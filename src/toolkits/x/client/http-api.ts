import { ToolError } from '../../../contract/errors.ts';
import type { JsonObject, JsonValue } from '../../../contract/json.ts';
import { isObject } from '../../../lib/is-object.ts';
import { lookup, put } from '../../../lib/lookup.ts';
import { buildRequest, ParamError } from '../endpoints/build.ts';
import { ADS_HOST, type Credential, type Endpoint } from '../endpoints/endpoint.ts';
import { askedIncludes } from '../endpoints/field-values.ts';
import type { EndpointId } from '../endpoints/ids.ts';
import { matchEndpoints } from '../endpoints/match.ts';
import { replySchema } from '../endpoints/replies.ts';
import { ENDPOINTS } from '../endpoints/table.ts';
import { XError } from '../errors.ts';
import type {
  AccessInfo,
  MediaFile,
  OwnUser,
  ProviderInfo,
  RateLimitRow,
  RawReply,
  RawRequest,
  RequestOptions,
  UploadedMedia,
  UsageRow,
  XApi,
  XReply,
} from './api.ts';
import { faultInside, toToolError } from './errors.ts';
import { type ExchangePorts, Exchanger } from './exchange.ts';
import { guardRaw } from './raw-guard.ts';
import { Spelling } from './spelling.ts';
import { type UploadProgress, upload } from './upload.ts';

/**
 * X is renaming tweets to posts field by field; the documented replies have the old names. The old names are always
 * present too.
 */
const OLD_NAMES: Readonly<Record<string, string>> = {
  repost_count: 'retweet_count',
  post_count: 'tweet_count',
  total_post_count: 'total_tweet_count',
  referenced_posts: 'referenced_tweets',
  edit_history_post_ids: 'edit_history_tweet_ids',
  pinned_post_id: 'pinned_tweet_id',
  most_recent_post_id: 'most_recent_tweet_id',
  note_post: 'note_tweet',
};

export function withOldNames(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withOldNames);
  if (typeof value !== 'object' || value === null) return value;
  const result: { [key: string]: JsonValue } = {};
  for (const [key, inner] of Object.entries(value)) put(result, key, withOldNames(inner));
  for (const [now, old] of Object.entries(OLD_NAMES)) {
    const inner = lookup(result, now);
    if (inner !== undefined && !Object.hasOwn(result, old)) put(result, old, inner);
  }
  // `includes.posts` and `includes.tweets` hold the same objects.
  if (Array.isArray(result.posts) && !('tweets' in result)) result.tweets = result.posts;
  return result;
}

export interface HttpApiPorts extends ExchangePorts {
  readonly provider: ProviderInfo;
  access(api: XApi, options: RequestOptions): Promise<AccessInfo>;
  signedIn(): Promise<boolean>;
  close(): Promise<void>;
}

/** X over HTTP: the real one and the sandbox differ only in where the line leads. */
export class HttpXApi implements XApi {
  readonly provider: ProviderInfo;
  readonly #ports: HttpApiPorts;
  readonly #exchanger: Exchanger;
  readonly #spelling = new Spelling();
  #me: { readonly account: string; readonly user: OwnUser } | undefined;

  constructor(ports: HttpApiPorts) {
    this.provider = ports.provider;
    this.#ports = ports;
    this.#exchanger = new Exchanger(ports);
  }

  async request(id: EndpointId, params: JsonObject, options: RequestOptions = {}): Promise<XReply> {
    return this.#call(ENDPOINTS[id], params, options);
  }

  async #call(
    endpoint: Endpoint,
    args: Readonly<Record<string, unknown>>,
    options: RequestOptions,
  ): Promise<XReply> {
    const request = build(endpoint, await this.#withOwnId(endpoint, args, options));
    const change = endpoint.effect !== 'read';
    const answer = await this.#spelling.send(request, change, (spelled) =>
      this.#exchanger.send(spelled, { endpoint, kinds: endpoint.credentials, change }, options),
    );
    const context = { endpoint, change, granted: answer.granted, now: this.#ports.now() };
    if (answer.status >= 300) throw toToolError(answer, context);
    if (answer.json === undefined) {
      throw new XError(
        'x_api_error',
        `X answered ${endpoint.method} ${endpoint.path} with something other than JSON`,
        {
          retryable: false,
          effect: change ? 'unknown' : 'none',
        },
      );
    }
    const inside = faultInside(answer.json, context);
    if (inside) throw inside;
    // A change X confirmed is done, no matter what else its answer holds; what was read must be what it claims to be.
    if (!change) checkReply(endpoint, answer.json);
    return {
      status: answer.status,
      json: withOldNames(change ? answer.json : asAsked(endpoint, args, answer.json)),
      headers: answer.headers,
      rateLimit: answer.rateLimit,
      retries: answer.retries,
    };
  }

  async #withOwnId(
    endpoint: Endpoint,
    args: Readonly<Record<string, unknown>>,
    options: RequestOptions,
  ): Promise<Readonly<Record<string, unknown>>> {
    const own = Object.entries(endpoint.params).find(([, param]) => param.kind === 'self_id');
    if (!own || (lookup(args, own[0]) !== undefined && lookup(args, own[0]) !== 'me')) return args;
    return { ...args, [own[0]]: (await this.me(options)).id };
  }

  async raw(raw: RawRequest, options: RequestOptions = {}): Promise<RawReply> {
    const { request, headers, url } = guardRaw(raw);
    const endpoint = matchEndpoints(request.method, request.host, request.path)?.endpoints[0];
    const change = raw.method !== 'GET';
    const kinds = endpoint?.credentials ?? kindsFor(request.host);
    const answer = await this.#exchanger.send(
      request,
      { ...(endpoint ? { endpoint } : {}), kinds, change, headers },
      options,
    );
    const { status, bodyText, json, rateLimit, retries } = answer;
    return { url, status, headers: answer.headers, json, bodyText, rateLimit, retries };
  }

  checkRaw(raw: RawRequest): { readonly url: string; readonly family: string } {
    const { url, family } = guardRaw(raw);
    return { url, family };
  }

  uploadMedia(
    file: MediaFile,
    options: RequestOptions & { progress?: UploadProgress } = {},
  ): Promise<UploadedMedia> {
    return upload(file, {
      call: (id, args) => this.#call(ENDPOINTS[id], args, options),
      sleep: (ms) => this.#ports.timing.sleep(ms, options.signal),
      now: this.#ports.now,
      ...(options.progress ? { progress: options.progress } : {}),
    });
  }

  async me(options: RequestOptions = {}): Promise<OwnUser> {
    const { source } = await this.#ports.line();
    const account = (await source.user(options.signal))?.authorized_at;
    if (account !== undefined && this.#me?.account === account) return this.#me.user;
    const { json } = await this.request('me', {}, options);
    const user = toOwnUser(json);
    if (account !== undefined) this.#me = { account, user };
    return user;
  }

  access(options: RequestOptions = {}): Promise<AccessInfo> {
    return this.#ports.access(this, options);
  }

  signedIn(): Promise<boolean> {
    return this.#ports.signedIn();
  }

  rateLimits(): Promise<readonly RateLimitRow[]> {
    return this.#ports.store.rateLimits();
  }

  usage(since: Date): Promise<readonly UsageRow[]> {
    return this.#ports.store.usage(since);
  }

  async close(): Promise<void> {
    await this.#ports.store.flush();
    await this.#ports.close();
  }
}

/** Drops what came along with fields that X has only as expansions. */
function asAsked(endpoint: Endpoint, args: Readonly<Record<string, unknown>>, json: JsonValue): JsonValue {
  if (!isObject(json) || !isObject(json.includes)) return json;
  const asked = askedIncludes(endpoint, args);
  const { includes, ...rest } = json as JsonObject;
  const wanted = Object.entries(includes as JsonObject).filter(([kind]) => asked.has(kind));
  return wanted.length === 0 ? rest : { ...rest, includes: Object.fromEntries(wanted) };
}

const replies = new Map<EndpointId, ReturnType<typeof replySchema>>();

function checkReply(endpoint: Endpoint, json: JsonValue): void {
  const schema = replies.get(endpoint.id) ?? replySchema(endpoint);
  replies.set(endpoint.id, schema);
  const parsed = schema.safeParse(json);
  if (parsed.success) return;
  const where = parsed.error.issues[0]?.path.join('.') || 'the body';
  throw new XError(
    'x_api_error',
    `X answered ${endpoint.method} ${endpoint.path} in an unknown shape (${where})`,
    {
      retryable: false,
      cause: parsed.error,
    },
  );
}

const kindsFor = (host: string): readonly Credential[] => (host === ADS_HOST ? ['ads'] : ['user', 'app']);

function build(endpoint: Endpoint, args: Readonly<Record<string, unknown>>) {
  try {
    return buildRequest(endpoint, args);
  } catch (error) {
    if (error instanceof ParamError)
      throw new ToolError('validation_error', error.message, { detail: { field: error.param } });
    throw error;
  }
}

function toOwnUser(json: JsonValue): OwnUser {
  const raw = isObject(json) ? json.data : undefined;
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    throw new XError('x_api_error', 'X did not say who is signed in', { retryable: false });
  }
  return { id: String(raw.id), username: String(raw.username), name: String(raw.name), raw };
}

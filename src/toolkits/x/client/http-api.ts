import { ToolFault } from '../../../contract/faults.ts';
import type { JsonObject, JsonValue } from '../../../contract/json.ts';
import { buildRequest, ParamError } from '../endpoints/build.ts';
import { ADS_HOST, type Credential, type Endpoint } from '../endpoints/endpoint.ts';
import type { EndpointId } from '../endpoints/ids.ts';
import { matchEndpoints } from '../endpoints/match.ts';
import { replySchema } from '../endpoints/replies.ts';
import { ENDPOINTS } from '../endpoints/table.ts';
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
import { type ExchangePorts, Exchanger } from './exchange.ts';
import { faultInside, faultOf } from './faults.ts';
import { withOldNames } from './legacy-names.ts';
import { guardRaw } from './raw-guard.ts';
import { type UploadProgress, upload } from './upload.ts';

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
    const answer = await this.#exchanger.send(
      request,
      { endpoint, kinds: endpoint.credentials, change },
      options,
    );
    const context = { endpoint, change, granted: answer.granted, now: this.#ports.now() };
    if (answer.status >= 300) throw faultOf(answer, context);
    if (answer.json === undefined) {
      throw new ToolFault(
        'x_api_error',
        `X answered ${endpoint.method} ${endpoint.path} with something else than JSON`,
        {
          retryable: false,
          effect: change ? 'unknown' : 'none',
        },
      );
    }
    const inside = faultInside(answer.json, context);
    if (inside) throw inside;
    // A change X confirmed is done, whatever else its answer holds; what was read must be what it claims to be.
    if (!change) checkReply(endpoint, answer.json);
    return {
      status: answer.status,
      json: withOldNames(answer.json),
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
    if (!own || (args[own[0]] !== undefined && args[own[0]] !== 'me')) return args;
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
      sleep: (ms) => this.#ports.patience.sleep(ms, options.signal),
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

const replies = new Map<EndpointId, ReturnType<typeof replySchema>>();

function checkReply(endpoint: Endpoint, json: JsonValue): void {
  const schema = replies.get(endpoint.id) ?? replySchema(endpoint);
  replies.set(endpoint.id, schema);
  const parsed = schema.safeParse(json);
  if (parsed.success) return;
  const where = parsed.error.issues[0]?.path.join('.') || 'the body';
  throw new ToolFault(
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
      throw new ToolFault('validation_error', error.message, { detail: { field: error.param } });
    throw error;
  }
}

function toOwnUser(json: JsonValue): OwnUser {
  const raw = typeof json === 'object' && json !== null && !Array.isArray(json) ? json.data : undefined;
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    throw new ToolFault('x_api_error', 'X did not say who is signed in', { retryable: false });
  }
  return { id: String(raw.id), username: String(raw.username), name: String(raw.name), raw };
}

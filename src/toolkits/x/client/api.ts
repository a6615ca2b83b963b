import type { Kysely } from 'kysely';
import type { JsonObject, JsonValue } from '../../../contract/json.ts';
import type { LeasePort, Log } from '../../../contract/ports.ts';
import type { Sandbox } from '../emulator/start.ts';
import type { EndpointId } from '../endpoints/ids.ts';
import type { XClientTables } from './store.ts';

const BACKENDS = ['x_api', 'scraper', 'sandbox'] as const;
export type Backend = (typeof BACKENDS)[number];

/** `get_capabilities` shows this object as it is; the field names are the documented ones. */
export interface ProviderInfo {
  readonly backend: Backend;
  readonly mutations_available: boolean;
  readonly risk_level: 'standard' | 'elevated' | 'none';
  readonly data_confidence: 'high' | 'medium' | 'simulated';
  readonly unsupported_methods: readonly string[];
  readonly note: string;
}

export type Tier = 'Free' | 'Basic' | 'Pro' | 'Enterprise' | 'Sandbox' | 'Unknown';

/** What the credentials at hand allow. */
export interface AccessInfo {
  readonly tier: Tier;
  readonly can_reply: boolean;
  readonly can_post: boolean;
  readonly can_search: boolean;
  readonly can_read_mentions: boolean;
  readonly can_use_ads: boolean;
  readonly can_use_app_only: boolean;
  readonly granted_scopes: readonly string[];
  /** Scopes that some tool needs and the token lacks. */
  readonly missing_scopes: readonly string[];
  readonly token_expires_at: string | undefined;
}

export interface RateLimit {
  readonly limit: number;
  readonly remaining: number;
  readonly resetAt: Date;
}

export interface XReply {
  readonly status: number;
  /** The parsed body; `null` when X sent none. */
  readonly json: JsonValue;
  /** Lower-case names; only those a caller may see (no cookies). */
  readonly headers: Readonly<Record<string, string>>;
  readonly rateLimit: RateLimit | undefined;
  /** How often the request was repeated before it succeeded; reads only. */
  readonly retries: number;
}

export interface RequestOptions {
  readonly signal?: AbortSignal;
  /** The call this request belongs to: in the log, never sent to X. */
  readonly callId?: string;
}

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** A universal request as the caller wrote it; nothing in it is trusted. */
export interface RawRequest {
  readonly method: HttpMethod;
  /** A path (`/2/users/me`), or a full https URL on an allowed host. */
  readonly endpoint: string;
  /** Used with a path only. */
  readonly host?: string;
  readonly query?: readonly { readonly key: string; readonly value: string }[];
  readonly headers?: readonly { readonly key: string; readonly value: string }[];
  /** JSON text or an object. */
  readonly body?: JsonValue;
}

/** Unlike `XReply` this keeps 4xx and 5xx: the caller of a universal request wants to see them. */
export interface RawReply {
  readonly url: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly json: JsonValue | undefined;
  readonly bodyText: string;
  readonly rateLimit: RateLimit | undefined;
  readonly retries: number;
}

export type MediaCategory = 'tweet_image' | 'tweet_gif' | 'tweet_video' | 'dm_image' | 'dm_gif' | 'dm_video';

export interface MediaFile {
  readonly bytes: Uint8Array;
  /** `image/png`, `video/mp4`, … */
  readonly mediaType: string;
  readonly category: MediaCategory;
  readonly altText?: string;
}

export interface UploadedMedia {
  readonly mediaId: string;
  readonly mediaKey: string | undefined;
  readonly size: number;
  readonly segments: number;
  readonly processing: boolean;
  readonly expiresAt: Date | undefined;
  /** Why X did not take the alt text; the upload itself is complete. */
  readonly altTextError?: string;
}

export interface OwnUser {
  readonly id: string;
  readonly username: string;
  readonly name: string;
  readonly raw: JsonObject;
}

export interface RateLimitRow {
  readonly endpoint: string;
  readonly auth: string;
  readonly limit: number;
  readonly remaining: number;
  readonly resetAt: Date;
  readonly seenAt: Date;
}

export interface UsageRow {
  /** UTC day, `2026-02-25`. */
  readonly day: string;
  readonly endpoint: string;
  readonly method: string;
  readonly calls: number;
  readonly failures: number;
  /** Items X bills by (posts read, users read). */
  readonly items: number;
  readonly costUsd: number;
}

/**
 * The one way to X. Faults are `ToolError`s of the documented codes; a change whose effect is in doubt carries
 * `effect: 'unknown'`. `request` throws for every status of 400 and above.
 */
export interface XApi {
  readonly provider: ProviderInfo;
  /**
   * Sends one request of the endpoint table. Parameters have the names of the table (those of the tools). Where the
   * path needs the own user's id (`user_id` of like, follow, bookmarks, …) it may be left out or be `me`.
   */
  request(endpoint: EndpointId, params: JsonObject, options?: RequestOptions): Promise<XReply>;
  /** A universal request behind all guards; refused with `invalid_input` before anything is sent. */
  raw(request: RawRequest, options?: RequestOptions): Promise<RawReply>;
  /** Checks a universal request without sending it: the URL it would go to. */
  checkRaw(request: RawRequest): { readonly url: string; readonly family: string };
  /** The v2 chunked upload: initialize, append, finalize, wait for processing, alt text. */
  uploadMedia(
    file: MediaFile,
    options?: RequestOptions & { readonly progress?: (sent: number, total: number) => void },
  ): Promise<UploadedMedia>;
  /** The signed-in user, read once and kept. */
  me(options?: RequestOptions): Promise<OwnUser>;
  access(options?: RequestOptions): Promise<AccessInfo>;
  /** Whether there is an account to act as. Makes no request. */
  signedIn(): Promise<boolean>;
  rateLimits(): Promise<readonly RateLimitRow[]>;
  usage(since: Date): Promise<readonly UsageRow[]>;
  /** Stops what the provider started (the sandbox server). */
  close(): Promise<void>;
}

/** The fields of `[x_api]` the client reads. */
export interface XApiSettings {
  /** Empty: X when `auth x` has run, else the sandbox. */
  readonly provider_backend?: '' | 'x_api' | 'scraper' | 'sandbox';
  readonly client_id?: string;
  readonly client_secret?: string;
  /** App-only bearer token: compliance, usage and stream rules need it. */
  readonly bearer_token?: string;
  /** OAuth 1.0a, for ads-api.x.com. */
  readonly consumer_key?: string;
  readonly consumer_secret?: string;
  readonly access_token?: string;
  readonly access_token_secret?: string;
  readonly scraper_allow_mutations?: boolean;
  /** Cookie header of a signed-in browser, for scraper reads that X hides from guests. */
  readonly scraper_cookies?: string;
  readonly api_base_url?: string;
  readonly ads_base_url?: string;
  readonly request_timeout_seconds?: number;
}

export interface ConnectOptions {
  readonly settings: XApiSettings;
  readonly dataDir: string;
  readonly db: Kysely<XClientTables>;
  readonly leases: LeasePort;
  readonly log: Log;
  now(): Date;
  /** Starts the sandbox; called on the first request that needs it. Absent where the host offers none. */
  sandbox?(): Promise<Sandbox>;
  /** Tests replace waiting and chance. */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random?: () => number;
  /** Tests replace the network the scraper uses. */
  readonly scraperFetch?: typeof fetch;
}

export const X_API: ProviderInfo = {
  backend: 'x_api',
  mutations_available: true,
  risk_level: 'standard',
  data_confidence: 'high',
  unsupported_methods: [],
  note: 'Official X API via OAuth 2.0.',
};

export const SANDBOX: ProviderInfo = {
  backend: 'sandbox',
  mutations_available: true,
  risk_level: 'none',
  data_confidence: 'simulated',
  unsupported_methods: [],
  note: 'Local sandbox with made-up accounts and posts; nothing reaches X. Run `countersign auth x` to use your account.',
};

/** The library behind it only reads, so allowing changes cannot make any available. */
export const scraperInfo = (allowed: boolean): ProviderInfo => ({
  backend: 'scraper',
  mutations_available: false,
  risk_level: 'elevated',
  data_confidence: 'medium',
  unsupported_methods: ['get_user_mentions', 'get_home_timeline', 'get_me', 'get_bookmarks'],
  note: allowed
    ? 'Scraper backend. Mutations are allowed, but the scraper library offers none.'
    : 'Scraper backend (read-only). Mutations blocked by default.',
});

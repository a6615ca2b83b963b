import type { JsonObject, JsonValue } from '../../../contract/json.ts';
import type { EndpointId } from '../endpoints/ids.ts';

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
 * The one way to X. Faults are `ToolFault`s of the documented codes; a change whose effect is in doubt carries
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
  /** Whether there is an account to act as. Asks nobody. */
  signedIn(): Promise<boolean>;
  rateLimits(): Promise<readonly RateLimitRow[]>;
  usage(since: Date): Promise<readonly UsageRow[]>;
  /** Stops what the provider started (the sandbox server). */
  close(): Promise<void>;
}

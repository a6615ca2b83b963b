import type { EndpointId } from './ids.ts';

export const API_HOST = 'api.x.com';
export const ADS_HOST = 'ads-api.x.com';

/**
 * What a value may look like. `post_id` and `user_id` are 1 to 19 digits; `self_id` is the own user's id, which the
 * client fills in when it is absent or `me`; `csv` is a comma-separated list in one string.
 */
export type ParamKind =
  | 'text'
  | 'post_id'
  | 'user_id'
  | 'self_id'
  | 'list_id'
  | 'media_id'
  | 'numeric_id'
  | 'conversation_id'
  | 'space_id'
  | 'ads_id'
  | 'username'
  | 'token'
  | 'time'
  | 'integer'
  | 'boolean'
  | 'csv'
  | 'texts'
  | 'ids'
  | 'rules'
  | 'binary';

export interface Param {
  readonly in: 'path' | 'query' | 'body';
  /** Name on the wire; in a body dots descend (`message.text`) and `[]` makes one object per item. */
  readonly wire: string;
  readonly kind: ParamKind;
  readonly required: boolean;
  /** A few words where the name alone does not say it. */
  readonly doc?: string;
  /** The only values X takes; for a boolean the one value this endpoint sends. */
  readonly values?: readonly string[];
  readonly min?: number;
  readonly max?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  /** Sent when the caller gives nothing; never shown as the caller's own wish. */
  readonly fallback?: string | number | boolean;
}

export type Params = Readonly<Record<string, Param>>;

/** `user`: OAuth 2.0 user token. `app`: app-only bearer. `ads`: OAuth 1.0a signature. */
export type Credential = 'user' | 'app' | 'ads';

export type EntityName =
  | 'post'
  | 'user'
  | 'list'
  | 'space'
  | 'dm_event'
  | 'dm_conversation'
  | 'count'
  | 'rule'
  | 'compliance_job'
  | 'usage'
  | 'media'
  | 'ads_account'
  | 'campaign'
  | 'line_item'
  | 'promoted_tweet'
  | 'targeting'
  | 'funding_instrument'
  | 'stat';

/** `flags` are small answers such as `{ liked: true }`; the names are their fields. */
export type Reply =
  | { readonly shape: 'one'; readonly of: EntityName }
  | { readonly shape: 'many'; readonly of: EntityName }
  | { readonly shape: 'flags'; readonly fields: readonly string[] }
  | { readonly shape: 'empty' };

export interface Endpoint {
  readonly id: EndpointId;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly host: typeof API_HOST | typeof ADS_HOST;
  /** Placeholders are wire names. */
  readonly path: string;
  readonly params: Params;
  /** Fixed parts of the body (`hidden: true`), by wire name. */
  readonly bodyConstants?: Readonly<Record<string, string | boolean>>;
  readonly queryConstants?: Readonly<Record<string, string>>;
  readonly encoding: 'json' | 'form' | 'multipart' | 'none';
  /** In order of preference. */
  readonly credentials: readonly Credential[];
  /** What X asks of a user token. */
  readonly scopes: readonly string[];
  readonly effect: 'read' | 'change' | 'destroy';
  readonly paging?: { readonly param: string; readonly next: 'meta.next_token' | 'next_cursor' };
  readonly reply: Reply;
  readonly success: 200 | 201;
  /** X's published limit; the sandbox enforces it, the client only believes headers. */
  readonly limit: { readonly max: number; readonly seconds: number };
  /** What X bills, in millionths of a dollar. */
  readonly price: { readonly micros: number; readonly per: 'call' | 'item' };
  /** Query and body names X also takes and no tool sends; universal requests may. */
  readonly others: readonly string[];
  /** Why the endpoint is here although X's published specification does not (or no longer) know it. */
  readonly unlisted?: string;
}

/** A row as its author writes it; the rest is derived. */
export type EndpointRow = Pick<Endpoint, 'method' | 'path' | 'reply'> &
  Partial<Omit<Endpoint, 'id' | 'others'>>;

const FREE = { micros: 0, per: 'call' } as const;
const QUARTER_HOUR = 900;

export function defineEndpoint(id: EndpointId, row: EndpointRow, others: readonly string[]): Endpoint {
  const params = row.params ?? {};
  const hasBody =
    row.bodyConstants !== undefined || Object.values(params).some((param) => param.in === 'body');
  const read = row.method === 'GET';
  return {
    host: API_HOST,
    encoding: hasBody ? 'json' : 'none',
    credentials: ['user'],
    scopes: [],
    effect: read ? 'read' : 'change',
    success: 200,
    limit: { max: read ? 300 : 50, seconds: QUARTER_HOUR },
    price: FREE,
    ...row,
    params,
    others,
    id,
  };
}

/** What X charges: posts and users by the item read, writes by the call. */
export const PRICE = {
  posts: { micros: 5_000, per: 'item' },
  users: { micros: 10_000, per: 'item' },
  write: { micros: 10_000, per: 'call' },
} as const;

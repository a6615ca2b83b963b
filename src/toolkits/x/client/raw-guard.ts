import { ToolError } from '../../../contract/errors.ts';
import { put } from '../../../lib/lookup.ts';
import type { WireRequest } from '../endpoints/build.ts';
import { ADS_HOST, API_HOST } from '../endpoints/endpoint.ts';
import type { RawRequest } from './api.ts';

export const RAW_HOSTS = [API_HOST, 'upload.x.com', 'upload.twitter.com', ADS_HOST] as const;

export interface GuardedRequest {
  readonly request: WireRequest;
  readonly headers: Readonly<Record<string, string>>;
  readonly url: string;
  readonly family: 'public_api' | 'direct_message' | 'ads' | 'enterprise_admin' | 'media_upload';
}

const MAX_ENDPOINT = 2048;
const MAX_QUERY_PAIRS = 100;
const MAX_HEADERS = 20;
const MAX_BODY = 1024 * 1024;

const PRINTABLE = /^[\x21-\x7e]+$/;
/** No `%`: no X path needs one, and every disguise of a dot or slash does. */
const SAFE_PATH = /^\/[A-Za-z0-9._~:,\-/]*$/;
const HEADER_NAME = /^[A-Za-z0-9-]{1,64}$/;
const HEADER_VALUE = /^[\x20-\x7e]{0,1024}$/;
const BLOCKED_HEADER =
  /^(authorization|host|cookie2?|set-cookie2?|content-length|transfer-encoding|te|trailer|connection|keep-alive|upgrade|expect|via|forwarded|origin|referer|user-agent|proxy-.*|sec-.*|x-forwarded-.*|x-(http-)?method(-override)?|x-sandbox-.*)$/i;
const STREAMS = [
  /\/stream(\/|$)/,
  /^\/1\.1\/statuses\/(filter|sample|firehose)\b/,
  /^\/1\.1\/(user|site)\.json$/,
];
const NOT_STREAMS = /^\/2\/tweets\/search\/stream\/rules(\/counts)?$/;
/** Requests that would hand out or burn the very tokens the client keeps. */
const TOKENS = /^(\/2)?\/oauth2?(\/|$)/;

/** The old API deletes by POST, which would pass for a change that needs no approval. */
const DESTROYS = /^\/1\.1\/(.*\/)?destroy(_all)?(\.json)?(\/|$)/;

/** Everything a universal request must pass before a byte of it is sent. */
export function guardRaw(raw: RawRequest): GuardedRequest {
  const { host, path, query } = locate(raw);
  if (STREAMS.some((pattern) => pattern.test(path)) && !NOT_STREAMS.test(path)) {
    throw refuse('endpoint', 'is a stream, which one request and one answer cannot serve');
  }
  if (TOKENS.test(path)) throw refuse('endpoint', 'handles tokens, which only `countersign auth x` does');
  if (raw.method !== 'DELETE' && DESTROYS.test(path))
    throw refuse('endpoint', 'deletes; use x_delete with the v2 endpoint, which requires approval');
  const pairs = [...query, ...(raw.query ?? []).map(({ key, value }) => [key, value] as const)];
  if (pairs.length > MAX_QUERY_PAIRS) throw refuse('query', `has more than ${MAX_QUERY_PAIRS} parameters`);
  for (const [key, value] of pairs) {
    if (key === '' || hasControl(key) || hasControl(value))
      throw refuse('query', 'contains control characters or an empty name');
  }
  const request: WireRequest = { method: raw.method, host, path, query: pairs, body: readBody(raw, host) };
  return { request, headers: readHeaders(raw), url: `https://${host}${path}`, family: familyOf(host, path) };
}

function locate(raw: RawRequest): {
  host: string;
  path: string;
  query: readonly (readonly [string, string])[];
} {
  const { endpoint } = raw;
  if (endpoint.length > MAX_ENDPOINT) throw refuse('endpoint', `is longer than ${MAX_ENDPOINT} characters`);
  if (!PRINTABLE.test(endpoint))
    throw refuse('endpoint', 'contains spaces, control characters or non-ASCII characters');
  if (endpoint.includes('#')) throw refuse('endpoint', 'contains a fragment (#)');
  const full = /^https:\/\/([^/?]*)(.*)$/.exec(endpoint);
  if (!full && !endpoint.startsWith('/'))
    throw refuse('endpoint', 'must be a path that starts with / or an https URL');
  const host = full ? (full[1] ?? '') : (raw.host ?? API_HOST);
  if (!isAllowedHost(host))
    throw refuse(full ? 'endpoint' : 'host', `is not on an allowed host (${RAW_HOSTS.join(', ')})`);
  if (full && raw.host !== undefined && raw.host !== host)
    throw refuse('host', 'differs from the host of endpoint');
  const rest = full ? full[2] || '/' : endpoint;
  const cut = rest.indexOf('?');
  const path = cut < 0 ? rest : rest.slice(0, cut);
  checkPath(path);
  // The last word has the parser that sends the request: what it sees must be what was checked.
  const parsed = new URL(`https://${host}${path}`);
  if (
    parsed.host !== host ||
    parsed.pathname !== path ||
    parsed.username !== '' ||
    parsed.protocol !== 'https:'
  ) {
    throw refuse('endpoint', 'is not a plain X address');
  }
  return { host, path, query: cut < 0 ? [] : readQuery(rest.slice(cut + 1)) };
}

const isAllowedHost = (host: string): boolean => (RAW_HOSTS as readonly string[]).includes(host);

function checkPath(path: string): void {
  if (!path.startsWith('/') || path.startsWith('//'))
    throw refuse('endpoint', 'must have a path that starts with one /');
  if (!SAFE_PATH.test(path))
    throw refuse('endpoint', 'contains characters that no X path has (encoded ones included)');
  const parts = path.split('/').slice(1);
  if (parts.some((part) => /^\.+$/.test(part))) throw refuse('endpoint', 'contains dot segments');
  if (parts.slice(0, -1).includes('')) throw refuse('endpoint', 'contains empty path segments');
}

function readQuery(text: string): (readonly [string, string])[] {
  if (text === '') return [];
  return text.split('&').map((pair) => {
    const cut = pair.indexOf('=');
    const [key, value] = cut < 0 ? [pair, ''] : [pair.slice(0, cut), pair.slice(cut + 1)];
    return [decodePart(key), decodePart(value)] as const;
  });
}

function decodePart(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw refuse('endpoint', 'has a query with broken percent-encoding');
  }
}

const hasControl = (text: string): boolean => /[\p{Cc}\p{Cs}]/u.test(text);

function readHeaders(raw: RawRequest): Record<string, string> {
  const given = raw.headers ?? [];
  if (given.length > MAX_HEADERS) throw refuse('headers', `has more than ${MAX_HEADERS} entries`);
  const headers: Record<string, string> = {};
  for (const { key, value } of given) {
    if (!HEADER_NAME.test(key)) throw refuse('headers', 'contains a malformed name');
    if (BLOCKED_HEADER.test(key)) throw refuse('headers', `may not set ${key.toLowerCase()}`);
    if (!HEADER_VALUE.test(value))
      throw refuse('headers', `contains line breaks or non-ASCII characters in ${key.toLowerCase()}`);
    put(headers, key.toLowerCase(), value);
  }
  if (headers['content-type'] !== undefined && !/^application\/json\b/.test(headers['content-type'])) {
    throw refuse('headers', 'may only set content-type to application/json');
  }
  return headers;
}

function readBody(raw: RawRequest, host: string): WireRequest['body'] {
  if (raw.body === undefined || raw.body === null || raw.body === '') return { type: 'none' };
  if (raw.method === 'GET' || raw.method === 'DELETE')
    throw refuse('body', `is not allowed with ${raw.method}`);
  const value = typeof raw.body === 'string' ? parseBody(raw.body) : raw.body;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw refuse('body', 'must be a JSON object');
  }
  if (JSON.stringify(value).length > MAX_BODY) throw refuse('body', `is larger than ${MAX_BODY} bytes`);
  // The Ads API takes parameters, not JSON; anything nested has no form there.
  if (host === ADS_HOST) {
    return {
      type: 'form',
      pairs: Object.entries(value).map(([key, inner]) => [key, formValue(inner)] as const),
    };
  }
  return { type: 'json', value: value as { [key: string]: never } };
}

const formValue = (value: unknown): string => {
  if (Array.isArray(value)) return value.join(',');
  if (typeof value === 'object' && value !== null) throw refuse('body', 'must be flat for the Ads API');
  return String(value);
};

function parseBody(text: string): unknown {
  if (text.length > MAX_BODY) throw refuse('body', `is larger than ${MAX_BODY} bytes`);
  try {
    return JSON.parse(text);
  } catch {
    throw refuse('body', 'must be JSON');
  }
}

function familyOf(host: string, path: string): GuardedRequest['family'] {
  if (host === ADS_HOST) return 'ads';
  if (host !== API_HOST || path.startsWith('/2/media/')) return 'media_upload';
  if (path.startsWith('/2/dm_')) return 'direct_message';
  if (/^\/2\/(compliance|usage|tweets\/search\/stream)/.test(path)) return 'enterprise_admin';
  return 'public_api';
}

const refuse = (field: string, problem: string): ToolError =>
  new ToolError('invalid_input', `${field} ${problem}`, { detail: { field } });

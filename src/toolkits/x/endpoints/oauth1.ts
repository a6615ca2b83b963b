import { createHmac, randomBytes } from 'node:crypto';

export interface OAuth1Keys {
  readonly consumerKey: string;
  readonly consumerSecret: string;
  readonly token: string;
  readonly tokenSecret: string;
}

export interface SignedRequest {
  readonly method: string;
  /** Scheme, host and path; the query goes in `params`. */
  readonly url: string;
  /** Query and form parameters alike. */
  readonly params: readonly (readonly [string, string])[];
}

/** RFC 3986 encoding, which the signature is built on. */
export const percent = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

/** The Authorization header of RFC 5849 with HMAC-SHA1, which is what the Ads API takes. */
export function signOAuth1(
  request: SignedRequest,
  keys: OAuth1Keys,
  moment: { readonly timestamp: number; readonly nonce: string },
): string {
  const oauth: [string, string][] = [
    ['oauth_consumer_key', keys.consumerKey],
    ['oauth_nonce', moment.nonce],
    ['oauth_signature_method', 'HMAC-SHA1'],
    ['oauth_timestamp', String(moment.timestamp)],
    ['oauth_token', keys.token],
    ['oauth_version', '1.0'],
  ];
  const signature = signatureOf(request, oauth, keys);
  const header = [...oauth, ['oauth_signature', signature] as const]
    .map(([key, value]) => `${percent(key)}="${percent(value)}"`)
    .join(', ');
  return `OAuth ${header}`;
}

/** The signature alone, so that a server can check one. */
export function signatureOf(
  request: SignedRequest,
  oauth: readonly (readonly [string, string])[],
  keys: Pick<OAuth1Keys, 'consumerSecret' | 'tokenSecret'>,
): string {
  const pairs = [...request.params, ...oauth]
    .map(([key, value]) => [percent(key), percent(value)] as const)
    .sort(([a, x], [b, y]) => (a === b ? compare(x, y) : compare(a, b)))
    .map(([key, value]) => `${key}=${value}`)
    .join('&');
  const base = [request.method.toUpperCase(), percent(request.url), percent(pairs)].join('&');
  const key = `${percent(keys.consumerSecret)}&${percent(keys.tokenSecret)}`;
  return createHmac('sha1', key).update(base).digest('base64');
}

export const freshNonce = (): string => randomBytes(16).toString('hex');

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

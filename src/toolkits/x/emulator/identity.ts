import type { Credential, Endpoint } from '../endpoints/endpoint.ts';
import { signatureOf } from '../endpoints/oauth1.ts';
import { ALL_ENDPOINTS } from '../endpoints/table.ts';
import { adsProblem, missingScope, unauthorized, wrongAuthentication } from './problems.ts';
import type { State } from './state.ts';

/** What a client of the sandbox signs with. Written down here on purpose: they open nothing else. */
export const CREDENTIALS = {
  user_token: 'sandbox-user-token',
  app_token: 'sandbox-app-token',
  consumer_key: 'sandbox-consumer-key',
  consumer_secret: 'sandbox-consumer-secret',
  access_token: 'sandbox-access-token',
  access_token_secret: 'sandbox-access-token-secret',
  client_id: 'sandbox-client-id',
  scopes: [...new Set(ALL_ENDPOINTS.flatMap((endpoint) => endpoint.scopes))].sort().join(' '),
} as const;

export interface Identity {
  readonly credential: Credential;
  readonly scopes: readonly string[];
}

export interface SignedRequest {
  readonly authorization: string | undefined;
  readonly method: string;
  readonly host: string;
  readonly path: string;
  readonly params: readonly (readonly [string, string])[];
}

const NAMES: Readonly<Record<Credential, string>> = {
  user: 'OAuth 2.0 User Context',
  app: 'OAuth 2.0 Application-Only',
  ads: 'OAuth 1.0a User Context',
};

const CLOCK_SKEW_S = 300;

/** Who is asking. Refuses as X does: 401 without credentials, 403 for the wrong kind or a missing scope. */
export function identify(request: SignedRequest, endpoint: Endpoint, state: State, now: Date): Identity {
  const identity = recognise(request, state, now);
  if (!identity)
    throw endpoint.credentials.includes('ads')
      ? adsProblem(401, 'UNAUTHORIZED_ACCESS', 'This request is not properly authenticated')
      : unauthorized();
  if (!endpoint.credentials.includes(identity.credential)) {
    throw wrongAuthentication(
      NAMES[identity.credential],
      endpoint.credentials.map((kind) => NAMES[kind]),
    );
  }
  const missing =
    identity.credential === 'user' ? endpoint.scopes.filter((scope) => !identity.scopes.includes(scope)) : [];
  if (missing.length > 0) throw missingScope(missing);
  return identity;
}

function recognise(request: SignedRequest, state: State, now: Date): Identity | undefined {
  const header = request.authorization ?? '';
  if (header.startsWith('OAuth '))
    return isSigned(request, header, now) ? { credential: 'ads', scopes: [] } : undefined;
  const token = header.startsWith('Bearer ') ? header.slice('Bearer '.length) : '';
  if (token === CREDENTIALS.app_token) return { credential: 'app', scopes: [] };
  if (token === CREDENTIALS.user_token) return { credential: 'user', scopes: CREDENTIALS.scopes.split(' ') };
  const issued = state.get('tokens', token);
  if (issued && Date.parse(issued.expires_at) > now.getTime())
    return { credential: 'user', scopes: issued.scopes };
  return undefined;
}

function isSigned(request: SignedRequest, header: string, now: Date): boolean {
  const pairs = [...header.slice('OAuth '.length).matchAll(/(\w+)="([^"]*)"/g)].map(
    ([, key = '', value = '']) => [key, decodeURIComponent(value)] as const,
  );
  const given = Object.fromEntries(pairs);
  const expected = signatureOf(
    { method: request.method, url: `https://${request.host}${request.path}`, params: request.params },
    pairs.filter(([key]) => key !== 'oauth_signature'),
    { consumerSecret: CREDENTIALS.consumer_secret, tokenSecret: CREDENTIALS.access_token_secret },
  );
  return (
    given.oauth_signature === expected &&
    given.oauth_consumer_key === CREDENTIALS.consumer_key &&
    given.oauth_token === CREDENTIALS.access_token &&
    Math.abs(Number(given.oauth_timestamp) - now.getTime() / 1000) <= CLOCK_SKEW_S
  );
}

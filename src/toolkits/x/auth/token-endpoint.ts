import { z } from 'zod';
import { isObject } from '../../../lib/is-object.ts';
import { networkError, toToolError } from '../client/errors.ts';
import { type Answer, NoResponseError, send } from '../client/send.ts';
import { API_HOST } from '../endpoints/endpoint.ts';
import { XError } from '../errors.ts';
import type { Tokens } from './user-tokens.ts';

export interface OAuthApp {
  readonly clientId: string;
  /** Confidential apps prove themselves with it; public ones have none. */
  readonly clientSecret?: string;
  /** `https://api.x.com`, or the sandbox. */
  readonly origin: string;
  now(): Date;
}

const grantSchema = z.object({
  access_token: z.string().min(1),
  refresh_token: z.string().min(1).optional(),
  expires_in: z.number().positive().default(7200),
  scope: z.string().default(''),
});

/** Turns the code of a finished sign-in into tokens. */
export async function exchangeCode(
  app: OAuthApp,
  grant: { readonly code: string; readonly verifier: string; readonly redirectUri: string },
  signal?: AbortSignal,
): Promise<Tokens> {
  const answer = await post(
    app,
    [
      ['grant_type', 'authorization_code'],
      ['code', grant.code],
      ['redirect_uri', grant.redirectUri],
      ['code_verifier', grant.verifier],
    ],
    signal,
  );
  const now = app.now();
  return { ...toTokens(app, answer, now), authorized_at: now.toISOString() };
}

/** A refresh token works once; the caller holds the lease. */
export async function refreshTokens(app: OAuthApp, tokens: Tokens, signal?: AbortSignal): Promise<Tokens> {
  const answer = await post(
    app,
    [
      ['grant_type', 'refresh_token'],
      ['refresh_token', tokens.refresh_token ?? ''],
    ],
    signal,
  );
  const next = toTokens(app, answer, app.now());
  return {
    ...tokens,
    ...next,
    refresh_token: next.refresh_token ?? tokens.refresh_token,
    scopes: next.scopes.length > 0 ? next.scopes : tokens.scopes,
  };
}

/**
 * Revokes both tokens at X. The refresh token goes first: with it gone no one can make a new access token out of a
 * half-done revocation.
 */
export async function revokeTokens(app: OAuthApp, tokens: Tokens): Promise<void> {
  const given = [
    ['refresh_token', tokens.refresh_token],
    ['access_token', tokens.access_token],
  ] as const;
  for (const [hint, token] of given) {
    if (!token) continue;
    const answer = await asApp(app, '/2/oauth2/revoke', [
      ['token', token],
      ['token_type_hint', hint],
    ]);
    if (answer.status >= 300) throw toToolError(answer, { change: false, now: app.now() });
  }
}

/** Confidential apps prove themselves with their secret, public ones only say who they are. */
function asApp(
  { clientId, clientSecret, origin }: OAuthApp,
  path: string,
  pairs: readonly (readonly [string, string])[],
  signal?: AbortSignal,
): Promise<Answer> {
  return clientSecret
    ? ask(origin, path, pairs, { authorization: basic(clientId, clientSecret) }, signal)
    : ask(origin, path, [...pairs, ['client_id', clientId]], {}, signal);
}

async function post(app: OAuthApp, pairs: [string, string][], signal?: AbortSignal): Promise<Answer> {
  const answer = await asApp(app, '/2/oauth2/token', pairs, signal);
  if (answer.status < 300) return answer;
  if (answer.status === 400 || answer.status === 401) {
    const { error_description: said } = isObject(answer.json) ? answer.json : {};
    const quote = typeof said === 'string' && said !== '' ? `: "${said.slice(0, 200)}"` : '';
    throw new XError(
      'x_auth_expired',
      `X did not accept the sign-in${quote} (the code or refresh token is used up, or the app is not the one that signed in); run \`countersign auth x\``,
      {
        cause: { status: answer.status, body: answer.json },
      },
    );
  }
  throw toToolError(answer, { change: false, now: app.now() });
}

const basic = (name: string, secret: string): string =>
  `Basic ${Buffer.from(`${encodeURIComponent(name)}:${encodeURIComponent(secret)}`).toString('base64')}`;

async function ask(
  origin: string,
  path: string,
  pairs: readonly (readonly [string, string])[],
  headers: Readonly<Record<string, string>>,
  signal?: AbortSignal,
): Promise<Answer> {
  try {
    return await send(
      { method: 'POST', host: API_HOST, path, query: [], body: { type: 'form', pairs } },
      { origin, headers, timeoutMs: 30_000, ...(signal ? { signal } : {}) },
    );
  } catch (error) {
    if (error instanceof NoResponseError)
      throw networkError(error.cause, { change: false, sent: error.sent });
    throw error;
  }
}

function toTokens(app: OAuthApp, answer: Answer, now: Date): Omit<Tokens, 'authorized_at'> {
  const grant = grantSchema.safeParse(answer.json);
  if (!grant.success)
    throw new XError('x_api_error', 'X did not answer the token request with tokens', {
      retryable: false,
    });
  const { access_token, refresh_token, expires_in, scope } = grant.data;
  return {
    access_token,
    ...(refresh_token ? { refresh_token } : {}),
    expires_at: new Date(now.getTime() + expires_in * 1000).toISOString(),
    scopes: scope.split(' ').filter(Boolean),
    client_id: app.clientId,
  };
}

/** The app's own token, for endpoints that take no user. */
export async function exchangeAppToken(
  app: { readonly key: string; readonly secret: string; readonly origin: string; now(): Date },
  signal?: AbortSignal,
): Promise<string> {
  const answer = await ask(
    app.origin,
    '/oauth2/token',
    [['grant_type', 'client_credentials']],
    {
      authorization: basic(app.key, app.secret),
    },
    signal,
  );
  const grant = z.object({ access_token: z.string().min(1) }).safeParse(answer.json);
  if (answer.status < 300 && grant.success) return grant.data.access_token;
  throw toToolError(answer.status < 300 ? { ...answer, status: 401 } : answer, {
    change: false,
    now: app.now(),
  });
}

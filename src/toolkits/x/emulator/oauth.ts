import { createHash } from 'node:crypto';
import { type JsonDoc, nextId } from './documents.ts';
import { CREDENTIALS } from './identity.ts';
import { Problem } from './problems.ts';
import type { State } from './state.ts';

const LIFETIME_S = 7200;

const refused = (error: string, description: string): Problem =>
  new Problem(400, { error, error_description: description });

/** Consents immediately and redirects the browser: a sandbox has no one to ask. */
export function authorize(state: State, query: ReadonlyMap<string, string>, now: Date): string {
  const redirect = new URL(query.get('redirect_uri') ?? 'http://invalid.invalid');
  if (!['127.0.0.1', 'localhost', '[::1]'].includes(redirect.hostname)) {
    throw refused('invalid_request', 'The sandbox only sends browsers back to this machine.');
  }
  if (query.get('code_challenge_method') !== 'S256' || !query.get('code_challenge')) {
    throw refused('invalid_request', 'A S256 code challenge is required.');
  }
  const code = `sbx-code-${nextId(state, now)}`;
  state.put('codes', code, {
    code,
    challenge: query.get('code_challenge') ?? '',
    redirect_uri: query.get('redirect_uri') ?? '',
    scopes: (query.get('scope') ?? '').split(' ').filter(Boolean),
  });
  redirect.searchParams.set('state', query.get('state') ?? '');
  redirect.searchParams.set('code', code);
  return redirect.toString();
}

/** Codes and refresh tokens work once, as at X. */
export function token(state: State, form: ReadonlyMap<string, string>, now: Date): JsonDoc {
  if (form.get('grant_type') === 'authorization_code') {
    const code = state.get('codes', form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (!code || code.challenge !== challenge || code.redirect_uri !== form.get('redirect_uri')) {
      throw refused('invalid_request', 'Value passed for the authorization code was invalid.');
    }
    state.remove('codes', code.code);
    return issue(state, code.scopes, now);
  }
  if (form.get('grant_type') === 'refresh_token') {
    const known = state.all('tokens').find((each) => each.refresh_token === form.get('refresh_token'));
    if (!known || known.used) throw refused('invalid_request', 'Value passed for the token was invalid.');
    state.put('tokens', known.access_token, { ...known, used: true });
    return issue(state, known.scopes, now);
  }
  throw refused('unsupported_grant_type', 'The grant type is not supported.');
}

/** As the standard says, a token that is already gone is revoked too. Either token of a pair ends both. */
export function revoke(state: State, form: ReadonlyMap<string, string>): JsonDoc {
  const token = form.get('token');
  if (!token) throw refused('invalid_request', 'Missing required parameter [token].');
  const known = state
    .all('tokens')
    .find((each) => each.access_token === token || each.refresh_token === token);
  if (known) state.remove('tokens', known.access_token);
  return { revoked: true };
}

export function appToken(form: ReadonlyMap<string, string>, authorization: string | undefined): JsonDoc {
  const expected = Buffer.from(`${CREDENTIALS.consumer_key}:${CREDENTIALS.consumer_secret}`).toString(
    'base64',
  );
  if (form.get('grant_type') !== 'client_credentials' || authorization !== `Basic ${expected}`) {
    throw new Problem(403, { errors: [{ code: 99, message: 'Unable to verify your credentials' }] });
  }
  return { token_type: 'bearer', access_token: CREDENTIALS.app_token };
}

/** Hands out a token pair; tests use it for narrow scopes and short lives. */
export function issue(state: State, scopes: readonly string[], now: Date, lifetime = LIFETIME_S): JsonDoc {
  const id = nextId(state, now);
  const access_token = `sbx-user-${id}`;
  const refresh_token = `sbx-refresh-${id}`;
  state.put('tokens', access_token, {
    access_token,
    refresh_token,
    scopes: [...scopes],
    expires_at: new Date(now.getTime() + lifetime * 1000).toISOString(),
    used: false,
  });
  return {
    token_type: 'bearer',
    expires_in: lifetime,
    access_token,
    scope: scopes.join(' '),
    ...(scopes.includes('offline.access') ? { refresh_token } : {}),
  };
}

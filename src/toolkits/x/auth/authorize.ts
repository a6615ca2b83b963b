import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { ToolFault } from '../../../contract/faults.ts';

/** One sign-in under way; the verifier never leaves this process. */
export interface Authorization {
  /** Where the person signs in. */
  readonly url: string;
  readonly state: string;
  readonly verifier: string;
  readonly redirectUri: string;
}

const AUTHORIZE_URL = 'https://x.com/i/oauth2/authorize';

export function beginAuthorization(request: {
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly redirectUri: string;
  readonly authorizeUrl?: string;
}): Authorization {
  const state = randomBytes(16).toString('base64url');
  const verifier = randomBytes(32).toString('base64url');
  const url = new URL(request.authorizeUrl ?? AUTHORIZE_URL);
  url.search = new URLSearchParams({
    response_type: 'code',
    client_id: request.clientId,
    redirect_uri: request.redirectUri,
    scope: request.scopes.join(' '),
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  }).toString();
  return { url: url.toString(), state, verifier, redirectUri: request.redirectUri };
}

/** The code of a redirect back to us. Another sign-in's redirect, or a forged one, has another state. */
export function codeFromRedirect(params: URLSearchParams, authorization: Authorization): string {
  if (!sameText(params.get('state') ?? '', authorization.state)) {
    throw new ToolFault(
      'x_auth_expired',
      'The redirect does not belong to this sign-in (its state differs); start again',
    );
  }
  if (params.has('error')) {
    throw new ToolFault(
      'x_forbidden',
      `X did not grant access: "${(params.get('error') ?? '').slice(0, 100)}"`,
    );
  }
  const code = params.get('code');
  if (!code) throw new ToolFault('x_auth_expired', 'The redirect carries no code; start again');
  return code;
}

/**
 * What a person pastes: the address they were sent to, whose state is checked, or the bare code, which is useless to
 * anyone without the verifier.
 */
export function codeFromPaste(text: string, authorization: Authorization): string {
  const trimmed = text.trim();
  const query = trimmed.includes('?')
    ? trimmed.slice(trimmed.indexOf('?') + 1)
    : trimmed.includes('code=')
      ? trimmed
      : undefined;
  if (query !== undefined) return codeFromRedirect(new URLSearchParams(query.split('#')[0]), authorization);
  if (/^[\w.~-]{10,1024}$/.test(trimmed)) return trimmed;
  throw new ToolFault('invalid_input', 'Paste the whole address your browser was sent to, or the code in it');
}

function sameText(a: string, b: string): boolean {
  const [x, y] = [Buffer.from(a), Buffer.from(b)];
  return x.length === y.length && timingSafeEqual(x, y);
}

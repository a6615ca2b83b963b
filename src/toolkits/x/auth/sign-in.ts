import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ToolError } from '../../../contract/errors.ts';
import { ALL_ENDPOINTS } from '../endpoints/table.ts';
import { XError } from '../errors.ts';
import { exchangeCode, type OAuthApp } from './token-endpoint.ts';
import { TokenFile, type Tokens } from './user-tokens.ts';

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
    throw new XError(
      'x_auth_expired',
      'The redirect does not belong to this sign-in (its state differs); start again',
    );
  }
  if (params.has('error')) {
    throw new XError('x_forbidden', `X did not grant access: "${(params.get('error') ?? '').slice(0, 100)}"`);
  }
  const code = params.get('code');
  if (!code) throw new XError('x_auth_expired', 'The redirect contains no code; start again');
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
  throw new ToolError('invalid_input', 'Paste the whole address your browser was sent to, or the code in it');
}

function sameText(a: string, b: string): boolean {
  const [x, y] = [Buffer.from(a), Buffer.from(b)];
  return x.length === y.length && timingSafeEqual(x, y);
}

export interface Callback {
  readonly redirectUri: string;
  /** Resolves with the code once the browser comes back. A redirect with a wrong state is refused and waited past. */
  wait(authorization: Authorization, signal: AbortSignal): Promise<string>;
  close(): Promise<void>;
}

const PATH = '/callback';

/** Listens on this machine for the browser to come back from X. Port 0 takes any free one. */
async function listenForCallback(host: string, port: number): Promise<Callback> {
  let handle: (params: URLSearchParams) => { status: number; text: string } = () => ({
    status: 503,
    text: 'No sign-in is in progress.',
  });
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const { status, text } =
      request.method === 'GET' && url.pathname === PATH
        ? handle(url.searchParams)
        : { status: 404, text: 'Not found.' };
    response.writeHead(status, {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'content-security-policy': "default-src 'none'",
      connection: 'close',
    });
    response.end(`<!doctype html><title>Countersign</title><p>${text}</p>`);
  });
  await listen(server, host, port);
  const bound = (server.address() as AddressInfo).port;
  return {
    redirectUri: `http://${host}:${bound}${PATH}`,
    wait: (authorization, signal) =>
      new Promise((resolve, reject) => {
        const stop = () =>
          reject(
            new ToolError('timeout', 'The sign-in was not finished in time; run `countersign auth x` again'),
          );
        if (signal.aborted) return stop();
        signal.addEventListener('abort', stop, { once: true });
        handle = (params) => {
          try {
            const code = codeFromRedirect(params, authorization);
            signal.removeEventListener('abort', stop);
            resolve(code);
            return { status: 200, text: 'Signed in. You can close this page.' };
          } catch (error) {
            // Anyone can open this address; only X's own refusal with the right state ends the wait.
            if (error instanceof ToolError && error.code === 'x_forbidden') {
              reject(error);
              return { status: 200, text: 'Access was not granted. You can close this page.' };
            }
            return { status: 400, text: 'This address does not belong to the sign-in in progress.' };
          }
        };
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) =>
      reject(
        new ToolError(
          'unavailable',
          `Cannot listen on ${host}:${port}; set auth.callback_port or use paste mode`,
          { cause: error },
        ),
      ),
    );
    server.listen(port, host, resolve);
  });
}

/** Without it X gives no refresh token and the sign-in ends after two hours. */
const STAY_SIGNED_IN = 'offline.access';

/** Every scope some tool needs: what `auth x` asks for by default. */
export const wantedScopes = (): readonly string[] =>
  [...new Set([...ALL_ENDPOINTS.flatMap((endpoint) => endpoint.scopes), STAY_SIGNED_IN])].sort();

export const missingFrom = (granted: readonly string[]): readonly string[] =>
  wantedScopes().filter((scope) => !granted.includes(scope));

export interface SignInOptions {
  readonly app: OAuthApp;
  readonly dataDir: string;
  /** Fewer scopes than all, if the person asked for fewer. */
  readonly scopes?: readonly string[];
  readonly signal: AbortSignal;
  /** Tests send the person elsewhere. */
  readonly authorizeUrl?: string;
}

export interface SignInResult {
  readonly tokens: Tokens;
  /** What some tools will miss. */
  readonly missing: readonly string[];
}

/** The browser is redirected automatically. */
export async function signInByCallback(
  options: SignInOptions & { readonly host: string; readonly port: number; open(url: string): void },
): Promise<SignInResult> {
  const callback = await listenForCallback(options.host, options.port);
  try {
    const authorization = begin(options, callback.redirectUri);
    options.open(authorization.url);
    return await finish(options, authorization, await callback.wait(authorization, options.signal));
  } finally {
    await callback.close();
  }
}

/** The person pastes the address the browser ended on. */
export async function signInByPaste(
  options: SignInOptions & { readonly redirectUri: string; ask(url: string): Promise<string> },
): Promise<SignInResult> {
  const authorization = begin(options, options.redirectUri);
  const pasted = await options.ask(authorization.url);
  return finish(options, authorization, codeFromPaste(pasted, authorization));
}

function begin(options: SignInOptions, redirectUri: string): Authorization {
  const offered = wantedScopes();
  const scopes = options.scopes ?? offered;
  const unknown = scopes.filter((scope) => !offered.includes(scope));
  if (unknown.length > 0) {
    throw new ToolError(
      'invalid_input',
      `Unknown scope ${unknown.join(', ')}; the tools use ${offered.join(', ')}`,
    );
  }
  return beginAuthorization({
    clientId: options.app.clientId,
    scopes,
    redirectUri,
    ...(options.authorizeUrl ? { authorizeUrl: options.authorizeUrl } : {}),
  });
}

async function finish(
  options: SignInOptions,
  authorization: Authorization,
  code: string,
): Promise<SignInResult> {
  const { verifier, redirectUri } = authorization;
  const tokens = await exchangeCode(options.app, { code, verifier, redirectUri }, options.signal);
  await new TokenFile(options.dataDir).write(tokens);
  return { tokens, missing: missingFrom(tokens.scopes) };
}

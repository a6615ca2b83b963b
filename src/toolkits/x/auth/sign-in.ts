import { ToolFault } from '../../../contract/faults.ts';
import { type Authorization, beginAuthorization, codeFromPaste } from './authorize.ts';
import { listenForCallback } from './callback.ts';
import { missingFrom, wantedScopes } from './scopes.ts';
import { exchangeCode, type OAuthApp } from './token-endpoint.ts';
import { TokenFile, type Tokens } from './token-file.ts';

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

/** The browser comes back by itself. */
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
    throw new ToolFault(
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

import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type {
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { ToolError } from '../contract/errors.ts';
import { makeFolder } from '../lib/file-error.ts';
import { lookup } from '../lib/lookup.ts';

/** What one sign-in left: the client we registered, its tokens, and where they came from. */
interface Login {
  readonly client?: StoredOAuthClientInformation | undefined;
  readonly tokens?: StoredOAuthTokens | undefined;
  readonly discovery?: OAuthDiscoveryState | undefined;
}

/** Tokens by the address they were given for, in a file that its owner alone can read. No other address gets them. */
export class TokenStore {
  readonly path: string;

  constructor(dataDir: string) {
    this.path = join(dataDir, 'server-tokens.json');
  }

  get(url: string): Login | undefined {
    const all = this.#read();
    return lookup(all, url);
  }

  set(url: string, login: Login): void {
    this.#write({ ...this.#read(), [url]: login });
  }

  /** False when there was none. */
  remove(url: string): boolean {
    const { [url]: removed, ...rest } = this.#read();
    if (removed) this.#write(rest);
    return removed !== undefined;
  }

  #read(): Record<string, Login> {
    return existsSync(this.path) ? JSON.parse(readFileSync(this.path, 'utf8')) : {};
  }

  /** Written next to it and moved, so that a crash leaves the old file or the new one. */
  #write(all: Record<string, Login>): void {
    makeFolder(join(this.path, '..'), 0o700);
    const next = `${this.path}.${process.pid}.new`;
    writeFileSync(next, `${JSON.stringify(all, null, 2)}\n`, { mode: 0o600 });
    renameSync(next, this.path);
  }
}

interface SignIn {
  /** Where the authorization server sends the browser back to. */
  readonly redirectUrl: string;
  readonly clientId: string | undefined;
  readonly scope: string | undefined;
  /** Shows a person the address to open. */
  open(url: URL): void;
}

/**
 * The client side of OAuth 2.1 for one server. Without a sign-in under way it uses and refreshes what is stored; when
 * that no longer works only a person can help.
 */
export class ServerAuthorization implements OAuthClientProvider {
  readonly #store: TokenStore;
  readonly #server: string;
  readonly #url: string;
  readonly #signIn: SignIn | undefined;
  #login: Login;
  #verifier = '';
  #expectedState = '';

  constructor(store: TokenStore, server: string, url: string, signIn?: SignIn) {
    this.#store = store;
    this.#server = server;
    this.#url = url;
    this.#signIn = signIn;
    // A sign-in starts from nothing: the redirect address of an earlier registration is another one.
    this.#login = signIn ? { client: signIn.clientId ? { client_id: signIn.clientId } : undefined } : {};
  }

  /** Values that must not leave this process. */
  get secrets(): string[] {
    const { access_token: access, refresh_token: refresh } = this.#current().tokens ?? {};
    return [access, refresh].filter((one) => one !== undefined);
  }

  /** Without one the SDK would take us for a service that signs in without a person. */
  get redirectUrl(): string {
    return this.#signIn?.redirectUrl ?? 'http://127.0.0.1/callback';
  }

  get clientMetadata(): OAuthClientMetadata {
    return {
      client_name: 'Countersign',
      redirect_uris: [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      ...(this.#signIn?.scope === undefined ? {} : { scope: this.#signIn.scope }),
    };
  }

  state(): string {
    this.#expectedState = randomBytes(24).toString('base64url');
    return this.#expectedState;
  }

  isExpected(state: string | null): boolean {
    return this.#expectedState !== '' && state === this.#expectedState;
  }

  clientInformation(): StoredOAuthClientInformation | undefined {
    return this.#current().client;
  }

  saveClientInformation(client: StoredOAuthClientInformation): void {
    this.#save({ client });
  }

  tokens(): StoredOAuthTokens | undefined {
    return this.#current().tokens;
  }

  saveTokens(tokens: StoredOAuthTokens): void {
    this.#save({ tokens });
    // Only a sign-in that ended well replaces what was stored.
    this.#store.set(this.#url, this.#login);
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#current().discovery;
  }

  saveDiscoveryState(discovery: OAuthDiscoveryState): void {
    this.#save({ discovery });
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  redirectToAuthorization(url: URL): void {
    if (!this.#signIn)
      throw new ToolError(
        'server_unavailable',
        `The server ${this.#server} no longer accepts its token. Sign in with: countersign servers login ${this.#server}`,
        { effect: 'none' },
      );
    this.#signIn.open(url);
  }

  /** Another process may have refreshed the tokens since. */
  #current(): Login {
    if (!this.#signIn) this.#login = this.#store.get(this.#url) ?? {};
    return this.#login;
  }

  #save(part: Login): void {
    this.#login = { ...this.#current(), ...part };
    if (!this.#signIn) this.#store.set(this.#url, this.#login);
  }
}

import { createServer } from 'node:http';
import { type AddressInfo, isIP } from 'node:net';
import { auth } from '@modelcontextprotocol/client';
import { ServerAuthorization, TokenStore } from './oauth.ts';

/** How long a person may take in the browser. */
const WAIT_MS = 10 * 60_000;

export interface LoginOptions {
  readonly dataDir: string;
  readonly server: string;
  readonly url: string;
  readonly clientId?: string | undefined;
  readonly scope?: string | undefined;
  /** For a client that was registered with a fixed redirect address. */
  readonly port?: number | undefined;
  readonly signal?: AbortSignal;
  open(url: URL): void;
}

/** Signs in to a server with OAuth 2.1 and PKCE; the browser comes back to a port of this machine. Returns the store's path. */
export async function signIn(options: LoginOptions): Promise<string> {
  const { dataDir, server, url, clientId, scope, open } = options;
  const store = new TokenStore(dataDir);
  let receive: (callback: URL) => boolean = () => false;
  const http = createServer((request, response) => {
    const callback = new URL(request.url ?? '/', 'http://127.0.0.1');
    const accepted = request.method === 'GET' && callback.pathname === '/callback' && receive(callback);
    response
      .writeHead(accepted ? 200 : 400, { 'content-type': 'text/plain; charset=utf-8' })
      .end(accepted ? 'Signed in. You can close this window.\n' : 'This is not the answer to a sign-in.\n');
  });
  await new Promise<void>((resolve, reject) => {
    http.once('error', reject).listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  try {
    const { port } = http.address() as AddressInfo;
    const redirectUrl = `http://127.0.0.1:${port}/callback`;
    const provider = new ServerAuthorization(store, server, url, { redirectUrl, clientId, scope, open });
    const answer = new Promise<URL>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error('No one signed in within 10 minutes.')), WAIT_MS);
      late.unref();
      options.signal?.addEventListener('abort', () => reject(options.signal?.reason), { once: true });
      receive = (callback) => {
        // Any page can send the browser here: only the answer to our own question counts.
        if (!provider.isExpected(callback.searchParams.get('state'))) return false;
        clearTimeout(late);
        resolve(callback);
        return true;
      };
    });
    answer.catch(() => {});
    if ((await auth(provider, { serverUrl: url, scope, forceReauthorization: true })) === 'AUTHORIZED')
      return store.path;
    const { searchParams } = await answer;
    const authorizationCode = searchParams.get('code');
    if (authorizationCode === null) {
      const why = searchParams.get('error_description') ?? searchParams.get('error') ?? 'no code';
      throw new Error(`The authorization server refused: ${why.slice(0, 300)}`);
    }
    await auth(provider, { serverUrl: url, authorizationCode, iss: searchParams.get('iss') ?? undefined });
    return store.path;
  } finally {
    http.close();
    http.closeAllConnections();
  }
}

/** Tokens travel in the clear over plain HTTP; only this machine may see that. */
export function isSafeForTokens(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:') return true;
  return (
    hostname === 'localhost' || (isIP(hostname) === 4 && hostname.startsWith('127.')) || hostname === '[::1]'
  );
}

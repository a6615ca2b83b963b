import { execFile } from 'node:child_process';
import { createInterface } from 'node:readline/promises';
import { CliError, type CommandApp, type CommandHost } from '../../../contract/command.ts';
import { ToolError } from '../../../contract/errors.ts';
import { print, printJson, printStderr } from '../../../terminal/output.ts';
import { plainText } from '../../../terminal/text.ts';
import type { OAuthApp } from '../auth/token-endpoint.ts';
import type { Tokens } from '../auth/user-tokens.ts';
import { auth, xApi } from '../config.ts';
import type { XServices } from '../services.ts';

export interface SignInFlags {
  readonly paste?: boolean;
  readonly scopes?: string;
  readonly port?: string;
  readonly browser?: boolean;
}

/** How the person is reached; tests answer in their place. */
interface SignInPorts {
  open(url: string): void;
  ask(question: string): Promise<string>;
  readonly authorizeUrl?: string;
}

const WAIT_MS = 300_000;

/** Signs in to X by OAuth 2.0 with PKCE: the browser returns to a local callback, or the person pastes the final URL. */
export function authX(host: CommandHost, flags: SignInFlags, ports?: Partial<SignInPorts>): Promise<void> {
  return host.open(async (app) => {
    const settings = app.section(xApi);
    const { mode, callback_host, callback_port } = app.section(auth);
    const port = flags.port === undefined ? callback_port : portOf(flags.port);
    const person = { ...terminal(app, flags), ...ports };
    const redirectUri = `http://${callback_host}:${port}/callback`;
    const { signInByCallback, signInByPaste } = await import('../auth/sign-in.ts');
    const options = {
      app: appOf(app, redirectUri),
      dataDir: app.dataDir,
      scopes: await scopesOf(flags.scopes),
      signal: AbortSignal.timeout(WAIT_MS),
      authorizeUrl: person.authorizeUrl ?? settings.authorize_url,
    };
    const signIn =
      flags.paste || (mode === 'manual' && flags.port === undefined)
        ? signInByPaste({
            ...options,
            redirectUri,
            ask: (url) => person.ask(`Open this URL and allow access:\n\n${url}\n\n${PASTE}`),
          })
        : signInByCallback({
            ...options,
            host: callback_host,
            port,
            open(url) {
              printStderr(`Open this URL and allow access within 5 minutes:\n\n${url}\n`);
              person.open(url);
            },
          });
    const { tokens, missing } = await signIn.catch(inPlainWords);
    const account = await rememberAccount(app, tokens);
    await app.note('config', { x_signed_in: { user_id: account?.id ?? '', scopes: [...tokens.scopes] } });
    const backend = settings.provider_backend;
    if (host.options.json)
      return printJson({
        signed_in: true,
        account: account ?? null,
        scopes: tokens.scopes,
        missing_scopes: missing,
        expires_at: tokens.expires_at,
        renewable: tokens.refresh_token !== undefined,
      });
    print(account ? `Signed in to X as @${plainText(account.username)}.` : 'Signed in to X.');
    if (!tokens.refresh_token)
      print(
        `The sign-in expires at ${tokens.expires_at}. Without the scope offline.access it cannot be renewed.`,
      );
    if (missing.length > 0)
      print(`Scopes not granted: ${missing.join(', ')}. Tools that need them fail with x_forbidden.`);
    if (backend !== '' && backend !== 'x_api')
      print(
        `The account is not in use: x_api.provider_backend is "${backend}". Unset it to use the account.`,
      );
    print('Run `countersign x status` to see what the account is allowed to do.');
  });
}

/** The hints that go with a code are about tools; here the message says it all. */
function inPlainWords(error: unknown): never {
  throw error instanceof ToolError ? new CliError(`${error.message}.`) : error;
}

const PASTE =
  'The browser then shows a URL that does not load. Paste the complete URL here (or the code in it): ';

function appOf(app: CommandApp, redirectUri: string): OAuthApp {
  const { client_id, client_secret, api_base_url } = app.section(xApi);
  if (!client_id)
    throw new CliError(
      `No X app is configured for signing in. Create one at https://developer.x.com with the redirect URL ${redirectUri}, then set its OAuth 2.0 client ID in ${app.kernel.config.path}:\n\n[x_api]\nclient_id = "…"`,
    );
  return {
    clientId: client_id,
    ...(client_secret ? { clientSecret: client_secret } : {}),
    origin: api_base_url ?? 'https://api.x.com',
    now: app.now,
  };
}

async function scopesOf(list: string | undefined): Promise<string[] | undefined> {
  if (list === undefined) return undefined;
  const { wantedScopes } = await import('../auth/sign-in.ts');
  const offered = wantedScopes();
  const scopes = list.split(/[\s,]+/).filter((scope) => scope !== '');
  const unknown = scopes.filter((scope) => !offered.includes(scope));
  if (scopes.length === 0 || unknown.length > 0)
    throw new CliError(
      `${unknown.length > 0 ? `No tool uses ${unknown.join(', ')}.` : 'No scope was given.'} Available scopes: ${offered.join(', ')}.`,
      2,
    );
  return scopes;
}

function portOf(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new CliError(`Invalid port "${text}". Use a number from 1 to 65535.`, 2);
  return port;
}

/** Whose tokens these are. X not answering now does not undo the sign-in. */
async function rememberAccount(app: CommandApp, tokens: Tokens): Promise<Tokens['user']> {
  try {
    const services = await app.services<XServices>();
    const x = await services.x();
    if (x.provider.backend !== 'x_api') return undefined;
    const { id, username } = await x.me();
    const { TokenFile } = await import('../auth/user-tokens.ts');
    const file = new TokenFile(app.dataDir);
    // The token may have been renewed since then, so the file is read again.
    await file.write({ ...((await file.read()) ?? tokens), user: { id, username } });
    return { id, username };
  } catch (error) {
    printStderr(
      `Warning: could not read the account yet: ${error instanceof Error ? error.message : String(error)}`,
    );
    return undefined;
  }
}

function terminal({ env }: CommandApp, flags: SignInFlags): SignInPorts {
  return {
    open(url) {
      const command =
        process.platform === 'darwin' ? 'open' : env.DISPLAY || env.WAYLAND_DISPLAY ? 'xdg-open' : undefined;
      if (flags.browser !== false && command) execFile(command, [url], () => {});
    },
    async ask(question) {
      const lines = createInterface({ input: process.stdin, output: process.stderr });
      try {
        const ended = new Promise<never>((_, reject) =>
          lines.once('close', () => reject(new CliError('Not signed in: no URL or code was pasted.'))),
        );
        return await Promise.race([lines.question(question), ended]);
      } finally {
        lines.close();
      }
    },
  };
}

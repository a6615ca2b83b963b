import { execFile } from 'node:child_process';
import { createInterface } from 'node:readline/promises';
import type { App } from '../../app.ts';
import { ToolFault } from '../../contract/faults.ts';
import { principalName } from '../../contract/principal.ts';
import type { OAuthApp } from '../../toolkits/x/auth/token-endpoint.ts';
import type { Tokens } from '../../toolkits/x/auth/token-file.ts';
import { auth, xApi } from '../../toolkits/x/config.ts';
import type { XServices } from '../../toolkits/x/services.ts';
import { CliError, type GlobalOptions, withApp } from '../context.ts';
import { complain, print, printJson } from '../output.ts';
import { plainText } from '../plain-text.ts';

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

/** Signs in to X by OAuth 2.0 with PKCE: the browser comes back by itself, or the person pastes where it ended. */
export function authX(
  global: GlobalOptions,
  flags: SignInFlags,
  ports?: Partial<SignInPorts>,
): Promise<void> {
  return withApp(global, async (app) => {
    const settings = app.config.section(xApi);
    const { mode, callback_host, callback_port } = app.config.section(auth);
    const port = flags.port === undefined ? callback_port : portOf(flags.port);
    const person = { ...terminal(app, flags), ...ports };
    const redirectUri = `http://${callback_host}:${port}/callback`;
    const { signInByCallback, signInByPaste } = await import('../../toolkits/x/auth/sign-in.ts');
    const options = {
      app: appOf(app, redirectUri),
      dataDir: app.config.dataDir,
      scopes: await scopesOf(flags.scopes),
      signal: AbortSignal.timeout(WAIT_MS),
      authorizeUrl: person.authorizeUrl,
    };
    const signIn =
      flags.paste || (mode === 'manual' && flags.port === undefined)
        ? signInByPaste({
            ...options,
            redirectUri,
            ask: (url) => person.ask(`Open this address and allow access:\n\n${url}\n\n${PASTE}`),
          })
        : signInByCallback({
            ...options,
            host: callback_host,
            port,
            open(url) {
              complain(`Open this address and allow access (it waits five minutes):\n\n${url}\n`);
              person.open(url);
            },
          });
    const { tokens, missing } = await signIn.catch(inPlainWords);
    const account = await rememberAccount(app, tokens);
    await app.kernel.note({
      kind: 'config',
      principal: principalName(app.person),
      extra: { x_signed_in: { user_id: account?.id ?? '', scopes: [...tokens.scopes] } },
    });
    const backend = settings.provider_backend;
    if (global.json)
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
        `The sign-in ends at ${tokens.expires_at}: without the scope offline.access it cannot be renewed.`,
      );
    if (missing.length > 0)
      print(`Not granted: ${missing.join(', ')}. Tools that need them answer x_forbidden.`);
    if (backend !== '' && backend !== 'x_api')
      print(`x_api.provider_backend is "${backend}", so the account is not used; unset it to change that.`);
    print('`countersign x status` shows what the account may do.');
  });
}

/** The hints that go with a code are about tools; here the message says it all. */
function inPlainWords(error: unknown): never {
  throw error instanceof ToolFault ? new CliError(`${error.message}.`) : error;
}

const PASTE =
  'The browser then ends on an address that does not load. Paste that whole address here (or the code in it): ';

function appOf(app: App, redirectUri: string): OAuthApp {
  const { client_id, client_secret, api_base_url } = app.config.section(xApi);
  if (!client_id)
    throw new CliError(
      `There is no X app to sign in with. Create one at https://developer.x.com with the redirect address ${redirectUri}, then put its OAuth 2.0 client id in ${app.config.path}:\n\n[x_api]\nclient_id = "…"`,
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
  const { wantedScopes } = await import('../../toolkits/x/auth/scopes.ts');
  const offered = wantedScopes();
  const scopes = list.split(/[\s,]+/).filter((scope) => scope !== '');
  const unknown = scopes.filter((scope) => !offered.includes(scope));
  if (scopes.length === 0 || unknown.length > 0)
    throw new CliError(
      `${unknown.length > 0 ? `No tool uses ${unknown.join(', ')}.` : 'No scope is named.'} Known: ${offered.join(', ')}.`,
      2,
    );
  return scopes;
}

function portOf(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new CliError(`"${text}" is not a port; use a number from 1 to 65535.`, 2);
  return port;
}

/** Whose tokens these are. X not answering now does not undo the sign-in. */
async function rememberAccount(app: App, tokens: Tokens): Promise<Tokens['user']> {
  try {
    const { services } = await app.inventory.load('x');
    const x = await ((await services()) as XServices).x();
    if (x.provider.backend !== 'x_api') return undefined;
    const { id, username } = await x.me();
    const { TokenFile } = await import('../../toolkits/x/auth/token-file.ts');
    const file = new TokenFile(app.config.dataDir);
    // X may have refused and renewed the token meanwhile; what is in the file now is what counts.
    await file.write({ ...((await file.read()) ?? tokens), user: { id, username } });
    return { id, username };
  } catch (error) {
    complain(`The account could not be read yet: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

function terminal({ env }: App, flags: SignInFlags): SignInPorts {
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
          lines.once('close', () => reject(new CliError('Nothing was pasted; you are not signed in.'))),
        );
        return await Promise.race([lines.question(question), ended]);
      } finally {
        lines.close();
      }
    },
  };
}

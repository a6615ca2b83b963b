import { execFile } from 'node:child_process';
import { CliError, type GlobalOptions } from '../../contract/command.ts';
import { isSafeForTokens, signIn } from '../../gateway/login.ts';
import { TokenStore } from '../../gateway/oauth.ts';
import { lookup } from '../../lib/lookup.ts';
import { print, printJson, printStderr } from '../../terminal/output.ts';
import { withApp } from '../context.ts';
import { requireServer } from './servers.ts';

interface LoginOptions {
  readonly clientId?: string;
  readonly scope?: string;
  readonly port?: string;
  readonly browser?: boolean;
  readonly remove?: boolean;
}

/** Signs in to a server that wants OAuth. With a URL also before it is added, because adding lists its tools. */
export function loginServer(
  global: GlobalOptions,
  name: string,
  address: string | undefined,
  options: LoginOptions,
): Promise<void> {
  return withApp(global, async (app) => {
    if (address === undefined) await requireServer(app, name);
    const configured = lookup(app.config.servers, name)?.url;
    const url = address ?? configured;
    if (url === undefined || !URL.canParse(url))
      throw new CliError(`The server ${name} has no URL. Only servers that are reached by URL use OAuth.`, 2);
    if (options.remove) return removeLogin(global, app.config.dataDir, name, url);
    if (!isSafeForTokens(url))
      throw new CliError(`${url} is not encrypted; a token sent there could be read. Use https.`, 2);
    const { env } = app;
    const opener =
      process.platform === 'darwin' ? 'open' : env.DISPLAY || env.WAYLAND_DISPLAY ? 'xdg-open' : undefined;
    const path = await signIn({
      dataDir: app.config.dataDir,
      server: name,
      url,
      clientId: options.clientId,
      scope: options.scope,
      port: options.port === undefined ? undefined : Number(options.port),
      open: (link) => {
        printStderr(`Open this address to sign in:\n${link.href}`);
        if (options.browser !== false && opener) execFile(opener, [link.href], () => {});
      },
    }).catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      throw new CliError(`Sign-in to ${name} failed: ${why}`);
    });
    if (global.json) return printJson({ name, url, tokens: path });
    print(`Signed in to ${name}. The tokens are stored in ${path}.`);
  });
}

function removeLogin(global: GlobalOptions, dataDir: string, name: string, url: string): void {
  const removed = new TokenStore(dataDir).remove(url);
  if (global.json) printJson({ name, url, removed });
  else print(removed ? `Deleted the tokens for ${name}.` : `No tokens are stored for ${name}.`);
}

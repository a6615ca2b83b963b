import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from '../../app.ts';
import { ToolFault } from '../../contract/faults.ts';
import type { JsonObject } from '../../contract/json.ts';
import { principalName } from '../../contract/principal.ts';
import { TokenFile, type Tokens } from '../../toolkits/x/auth/token-file.ts';
import { xApi } from '../../toolkits/x/config.ts';
import { act, ask } from '../act.ts';
import { CliError, type GlobalOptions, withApp } from '../context.ts';
import { print, printJson } from '../output.ts';
import { plainText } from '../plain-text.ts';

interface Capabilities {
  readonly tier: string;
  readonly can_reply: boolean;
  readonly can_post: boolean;
  readonly can_search: boolean;
  readonly can_read_mentions: boolean;
  readonly can_use_ads: boolean;
  readonly can_use_app_only: boolean;
  readonly granted_scopes: readonly string[];
  readonly missing_scopes: readonly string[];
  readonly token_expires_at: string | null;
  readonly mode: string;
  readonly approval_mode: boolean;
  readonly llm_configured: boolean;
  readonly provider: { readonly backend: string; readonly note: string };
  readonly problems: readonly { readonly code: string; readonly message: string }[];
}

/** Which account and provider are used, and what they allow. */
export function xStatus(global: GlobalOptions): Promise<void> {
  return withApp(global, async (app) => {
    const able = await ask<Capabilities>(app, 'get_capabilities', {});
    const tokens = await readTokens(app.config.dataDir);
    const me = able.problems.length === 0 ? await whoami(app) : undefined;
    const signedIn = tokens !== undefined;
    if (global.json)
      return printJson({
        signed_in: signedIn,
        signed_in_at: tokens?.authorized_at ?? null,
        renewable: tokens?.refresh_token !== undefined,
        account: me ?? tokens?.user ?? null,
        ...able,
      });
    const account = me ?? tokens?.user;
    const row = (name: string, value: string): void => print(`${name.padEnd(14)} ${plainText(value)}`);
    row('Provider', `${able.provider.backend}. ${able.provider.note}`);
    row('Account', account ? `@${account.username} (${account.id})` : 'none');
    if (tokens)
      row('Signed in', `${tokens.authorized_at}${tokens.refresh_token ? ', renewed by itself' : ''}`);
    if (able.token_expires_at) row('Token until', able.token_expires_at);
    row('Plan', able.tier);
    row('Can', abilities(able).join(', ') || 'nothing yet');
    if (signedIn) row('Missing scopes', able.missing_scopes.join(', ') || 'none');
    row('Mode', `${able.mode}${able.approval_mode ? ', every change asks first' : ''}`);
    row('Writing help', able.llm_configured ? 'configured' : 'not configured ([llm])');
    for (const { code, message } of able.problems) row('Problem', `${message} (${code})`);
    if (!signedIn && ['', 'x_api'].includes(app.config.section(xApi).provider_backend))
      print('\nNobody is signed in. `countersign auth x` connects your account.');
    if (signedIn && able.missing_scopes.length > 0)
      print('\n`countersign auth x` asks for all scopes again.');
    if (able.problems.length > 0) process.exitCode = 1;
  });
}

/** Forgets the tokens on this machine. */
export function signOut(global: GlobalOptions): Promise<void> {
  return withApp(global, async (app) => {
    const file = mustBeSignedIn(app);
    await undisturbed(app, () => forget(app, file, { x_signed_out: true }));
    if (global.json) return printJson({ signed_in: false });
    print('Signed out: the tokens are gone from this machine.');
    print('X would still take them: `countersign x revoke` ends the access there too, before signing out.');
    sayWhatIsUsedNow(app);
  });
}

/** Ends the access at X and forgets the tokens. What X did not take back is not forgotten either. */
export function revokeAccess(global: GlobalOptions): Promise<void> {
  return withApp(global, async (app) => {
    const file = mustBeSignedIn(app);
    await undisturbed(app, async () => {
      const tokens = await file.read();
      if (tokens) await takeBack(app, tokens);
      await forget(app, file, { x_revoked: true });
    });
    if (global.json) return printJson({ signed_in: false, revoked: true });
    print('Revoked: X no longer takes the tokens, and they are gone from this machine.');
    sayWhatIsUsedNow(app);
  });
}

async function takeBack(app: App, tokens: Tokens): Promise<void> {
  const { client_secret, api_base_url } = app.config.section(xApi);
  const { revokeTokens } = await import('../../toolkits/x/auth/token-endpoint.ts');
  const x = {
    clientId: tokens.client_id,
    ...(client_secret ? { clientSecret: client_secret } : {}),
    origin: api_base_url ?? 'https://api.x.com',
    now: app.now,
  };
  try {
    await revokeTokens(x, tokens);
  } catch (error) {
    if (!(error instanceof ToolFault)) throw error;
    throw new CliError(
      `X did not take the tokens back: ${error.message}. They are still here; try again, or forget them with \`countersign auth x sign-out\` and remove the app under Settings, Connected apps on x.com.`,
    );
  }
}

/** A server that runs meanwhile may be refreshing the very tokens that are to go. */
async function undisturbed(app: App, work: () => Promise<void>): Promise<void> {
  const { whileNobodyRefreshes } = await import('../../toolkits/x/auth/user-tokens.ts');
  await whileNobodyRefreshes({ leases: app.kernel.leases, sleep: (ms) => sleep(ms) }, work);
}

function mustBeSignedIn(app: App): TokenFile {
  const file = new TokenFile(app.config.dataDir);
  if (!existsSync(file.path)) throw new CliError('Nobody is signed in to X here.');
  return file;
}

async function forget(app: App, file: TokenFile, extra: JsonObject): Promise<void> {
  await file.remove();
  await app.kernel.note({ kind: 'config', principal: principalName(app.person), extra });
}

function sayWhatIsUsedNow(app: App): void {
  if (app.config.section(xApi).provider_backend === '')
    print('From now on the local sandbox is used; set x_api.provider_backend = "x_api" to prevent that.');
}

/** A damaged token file is a problem that get_capabilities names; here it only means nobody is known. */
const readTokens = (dataDir: string) => new TokenFile(dataDir).read().catch(() => undefined);

async function whoami(app: Parameters<typeof act>[0]): Promise<{ id: string; username: string } | undefined> {
  const { outcome } = await act(app, 'x_get_me', {});
  if (outcome.status !== 'ok') return undefined;
  const { id, username } = outcome.data as { id: string; username: string };
  return { id, username };
}

const abilities = (able: Capabilities): string[] =>
  [
    able.can_post && 'post',
    able.can_reply && 'reply',
    able.can_search && 'search',
    able.can_read_mentions && 'read mentions',
    able.can_use_ads && 'ads',
    able.can_use_app_only && 'app-only requests',
  ].filter((text) => text !== false);

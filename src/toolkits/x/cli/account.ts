import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { CliError, type CommandApp, type CommandHost, type DataOf } from '../../../contract/command.ts';
import { ToolError } from '../../../contract/errors.ts';
import type { JsonObject } from '../../../contract/json.ts';
import { print, printJson } from '../../../terminal/output.ts';
import { plainText } from '../../../terminal/text.ts';
import { TokenFile, type Tokens } from '../auth/user-tokens.ts';
import { xApi } from '../config.ts';
import { ADS_HOST, API_HOST } from '../endpoints/endpoint.ts';
import { xGetMe } from '../tools/read-users.ts';
import { getCapabilities } from '../tools/status.ts';

/** Which account and provider are used, and what they allow. */
export function xStatus(host: CommandHost): Promise<void> {
  return host.open(async (app) => {
    const able = await app.ask(getCapabilities, {});
    const tokens = await readTokens(app.dataDir);
    const me = able.problems.length === 0 ? await whoami(app) : undefined;
    const signedIn = tokens !== undefined;
    if (host.options.json)
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
    const { api_base_url, ads_base_url } = app.section(xApi);
    const foreign = (name: string, address: string | undefined, host: string): void => {
      if (address && new URL(address).host !== host) row(name, `${address} (not X's own)`);
    };
    foreign('API address', api_base_url, API_HOST);
    foreign('Ads address', ads_base_url, ADS_HOST);
    row('Account', account ? `@${account.username} (${account.id})` : 'none');
    if (tokens)
      row('Signed in', `${tokens.authorized_at}${tokens.refresh_token ? ', renews automatically' : ''}`);
    if (able.token_expires_at) row('Token expires', able.token_expires_at);
    row('Plan', able.tier);
    row('Allowed', abilities(able).join(', ') || 'nothing yet');
    if (signedIn) row('Missing scopes', able.missing_scopes.join(', ') || 'none');
    row('Mode', `${able.mode}${able.approval_mode ? ', every change requires approval' : ''}`);
    row(
      'Writing model',
      able.llm_configured ? 'configured' : 'not configured (set `llm` in the configuration)',
    );
    for (const { code, message } of able.problems) row('Problem', `${message} (${code})`);
    if (!signedIn && ['', 'x_api'].includes(app.section(xApi).provider_backend))
      print('\nNot signed in. Run `countersign auth x` to connect your account.');
    if (signedIn && able.missing_scopes.length > 0)
      print('\nRun `countersign auth x` to request all scopes again.');
    if (able.problems.length > 0) process.exitCode = 1;
  });
}

/** Deletes the tokens on this machine. */
export function signOut(host: CommandHost): Promise<void> {
  return host.open(async (app) => {
    const file = mustBeSignedIn(app);
    await withRefreshLock(app, () => forget(app, file, { x_signed_out: true }));
    if (host.options.json) return printJson({ signed_in: false });
    print('Signed out. The tokens were deleted from this machine.');
    print('X still accepts them. To revoke access at X too, run `countersign x revoke` before signing out.');
    sayWhatIsUsedNow(app);
  });
}

/** Revokes access at X, then deletes the tokens. Tokens that X did not revoke are kept. */
export function revokeAccess(host: CommandHost): Promise<void> {
  return host.open(async (app) => {
    const file = mustBeSignedIn(app);
    await withRefreshLock(app, async () => {
      const tokens = await file.read();
      if (tokens) await revokeTokens(app, tokens);
      await forget(app, file, { x_revoked: true });
    });
    if (host.options.json) return printJson({ signed_in: false, revoked: true });
    print('Revoked. X no longer accepts the tokens, and they were deleted from this machine.');
    sayWhatIsUsedNow(app);
  });
}

async function revokeTokens(app: CommandApp, tokens: Tokens): Promise<void> {
  const { client_secret, api_base_url } = app.section(xApi);
  const { revokeTokens } = await import('../auth/token-endpoint.ts');
  const x = {
    clientId: tokens.client_id,
    ...(client_secret ? { clientSecret: client_secret } : {}),
    origin: api_base_url ?? 'https://api.x.com',
    now: app.now,
  };
  try {
    await revokeTokens(x, tokens);
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    throw new CliError(
      `X did not revoke the tokens: ${error.message}. They are still stored here. Try again, or delete them with \`countersign auth x sign-out\` and remove the app on x.com under Settings > Connected apps.`,
    );
  }
}

/** A running server may be refreshing the tokens that are about to be deleted. */
async function withRefreshLock(app: CommandApp, work: () => Promise<void>): Promise<void> {
  const { whileNobodyRefreshes } = await import('../auth/user-tokens.ts');
  await whileNobodyRefreshes({ leases: app.kernel.leases, sleep: (ms) => sleep(ms) }, work);
}

function mustBeSignedIn(app: CommandApp): TokenFile {
  const file = new TokenFile(app.dataDir);
  if (!existsSync(file.path)) throw new CliError('Not signed in to X.');
  return file;
}

async function forget(app: CommandApp, file: TokenFile, extra: JsonObject): Promise<void> {
  await file.remove();
  await app.note('config', extra);
}

function sayWhatIsUsedNow(app: CommandApp): void {
  if (app.section(xApi).provider_backend === '')
    print('The local sandbox is now in use. To prevent this, set x_api.provider_backend = "x_api".');
}

/** A damaged token file is a problem that get_capabilities names; here it only means that the account is unknown. */
const readTokens = (dataDir: string) => new TokenFile(dataDir).read().catch(() => undefined);

async function whoami(app: CommandApp): Promise<{ id: string; username: string } | undefined> {
  const { data } = await app.act(xGetMe, {});
  return data && { id: data.id, username: data.username };
}

const abilities = (able: DataOf<typeof getCapabilities>): string[] =>
  [
    able.can_post && 'post',
    able.can_reply && 'reply',
    able.can_search && 'search',
    able.can_read_mentions && 'read mentions',
    able.can_use_ads && 'ads',
    able.can_use_app_only && 'app-only requests',
  ].filter((text) => text !== false);

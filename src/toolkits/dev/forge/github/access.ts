import { createPrivateKey, createSign } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { ToolError } from '../../../../contract/errors.ts';
import { homePath } from '../../../../lib/file-error.ts';
import type { GithubSettings } from '../../config.ts';
import { createFetch } from './client.ts';

export type GithubAccess =
  | { readonly kind: 'token'; readonly baseUrl: string; readonly token: string }
  | {
      readonly kind: 'app';
      readonly baseUrl: string;
      readonly appId: string;
      readonly privateKey: string;
      readonly installationId: number | undefined;
    };

/** Credentials from the configuration, else from the environment names ToolHub used. An App wins over a token. */
export async function githubAccess(
  settings: GithubSettings,
  env: Readonly<Record<string, string | undefined>>,
): Promise<GithubAccess> {
  const baseUrl = checkAddress(settings.base_url);
  const appId = settings.app_id ?? env.GITHUB_APP_ID;
  if (appId !== undefined && appId !== '') {
    const keyPath = settings.private_key_path ?? env.GITHUB_PRIVATE_KEY_PATH;
    const privateKey = settings.private_key ?? (keyPath ? await readKey(keyPath) : undefined);
    if (!privateKey) {
      throw new ToolError(
        'not_allowed',
        'The GitHub App has no private key. Set dev.github.private_key_path.',
        {
          detail: { reason: 'github_auth_failed' },
        },
      );
    }
    const installation = settings.installation_id ?? Number(env.GITHUB_INSTALLATION_ID || Number.NaN);
    return {
      kind: 'app',
      baseUrl,
      appId: String(appId),
      privateKey,
      installationId: Number.isInteger(installation) ? installation : undefined,
    };
  }
  const token = settings.token ?? env.GITHUB_TOKEN;
  if (!token) {
    throw new ToolError(
      'not_allowed',
      'No credentials for GitHub. Set dev.github.token, or dev.github.app_id with private_key_path.',
      { detail: { reason: 'github_auth_failed' } },
    );
  }
  return { kind: 'token', baseUrl, token };
}

/** Credentials must not travel in clear, except to this machine itself. */
function checkAddress(address: string): string {
  const url = new URL(address);
  const isLoopback = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (url.protocol !== 'https:' && !isLoopback) {
    throw new ToolError('not_allowed', `dev.github.base_url ${url.origin} must begin with https://.`);
  }
  return address.replace(/\/+$/, '');
}

async function readKey(path: string): Promise<string> {
  try {
    return await readFile(homePath(path), 'utf8');
  } catch (cause) {
    throw new ToolError('file_read_error', `Cannot read the private key of the GitHub App at ${path}.`, {
      cause,
    });
  }
}

export interface GithubState {
  readonly ok: boolean;
  readonly detail: string;
  readonly fix?: string;
}

/** Asks GitHub who the credentials belong to and what they may do. For people; nothing secret is in the answer. */
export async function githubState(
  settings: GithubSettings,
  env: Readonly<Record<string, string | undefined>>,
): Promise<GithubState> {
  try {
    const access = await githubAccess(settings, env);
    const send = createFetch(settings.timeout_seconds * 1000);
    const response = await send(`${access.baseUrl}${access.kind === 'app' ? '/app' : '/user'}`, {
      headers: {
        accept: 'application/vnd.github+json',
        'user-agent': 'countersign',
        authorization: `Bearer ${access.kind === 'app' ? appToken(access) : access.token}`,
      },
    });
    const where = new URL(access.baseUrl).host;
    if (response.status === 401)
      return {
        ok: false,
        detail: `${where} does not accept the credentials (401)`,
        fix: access.kind === 'app' ? 'Check dev.github.app_id and its private key.' : 'Renew GITHUB_TOKEN.',
      };
    if (!response.ok)
      return { ok: false, detail: `${where} answered ${response.status}`, fix: 'Check dev.github.base_url.' };
    const body = (await response.json()) as { login?: string; slug?: string };
    return describe(access.kind, where, body, response.headers.get('x-oauth-scopes'));
  } catch (error) {
    return {
      ok: false,
      detail: error instanceof Error ? error.message : String(error),
      fix: 'Check the network, GITHUB_TOKEN and dev.github.',
    };
  }
}

function describe(
  kind: GithubAccess['kind'],
  where: string,
  { login, slug }: { login?: string; slug?: string },
  scopes: string | null,
): GithubState {
  if (kind === 'app') return { ok: true, detail: `signed in to ${where} as the App ${slug ?? ''}` };
  const who = `signed in to ${where} as ${login ?? 'unknown'}`;
  // Fine-grained tokens do not say what they may do.
  if (scopes === null) return { ok: true, detail: `${who}; the token does not list its permissions` };
  const held = scopes.split(',').map((scope) => scope.trim());
  if (held.includes('repo') || held.includes('public_repo'))
    return { ok: true, detail: `${who} with the scopes ${held.join(', ')}` };
  return {
    ok: false,
    detail: `${who}, but the token lacks the scope repo (it has: ${scopes.trim() || 'none'})`,
    fix: 'Create a token with the scope repo, or a fine-grained one with contents, issues and pull requests.',
  };
}

/** A JSON Web Token by which an App names itself, valid for some minutes. */
function appToken({ appId, privateKey }: Extract<GithubAccess, { kind: 'app' }>): string {
  const now = Math.floor(Date.now() / 1000);
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const head = `${part({ alg: 'RS256', typ: 'JWT' })}.${part({ iat: now - 60, exp: now + 300, iss: appId })}`;
  return `${head}.${createSign('RSA-SHA256').update(head).sign(createPrivateKey(privateKey), 'base64url')}`;
}

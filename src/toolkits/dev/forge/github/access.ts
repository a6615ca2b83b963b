import { readFile } from 'node:fs/promises';
import { ToolFault } from '../../../../contract/faults.ts';
import { homePath } from '../../../../lib/home-path.ts';
import type { GithubSettings } from '../../config.ts';

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
      throw new ToolFault(
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
    throw new ToolFault(
      'not_allowed',
      'There are no credentials for GitHub. Set dev.github.token, or dev.github.app_id with private_key_path.',
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
    throw new ToolFault('not_allowed', `dev.github.base_url ${url.origin} must begin with https.`);
  }
  return address.replace(/\/+$/, '');
}

async function readKey(path: string): Promise<string> {
  try {
    return await readFile(homePath(path), 'utf8');
  } catch (cause) {
    throw new ToolFault('file_read_error', `The private key of the GitHub App cannot be read at ${path}.`, {
      cause,
    });
  }
}

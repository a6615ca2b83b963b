import { hash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { App } from '../app/app.ts';
import { CliError } from '../contract/command.ts';
import { readSetting, storeProof, writeSetting } from '../kernel/store/database.ts';
import { httpUrl, localHostOf } from '../lib/http-url.ts';

type Store = Pick<App, 'database' | 'config'>;

const KEY = 'server_url';
const CONFIG_KEY = 'server_config';

/** Where `countersign up` really listens, as a flag may have said another port, and the configuration it has read. */
export async function rememberServer({ database, config }: App, url: string): Promise<void> {
  await writeSetting(database, KEY, url);
  await writeSetting(database, CONFIG_KEY, `${hostname()} ${fingerprint(config.path)}`);
}

/** A configuration is read at start. Undefined unless a server runs here that has read another one than this command. */
export async function outdatedServer(app: App): Promise<string | undefined> {
  const { database, config } = app;
  const stored = await readSetting(database.db, CONFIG_KEY);
  // Machines that share a PostgreSQL store have a configuration each.
  const [host, read] = stored?.split(' ') ?? [];
  if (host !== hostname() || read === fingerprint(config.path)) return undefined;
  const url = await runningServer(app);
  if (url === undefined) return undefined;
  return `The server at ${url} runs with a different configuration from the one now in ${config.path}. Restart it to apply that one.`;
}

const fingerprint = (path: string): string =>
  existsSync(path) ? hash('sha256', readFileSync(path)) : 'defaults';

/** The address of a server on this store that answers now, or undefined. */
export async function runningServer({ database, config }: Store): Promise<string | undefined> {
  const stored = await readSetting(database.db, KEY);
  const configured = httpUrl(config.server.host, config.server.port);
  const prove = await storeProof(database);
  for (const url of new Set([stored ?? configured, configured])) if (await answers(url, prove)) return url;
  return undefined;
}

/** Why the server at that address cannot write evidence, by its own account; undefined when it can or does not say. */
export async function serverEvidenceProblem(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(`${url}/health`, { signal: AbortSignal.timeout(2000) });
    const { evidence } = (await response.json()) as {
      evidence?: { writable?: boolean; waiting?: number; message?: string };
    };
    if (evidence?.writable !== false) return undefined;
    return `The server at ${url} cannot write evidence, and ${evidence.waiting ?? 'some'} calls wait for it. ${evidence.message ?? ''}`.trim();
  } catch {
    return undefined;
  }
}

/** Where agents reach the server: its public address, where it listens now, or where it would. */
export const findServerUrl = async (app: Store): Promise<string | undefined> =>
  (await findPresentUrl(app)) ?? configuredUrl(app.config.server);

/** Its public address, or where it listens now. */
async function findPresentUrl(app: Store): Promise<string | undefined> {
  if (app.config.server.public_url) return configuredUrl(app.config.server);
  const running = await runningServer(app);
  if (running === undefined) return undefined;
  const { hostname: host, port } = new URL(running);
  return httpUrl(localHostOf(host.replace(/^\[|\]$/g, '')), port);
}

/** Where a person finds an approval. Browsers offer passkeys on names only, never on a bare address. */
export const findInboxUrl = async (app: Store, id: number): Promise<string | undefined> =>
  inboxAt(await findServerUrl(app), id);

/** The same, or the whole inbox, where a server runs or has a public address; undefined elsewhere. */
export const findRunningInbox = async (app: Store, id?: number): Promise<string | undefined> =>
  inboxAt(await findPresentUrl(app), id);

const inboxAt = (url: string | undefined, id: number | undefined): string | undefined =>
  url && `${url.replace('//[::1]:', '//localhost:')}/inbox${id === undefined ? '' : `/${id}`}`;

/** Undefined where a free port is selected at start. */
export function configuredUrl({
  host,
  port,
  public_url: publicUrl,
}: App['config']['server']): string | undefined {
  if (publicUrl) return publicUrl.replace(/\/$/, '');
  return port === 0 ? undefined : httpUrl(localHostOf(host), port);
}

export async function requireServerUrl(app: App): Promise<string> {
  const url = await findServerUrl(app);
  if (url === undefined)
    throw new CliError(
      'The address is known only while the server runs, because server.port is 0. Start `countersign up` first.',
    );
  return url;
}

/** What answers at the usual address may well be the server of another data directory, or one that passes for ours. */
async function answers(url: string, prove: (challenge: string) => string): Promise<boolean> {
  const challenge = randomBytes(16).toString('hex');
  try {
    const response = await fetch(`${url}/?challenge=${challenge}`, {
      signal: AbortSignal.timeout(1000),
      headers: { accept: 'application/json' },
    });
    const info: unknown = await response.json();
    return typeof info === 'object' && info !== null && 'store' in info && info.store === prove(challenge);
  } catch {
    return false;
  }
}

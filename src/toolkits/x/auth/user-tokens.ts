import { randomBytes } from 'node:crypto';
import { chmod, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { ToolError } from '../../../contract/errors.ts';
import type { LeasePort } from '../../../contract/ports.ts';
import { makeFolder } from '../../../lib/file-error.ts';
import { XError } from '../errors.ts';

const tokensSchema = z.object({
  access_token: z.string().min(1),
  refresh_token: z.string().min(1).optional(),
  expires_at: z.iso.datetime(),
  scopes: z.array(z.string()),
  client_id: z.string(),
  /** When a person signed in; kept through refreshes, so a new sign-in differs from a refresh. */
  authorized_at: z.iso.datetime(),
  user: z.object({ id: z.string(), username: z.string() }).optional(),
});

export type Tokens = z.output<typeof tokensSchema>;

/** The signed-in user's tokens, readable by the owner alone, replaced whole. */
export class TokenFile {
  readonly path: string;

  constructor(dataDir: string) {
    this.path = join(dataDir, 'x-tokens.json');
  }

  async read(): Promise<Tokens | undefined> {
    let text: string;
    try {
      text = await readFile(this.path, 'utf8');
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw new XError('x_not_configured', `Cannot read the token file ${this.path}`, { cause: error });
    }
    const parsed = tokensSchema.safeParse(tryJson(text));
    if (parsed.success) return parsed.data;
    throw new XError(
      'x_not_configured',
      `The token file ${this.path} is damaged; run \`countersign auth x\` again`,
    );
  }

  async write(tokens: Tokens): Promise<void> {
    makeFolder(dirname(this.path), 0o700);
    const draft = `${this.path}.${randomBytes(6).toString('hex')}`;
    try {
      const file = await open(draft, 'wx', 0o600);
      try {
        await file.writeFile(`${JSON.stringify(tokens, undefined, 2)}\n`);
        // A refresh token works once: losing the new one would end the sign-in.
        await file.sync();
      } finally {
        await file.close();
      }
      await chmod(draft, 0o600);
      await rename(draft, this.path);
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  }

  async remove(): Promise<void> {
    await rm(this.path, { force: true });
  }
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export interface RefreshPorts {
  readonly file: TokenFile;
  readonly leases: LeasePort;
  refresh(tokens: Tokens, signal?: AbortSignal): Promise<Tokens>;
  now(): Date;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

const LEASE = 'x-token-refresh';
const LEASE_MS = 60_000;
/** Refreshing early leaves time for a slow call to finish with the old token. */
const EARLY_MS = 300_000;
const POLL_MS = 200;
const PATIENCE_MS = 45_000;

/**
 * Gives a token that is good for the next minutes. A refresh token works once, so of all processes on this data
 * directory one refreshes while the others wait and read what it wrote.
 */
export class UserTokens {
  readonly #ports: RefreshPorts;
  #running: Promise<Tokens> | undefined;

  constructor(ports: RefreshPorts) {
    this.#ports = ports;
  }

  async current(signal?: AbortSignal): Promise<Tokens | undefined> {
    const tokens = await this.#ports.file.read();
    if (!tokens || this.#isGood(tokens)) return tokens;
    if (!tokens.refresh_token) {
      if (Date.parse(tokens.expires_at) > this.#ports.now().getTime()) return tokens;
      throw new XError(
        'x_auth_expired',
        'The sign-in to X has expired and cannot be renewed; run `countersign auth x`',
      );
    }
    return this.#renew(tokens, signal);
  }

  /** X refused this token although it looked good: someone revoked it, or another process replaced it. */
  async replace(refused: Tokens, signal?: AbortSignal): Promise<Tokens | undefined> {
    const tokens = await this.#ports.file.read();
    if (!tokens) return undefined;
    if (tokens.access_token !== refused.access_token) return tokens;
    return tokens.refresh_token ? this.#renew(tokens, signal) : undefined;
  }

  #isGood(tokens: Tokens): boolean {
    return Date.parse(tokens.expires_at) - this.#ports.now().getTime() > EARLY_MS;
  }

  /** Calls of one process share one refresh; the lease only keeps other processes away. */
  #renew(stale: Tokens, signal?: AbortSignal): Promise<Tokens> {
    this.#running ??= this.#renewOnce(stale).finally(() => {
      this.#running = undefined;
    });
    return abortable(this.#running, signal);
  }

  async #renewOnce(stale: Tokens): Promise<Tokens> {
    const { file, leases, sleep, now, refresh } = this.#ports;
    const giveUpAt = now().getTime() + PATIENCE_MS;
    for (let waited = 0; ; waited += POLL_MS) {
      if (await leases.acquire(LEASE, LEASE_MS)) break;
      await sleep(POLL_MS);
      const latest = await file.read();
      if (latest && latest.access_token !== stale.access_token) return latest;
      if (waited >= PATIENCE_MS || now().getTime() > giveUpAt) {
        throw tooLong();
      }
    }
    try {
      const latest = await file.read();
      if (!latest) throw signedOut();
      if (latest.access_token !== stale.access_token) return latest;
      const fresh = await refresh(latest);
      await file.write(fresh);
      return fresh;
    } catch (error) {
      // The old token still works for a while: an outage of the token endpoint need not stop the account.
      const usable = Date.parse(stale.expires_at) > now().getTime();
      if (usable && error instanceof ToolError && error.retryable) return stale;
      throw error;
    } finally {
      await leases.release(LEASE);
    }
  }
}

/**
 * Does this while no process refreshes: tokens that are being revoked would otherwise come back with the answer to a
 * refresh that was under way.
 */
export async function whileNobodyRefreshes<T>(
  { leases, sleep }: Pick<RefreshPorts, 'leases' | 'sleep'>,
  work: () => Promise<T>,
): Promise<T> {
  for (let waited = 0; !(await leases.acquire(LEASE, LEASE_MS)); waited += POLL_MS) {
    if (waited >= LEASE_MS) throw tooLong();
    await sleep(POLL_MS);
  }
  try {
    return await work();
  } finally {
    await leases.release(LEASE);
  }
}

const tooLong = (): ToolError =>
  new XError('x_network_error', 'Another process has been refreshing the X token for too long; retry');

const signedOut = (): ToolError =>
  new XError('x_not_configured', 'Someone has since signed out of X; run `countersign auth x`');

function abortable<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const stop = () =>
      reject(new ToolError('cancelled', 'The call was cancelled while the X token was refreshed'));
    if (signal.aborted) return stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

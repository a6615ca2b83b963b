import { CliError } from '../contract/command.ts';
import { lookup } from '../lib/lookup.ts';
import { toolkitEntries } from '../toolkits/index.generated.ts';

export function parseAddress(address: string): { host: string; port: number } {
  // Go writes `:9955` for every interface; without a host, an address means this machine alone.
  const match = /^(?:(.*):)?(\d{1,5})$/.exec(address.trim());
  const port = Number(match?.[2]);
  if (!match || port > 65535)
    throw new CliError(`Invalid address "${address}". Use HOST:PORT, such as 127.0.0.1:8090.`, 2);
  return { host: match[1] || '127.0.0.1', port };
}

/** The address that a toolkit's own variable names, whichever toolkits are enabled. */
export const addressFromEnv = (env: Readonly<Record<string, string | undefined>>): string | undefined =>
  toolkitEntries.map(({ listenEnv }) => listenEnv && lookup(env, listenEnv)).find(Boolean) || undefined;

export const addressInUseError =
  ({ host, port }: { host: string; port: number }, instead: string) =>
  (error: Error & { code?: string; address?: string }): never => {
    if (error.code !== 'EADDRINUSE') throw error;
    if (error.address === '::1' && host !== '::1')
      throw new CliError(
        `[::1]:${port} is in use by another program. Browsers take it for localhost too, so it could pass for your inbox. Stop that program, or use ${instead}.`,
      );
    throw new CliError(
      `${host}:${port} is already in use. Is \`countersign up\` running? If not, use ${instead}.`,
    );
  };

/** A second signal of the same kind ends the process at the spot, for a person who does not want to wait. */
export const untilStopped = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve());
  });

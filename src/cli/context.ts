import { type App, type AppOptions, openApp } from '../app/app.ts';
import { findStore } from '../config/store-place.ts';
import type { GlobalOptions } from '../contract/command.ts';
import type { LogReader } from '../kernel/log/open.ts';
import { openStorageReadOnly } from '../storage/open.ts';
import { storeError } from '../storage/store-error.ts';

/** Opens the application for one command and always closes it afterwards. */
export async function withApp<T>(
  global: GlobalOptions,
  work: (app: App) => Promise<T>,
  more: Partial<AppOptions> = {},
): Promise<T> {
  const app = await openApp({
    configPath: global.config,
    env: process.env,
    ...more,
    flags: { ...(global.verbose ? { 'log.level': 'debug' } : {}), ...more.flags },
  });
  try {
    return await work(app);
  } finally {
    await app.close();
  }
}

/** Opens the audit log to read it, without configuration, policy or key; closes it afterwards. */
export async function withLog<T>(
  global: GlobalOptions,
  work: (log: LogReader, storageUrl: string) => Promise<T>,
): Promise<T> {
  const { storageUrl, dataDir } = findStore({ path: global.config, env: process.env });
  const database = await openStorageReadOnly({ url: storageUrl });
  try {
    // Verifying is much code, which a server that starts does not need.
    const { openLog } = await import('../kernel/log/open.ts');
    // A server that cannot be reached is only noticed by the first query.
    const log = await openLog(database, dataDir).catch((error: unknown) => {
      throw error instanceof Error && 'code' in error ? storeError(storageUrl, error) : error;
    });
    return await work(log, storageUrl);
  } finally {
    await database.close();
  }
}

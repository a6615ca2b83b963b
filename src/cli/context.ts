import { type App, type AppOptions, openApp } from '../app.ts';

/** Options every command has. */
export interface GlobalOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly verbose?: boolean;
  readonly version?: boolean;
}

/** Told to the person as it is: what is wrong and what to do. Exit code 1, or 2 for wrong use. */
export class CliError extends Error {
  readonly exitCode: 1 | 2;

  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Opens the application for one command and closes it afterwards, whatever happens. */
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

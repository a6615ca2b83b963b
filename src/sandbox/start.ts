import type { AddressInfo } from 'node:net';
import type { Kysely } from 'kysely';
import { COMMANDS } from './control.ts';
import { CREDENTIALS } from './credentials.ts';
import type { JsonDoc } from './documents.ts';
import { KyselyState, type SandboxTables } from './kysely-state.ts';
import { seedWorld } from './seed/seed.ts';
import { Windows } from './windows.ts';
import { World } from './world.ts';

export interface SandboxOptions {
  /** A store that has migration 010-x-client. */
  readonly db: Kysely<SandboxTables>;
  now(): Date;
  /** Tests replace waiting. */
  readonly sleep?: (ms: number) => Promise<void>;
}

export interface Sandbox {
  readonly url: string;
  readonly credentials: Readonly<Record<string, string>>;
  reset(): Promise<void>;
  control(command: string, params?: JsonDoc): Promise<JsonDoc>;
  close(): Promise<void>;
}

/** Starts the local X API on a free port of this machine. The state is in the store; any number may run at once. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const [{ serve }, { createApp }] = await Promise.all([import('@hono/node-server'), import('./app.ts')]);
  const port = new KyselyState(options.db);
  const world = new World(port, () => seedWorld(options.now()));
  const windows = new Windows(port);
  const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
  const app = createApp({ world, windows, now: options.now, sleep: options.sleep ?? wait });
  const server = await new Promise<ReturnType<typeof serve>>((resolve) => {
    const started = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, () => resolve(started));
  });
  // Requests keep the process alive while they run; an idle sandbox must not.
  server.unref();
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    credentials: CREDENTIALS,
    async reset() {
      windows.forget();
      await world.reset();
    },
    async control(command, params = {}) {
      const run = COMMANDS[command];
      if (!run)
        throw new Error(`The sandbox has no command ${command}; it has ${Object.keys(COMMANDS).join(', ')}`);
      return world.run((state) => run(state, params, options.now()));
    },
    async close() {
      // The store may be gone already; counts of the last moments are not worth a failed shutdown.
      await windows.flush().catch(() => undefined);
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        if ('closeAllConnections' in server) server.closeAllConnections();
      });
    },
  };
}

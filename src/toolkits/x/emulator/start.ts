import type { AddressInfo } from 'node:net';
import type { Kysely } from 'kysely';
import { lookup } from '../../../lib/lookup.ts';
import { COMMANDS, summarize } from './control.ts';
import type { JsonDoc } from './documents.ts';
import { CREDENTIALS } from './identity.ts';
import { Windows } from './problems.ts';
import { seedWorld } from './seed/seed.ts';
import { World } from './state.ts';
import { KyselyState, type SandboxTables } from './stored-state.ts';

export interface SandboxOptions {
  /** A store that has migration 010-x-client. */
  readonly db: Kysely<SandboxTables>;
  now(): Date;
  /** Tests replace waiting. */
  readonly sleep?: (ms: number) => Promise<void>;
}

/** A local X API over real HTTP. State is kept in the database: a second process sees what the first one did. */
export interface Sandbox {
  /** `http://127.0.0.1:PORT`; requests for another host carry it in the `x-sandbox-host` header. */
  readonly url: string;
  /** What a client signs its requests with: user and app tokens, consumer keys. They open nothing else. */
  readonly credentials: Readonly<Record<string, string>>;
  /** Back to the seeded data. */
  reset(): Promise<void>;
  /** The control interface of tests and of the command line: scripted faults, a look at the state. */
  control(command: string, params?: JsonDoc): Promise<JsonDoc>;
  summary(): Promise<ReturnType<typeof summarize>>;
  close(): Promise<void>;
}

/** Starts the local X API on a free port of this machine. The state is in the store; any number may run simultaneously. */
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
      const run = lookup(COMMANDS, command);
      if (!run)
        throw new Error(`The sandbox has no command ${command}; it has ${Object.keys(COMMANDS).join(', ')}`);
      return world.run((state) => run(state, params, options.now()));
    },
    summary: () => world.run(summarize),
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

const running = new WeakMap<Kysely<SandboxTables>, { readonly sandbox: Promise<Sandbox>; users: number }>();

/** The one sandbox of this process on that database. It ends when the last of its users closes it. */
export async function sharedSandbox(options: SandboxOptions): Promise<Sandbox> {
  const shared = running.get(options.db) ?? { sandbox: startSandbox(options), users: 0 };
  running.set(options.db, shared);
  shared.users += 1;
  const sandbox = await shared.sandbox;
  return {
    ...sandbox,
    async close() {
      shared.users -= 1;
      if (shared.users > 0) return;
      running.delete(options.db);
      await sandbox.close();
    },
  };
}

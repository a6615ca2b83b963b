import type { Kysely } from 'kysely';
import type { JsonObject } from '../../../../contract/json.ts';
import type { LeasePort, Log } from '../../../../contract/ports.ts';
import { LOCAL_AGENT } from '../../../../contract/principal.ts';
import type { ToolContext } from '../../../../contract/tool.ts';
import { openSqlite } from '../../../../storage/sqlite.ts';
import type { XApi, XApiSettings } from '../../client/api.ts';
import { connectX } from '../../client/connect.ts';
import type { XClientTables } from '../../client/store.ts';
import { type Sandbox, startSandbox } from '../../emulator/start.ts';
import type { SandboxTables } from '../../emulator/stored-state.ts';
import { migration } from '../../migrations/010-client.ts';

type XTables = XClientTables & SandboxTables;

export interface XStore {
  readonly db: Kysely<XTables>;
  close(): Promise<void>;
}

/** A store with the x client's tables only. */
export async function openXStore(path = ':memory:'): Promise<XStore> {
  const { db } = openSqlite<XTables>(path);
  await migration.up(db as unknown as Kysely<unknown>, 'sqlite');
  return { db, close: () => db.destroy() };
}

export interface FakeClock {
  now(): Date;
  advance(ms: number): void;
}

export function fakeClock(start = '2026-02-25T12:00:00.000Z'): FakeClock {
  let at = Date.parse(start);
  return {
    now: () => new Date(at),
    advance: (ms) => {
      at += ms;
    },
  };
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** Leases of one process: always granted. */
export const freeLeases: LeasePort = { acquire: async () => true, release: async () => {} };

export interface XWorld {
  readonly api: XApi;
  readonly sandbox: Sandbox;
  readonly store: XStore;
  readonly clock: FakeClock;
  /** How long the client would have slept, in order. */
  readonly slept: readonly number[];
  [Symbol.asyncDispose](): Promise<void>;
}

/** The client on a sandbox of its own, over real HTTP, with a clock that stands still. */
export async function startXWorld(
  options: {
    readonly settings?: XApiSettings;
    readonly dataDir?: string;
    readonly clock?: FakeClock;
    readonly store?: XStore;
  } = {},
): Promise<XWorld> {
  const clock = options.clock ?? fakeClock();
  const store = options.store ?? (await openXStore());
  const sandbox = await startSandbox({
    db: store.db as unknown as Kysely<SandboxTables>,
    now: clock.now,
    sleep: async () => {},
  });
  const slept: number[] = [];
  const api = await connectX({
    settings: options.settings ?? {},
    dataDir: options.dataDir ?? '/nonexistent',
    db: store.db as unknown as Kysely<XClientTables>,
    leases: freeLeases,
    log: silentLog,
    now: clock.now,
    sandbox: async () => sandbox,
    sleep: async (ms) => {
      slept.push(ms);
      clock.advance(ms);
    },
    random: () => 0.5,
  });
  return {
    api,
    sandbox,
    store,
    clock,
    slept,
    async [Symbol.asyncDispose]() {
      await sandbox.close();
      if (!options.store) await store.close();
    },
  };
}

/** What a handler is given, with what it noted kept for the test. */
export function toolContext(
  world: Pick<XWorld, 'api' | 'clock'>,
): ToolContext<{ x(): Promise<XApi> }> & { readonly notes: JsonObject } {
  const notes: JsonObject = {};
  return {
    services: { x: async () => world.api },
    callId: 'call-1',
    principal: LOCAL_AGENT,
    decider: undefined,
    approval: undefined,
    signal: new AbortController().signal,
    now: world.clock.now,
    progress() {},
    artifact: () => Promise.reject(new Error('no artifacts here')),
    evidence: () => {},
    note: (more) => void Object.assign(notes, more),
    attach() {},
    call: () => Promise.reject(new Error('no other tools here')),
    notes,
  };
}

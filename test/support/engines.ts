import { constants, copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { openStorage } from '../../src/app/open-storage.ts';
import type { Database, Engine } from '../../src/kernel/store/database.ts';

/** For `describe.each(ENGINES)('… on %s', (engine) => …)`. */
export const ENGINES: readonly Engine[] =
  process.env.COUNTERSIGN_TEST_ENGINES === 'sqlite' ? ['sqlite'] : ['sqlite', 'postgres'];

export interface TestStore {
  readonly database: Database;
  /** What another process would open to share this store. */
  readonly url: string;
  /** A folder of its own, gone after `close`. */
  readonly dataDir: string;
  /**
   * A second connection to the same store, as another process would have. Closed with the store. On SQLite two of them
   * must not write at the same time: waiting for the lock blocks the process that holds it.
   */
  again(): Promise<Database>;
  close(): Promise<void>;
}

/** A fresh store with the current schema. */
export async function openTestStore(engine: Engine): Promise<TestStore> {
  const shared = engine === 'postgres' ? await freshPostgres() : undefined;
  const dataDir = mkdtempSync(join(tmpdir(), 'countersign-test-'));
  const url = shared ?? freshSqlite(join(dataDir, 'countersign.db'));
  const database = await openStorage({ url });
  const others: Database[] = [];
  return {
    database,
    url,
    dataDir,
    async again() {
      const other = await openStorage({ url });
      others.push(other);
      return other;
    },
    async close() {
      for (const one of [...others, database]) await one.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Puts a store with the current schema where none is yet; the path again. */
export function freshSqlite(path: string): string {
  copyFileSync(inject('sqliteTemplate'), path, constants.COPYFILE_EXCL);
  return path;
}

/** The address of a new PostgreSQL database; `empty` leaves even the schema out, for tests of migrations. */
export async function freshPostgres({ empty = false } = {}): Promise<string> {
  const response = await fetch(`${inject('postgresBroker')}/${empty ? 'empty' : 'migrated'}`);
  const answer = (await response.json()) as { url?: string; error?: string };
  if (!answer.url) throw new Error(`No PostgreSQL for this test: ${answer.error}`);
  return answer.url;
}

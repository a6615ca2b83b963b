import type { Transaction } from 'kysely';
import type { Database, Engine } from '../store/database.ts';
import {
  type InsertShape,
  insertRows,
  requireStorable,
  runStatement,
  statement,
} from '../store/statements.ts';
import type { Tables } from '../store/tables.ts';
import type { PreparedEntry } from './entry.ts';
import { appendEntries } from './log.ts';

/** A write transaction that collects its audit entries. */
export interface EvidenceWrite {
  readonly trx: Transaction<Tables>;
  readonly engine: Engine;
  readonly database: Database;
  /** Adds entries in the order they are to have in the log. */
  append(...entries: readonly PreparedEntry[]): void;
  /** Adds rows that nothing in this job reads back; all rows of a table are written in one statement at the end. */
  insert<Row>(shape: InsertShape<Row>, ...rows: readonly Row[]): void;
}

export type EvidenceWork<T> = (write: EvidenceWrite) => Promise<T>;

/**
 * Rows and their audit entries in one transaction. The entries are written last, all together: the head of the log is
 * the one lock every writer takes, so no transaction may wait for a row while it holds it.
 *
 * On SQLite, where one connection writes, the jobs of calls in flight share a transaction and thereby one flush of the
 * disk; each is durable when its promise resolves. On PostgreSQL jobs stay apart: one that waits for a row of another
 * process would hold up all others.
 */
export function writeWithEvidence<T>(database: Database, work: EvidenceWork<T>): Promise<T> {
  if (database.engine === 'postgres') return writeAlone(database, work);
  let group = groups.get(database);
  if (!group) {
    group = new WriteGroup(database);
    groups.set(database, group);
  }
  return group.add(work);
}

/** What one transaction has collected. */
class Collected {
  readonly entries: PreparedEntry[] = [];
  readonly rows = new Map<InsertShape<unknown>, unknown[]>();

  writer(trx: Transaction<Tables>, database: Database): EvidenceWrite {
    return {
      trx,
      engine: database.engine,
      database,
      append: (...entries) => void this.entries.push(...entries),
      insert: (shape, ...rows) => {
        // Here the job that brings a row fails alone; in the statement, all jobs of the transaction would.
        for (const row of rows) requireStorable(shape.table, row as object);
        this.#rowsOf(shape as InsertShape<unknown>).push(...rows);
      },
    };
  }

  take({ entries, rows }: Collected): void {
    this.entries.push(...entries);
    for (const [shape, more] of rows) this.#rowsOf(shape).push(...more);
  }

  async write(trx: Transaction<Tables>, engine: Engine): Promise<void> {
    for (const [shape, rows] of this.rows) await insertRows(trx, engine, shape, rows);
    await appendEntries(trx, engine, this.entries);
  }

  #rowsOf(shape: InsertShape<unknown>): unknown[] {
    const known = this.rows.get(shape);
    if (known) return known;
    const made: unknown[] = [];
    this.rows.set(shape, made);
    return made;
  }
}

/** In a transaction of its own: the next one finds these entries in the log. */
export function writeAlone<T>(database: Database, work: EvidenceWork<T>): Promise<T> {
  const { engine } = database;
  return database.write(async (trx) => {
    const collected = new Collected();
    const result = await work(collected.writer(trx, database));
    await collected.write(trx, engine);
    return result;
  });
}

interface Job {
  readonly work: EvidenceWork<unknown>;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** Beyond this a group would keep those behind it waiting for longer than a flush takes. */
const MAX_GROUP = 64;

const SAVE = statement('savepoint work');
const UNDO = statement('rollback to savepoint work');
const RELEASE = statement('release savepoint work');

/** One job of a group failed, so the group was rolled back. It is run again, which gives each job its own error. */
class JobFailedError extends Error {}

const groups = new WeakMap<Database, WriteGroup>();

class WriteGroup {
  readonly #database: Database;
  #waiting: Job[] = [];
  #isActive = false;
  /** The last transaction was for several jobs, so the next probably is as well. */
  #isBusy = false;
  /** A job of the last group failed, so one of the next probably does as well. */
  #keepsApart = false;

  constructor(database: Database) {
    this.#database = database;
  }

  add<T>(work: EvidenceWork<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ work, resolve: resolve as Job['resolve'], reject });
      if (this.#isActive) return;
      this.#isActive = true;
      // Calls that arrived together get here in the same turn of the event loop. A call alone does not wait for others.
      if (this.#isBusy) setImmediate(() => void this.#run());
      else void this.#run();
    });
  }

  async #run(): Promise<void> {
    for (;;) {
      const [first, ...others] = this.#waiting.splice(0, MAX_GROUP);
      if (!first) break;
      this.#isBusy = others.length > 0;
      if (others.length === 0) await writeAlone(this.#database, first.work).then(first.resolve, first.reject);
      else await this.#commit([first, ...others]);
    }
    this.#isActive = false;
  }

  /** Jobs seldom fail: as long as none does, they share all of a transaction. Each may be run twice, as on PostgreSQL. */
  async #commit(jobs: readonly Job[]): Promise<void> {
    if (this.#keepsApart) return this.#commitApart(jobs);
    const { engine } = this.#database;
    const results: unknown[] = [];
    try {
      await this.#database.write(async (trx) => {
        const all = new Collected();
        const writer = all.writer(trx, this.#database);
        for (const { work } of jobs) results.push(await work(writer).catch(failJob));
        await all.write(trx, engine);
      });
    } catch (error) {
      if (error instanceof JobFailedError) return this.#commitApart(jobs);
      for (const { reject } of jobs) reject(error);
      return;
    }
    for (const [index, { resolve }] of jobs.entries()) resolve(results[index]);
  }

  /** A savepoint for each job costs as much as one of its statements, and undoes it alone. */
  async #commitApart(jobs: readonly Job[]): Promise<void> {
    const { engine } = this.#database;
    const settled: (() => void)[] = [];
    let hasFailed = false;
    try {
      await this.#database.write(async (trx) => {
        const all = new Collected();
        for (const { work, resolve, reject } of jobs) {
          const own = new Collected();
          await runStatement(trx, engine, SAVE, []);
          try {
            const result = await work(own.writer(trx, this.#database));
            all.take(own);
            settled.push(() => resolve(result));
          } catch (error) {
            hasFailed = true;
            // A full disk has ended the transaction already; then there is nothing to go back to, and all fail.
            await runStatement(trx, engine, UNDO, []).catch(() => Promise.reject(error));
            settled.push(() => reject(error));
          }
          await runStatement(trx, engine, RELEASE, []);
        }
        await all.write(trx, engine);
      });
    } catch (error) {
      for (const { reject } of jobs) reject(error);
      return;
    }
    this.#keepsApart = hasFailed;
    for (const settle of settled) settle();
  }
}

const failJob = (): never => {
  throw new JobFailedError('One write of the group failed.');
};

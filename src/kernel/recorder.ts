import type { Transaction } from 'kysely';
import { ToolFault } from '../contract/faults.ts';
import type { Log } from '../contract/ports.ts';
import type { PreparedEntry } from './audit/entry.ts';
import { appendEntries } from './audit/log.ts';
import type { Database } from './database.ts';
import { CALLS, insertRows, PAYLOADS } from './statements.ts';
import type { AuditPayloadsTable, CallArtifactsTable, CallsTable, Tables } from './tables.ts';

export interface CallEvidence {
  readonly row: CallsTable;
  readonly payloads: readonly AuditPayloadsTable[];
  readonly entry: PreparedEntry;
  readonly artifacts: readonly CallArtifactsTable[];
}

/** Reads may lag their reply by 100 ms; this leaves room for the commit itself. */
const GROUP_MS = 50;
/** Beyond this many waiting calls the store is not keeping up, and calls wait for it. */
const MAX_WAITING = 5_000;

/** Commits the evidence of reads and refusals in groups, so that a read costs no disk write of its own. */
export class Recorder {
  readonly #database: Database;
  readonly #log: Log;
  #waiting: CallEvidence[] = [];
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> | undefined;
  #broken: unknown;

  constructor(database: Database, log: Log) {
    this.#database = database;
    this.#log = log;
  }

  /** Throws while the log cannot be written: a call that leaves no evidence is not answered. */
  async add(evidence: CallEvidence): Promise<void> {
    this.#waiting.push(evidence);
    if (this.#broken || this.#waiting.length > MAX_WAITING) {
      await this.flush();
      if (this.#broken)
        throw new ToolFault('db_error', 'The evidence log cannot be written, so no call is answered.', {
          cause: this.#broken,
        });
      return;
    }
    this.#timer ??= setTimeout(() => void this.flush(), GROUP_MS).unref();
  }

  /** Commits by itself and at once, together with what `also` does; the entries that gives stand after this one. */
  async addNow(
    evidence: CallEvidence,
    also: (trx: Transaction<Tables>) => Promise<readonly PreparedEntry[]>,
  ): Promise<void> {
    await this.#database.write(async (trx) => this.#insert(trx, [evidence], await also(trx)));
  }

  /** Everything added before this call is durable when it resolves, unless the store is broken. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#flushing;
    if (this.#waiting.length === 0) return;
    this.#flushing = this.#commit().finally(() => {
      this.#flushing = undefined;
    });
    await this.#flushing;
  }

  async #commit(): Promise<void> {
    const group = this.#waiting;
    this.#waiting = [];
    try {
      await this.#database.write((trx) => this.#insert(trx, group));
      this.#broken = undefined;
    } catch (error) {
      this.#waiting = [...group, ...this.#waiting];
      this.#broken = error;
      this.#log.error('The evidence log could not be written', { error, waiting: this.#waiting.length });
    }
  }

  async #insert(
    trx: Transaction<Tables>,
    group: readonly CallEvidence[],
    after: readonly PreparedEntry[] = [],
  ): Promise<void> {
    const { engine } = this.#database;
    const rows = group.map(({ row }) => row);
    const payloads = group.flatMap((one) => one.payloads);
    const artifacts = group.flatMap((one) => one.artifacts);
    const entries = group.map(({ entry }) => entry);
    await insertRows(trx, engine, CALLS, rows);
    await insertRows(trx, engine, PAYLOADS, payloads);
    if (artifacts.length > 0) await trx.insertInto('call_artifacts').values(artifacts).execute();
    await appendEntries(trx, engine, [...entries, ...after]);
  }
}

import { ToolError } from '../../contract/errors.ts';
import type { Log } from '../../contract/ports.ts';
import { withCause } from '../../lib/database-error.ts';
import type { PreparedEntry } from '../log/entry.ts';
import { type EvidenceWrite, writeWithEvidence } from '../log/write.ts';
import type { Database } from '../store/database.ts';
import { CALLS, PAYLOADS, requireStorable } from '../store/statements.ts';
import type { AuditPayloadsTable, CallArtifactsTable, CallsTable } from '../store/tables.ts';
import { writeGroup } from './write-group.ts';

export interface CallEvidence {
  readonly row: CallsTable;
  readonly payloads: readonly AuditPayloadsTable[];
  readonly entry: PreparedEntry;
  readonly artifacts: readonly CallArtifactsTable[];
}

/** Reads may lag their reply by 100 ms; this leaves room for the commit itself. */
const GROUP_MS = 50;
/** Beyond this many waiting calls the store is not keeping up, and calls wait for it. */
export const MAX_WAITING = 5_000;
/** Beyond this much text as well: arguments can be large. */
const MAX_WAITING_CHARS = 64 * 1024 * 1024;
/** How soon a failed commit is tried again when no call asks for it. */
const RETRY_MS = 1_000;

export interface EvidenceState {
  /** False after a commit failed, until one succeeds. */
  readonly writable: boolean;
  /** Calls whose evidence is not durable yet. */
  readonly waiting: number;
  /** True while the buffer takes no more: then no call is run. */
  readonly full: boolean;
  /** Calls whose rows the database refused since this process started. */
  readonly unwritten: number;
  readonly error: unknown;
}

/** Commits the evidence of reads and refusals in groups, so that a read costs no disk write of its own. */
export class Recorder {
  readonly #database: Database;
  readonly #log: Log;
  #waiting: CallEvidence[] = [];
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> | undefined;
  #broken: unknown;
  #chars = 0;
  #unwritten = 0;

  constructor(database: Database, log: Log) {
    this.#database = database;
    this.#log = log;
  }

  get state(): EvidenceState {
    return {
      writable: this.#broken === undefined,
      waiting: this.#waiting.length,
      full: this.#isFull(),
      unwritten: this.#unwritten,
      error: this.#broken,
    };
  }

  /** Set while evidence can neither be written nor be kept: then no call may begin. */
  get refusal(): ToolError | undefined {
    return this.#broken !== undefined && this.#isFull() ? this.#cannotWrite() : undefined;
  }

  /** Why evidence could not be written the last time; undefined while it can. */
  get problem(): unknown {
    return this.#broken;
  }

  /**
   * Undefined when there is nothing to wait for. Rejects while the log cannot be written: a call that leaves no evidence is
   * not answered.
   */
  add(evidence: CallEvidence): Promise<void> | undefined {
    this.#waiting.push(evidence);
    this.#chars += sizeOf(evidence);
    if (this.#broken !== undefined || this.#isFull()) return this.#flushOrThrow();
    this.#timer ??= setTimeout(() => void this.flush(), GROUP_MS).unref();
    return undefined;
  }

  async #flushOrThrow(): Promise<void> {
    await this.flush();
    if (this.#broken !== undefined) throw this.#cannotWrite();
  }

  #isFull(): boolean {
    return this.#waiting.length >= MAX_WAITING || this.#chars >= MAX_WAITING_CHARS;
  }

  #cannotWrite(): ToolError {
    const text = 'The audit log cannot be written, so no call is answered.';
    return new ToolError('db_error', withCause(text, this.#broken), { cause: this.#broken });
  }

  /** Commits immediately and alone, together with what `also` does; its entries come after this one. */
  async addNow(evidence: CallEvidence, also: (write: EvidenceWrite) => Promise<void>): Promise<void> {
    await writeWithEvidence(this.#database, async (write) => {
      await insert(write, [evidence]);
      await also(write);
    });
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
    this.#chars = 0;
    const { left, refused, error } = await writeGroup(this.#database, group, insert);
    for (const { evidence, cause } of refused) this.#report(evidence, cause);
    this.#broken = error;
    if (left.length === 0) return;
    this.#waiting = [...left, ...this.#waiting];
    this.#chars = this.#waiting.reduce((sum, one) => sum + sizeOf(one), 0);
    this.#log.error('The audit log could not be written', { error, waiting: this.#waiting.length });
    // Nothing else would try again while no call is let in.
    this.#timer ??= setTimeout(() => void this.flush(), RETRY_MS).unref();
  }

  #report({ row, entry }: CallEvidence, error: unknown): void {
    this.#unwritten += 1;
    this.#log.error('The database refused the evidence of a call; the audit log says that it is missing', {
      call: row.call_id,
      tool: row.tool,
      evidence: entry.hash,
      error,
    });
  }
}

const sizeOf = ({ entry, payloads }: CallEvidence): number =>
  payloads.reduce((sum, { body }) => sum + (body?.length ?? 0), entry.body.length);

async function insert(write: EvidenceWrite, group: readonly CallEvidence[]): Promise<void> {
  const artifacts = group.flatMap((one) => one.artifacts);
  for (const row of artifacts) requireStorable('call_artifacts', row);
  write.insert(CALLS, ...group.map(({ row }) => row));
  write.insert(PAYLOADS, ...group.flatMap(({ payloads }) => payloads));
  if (artifacts.length > 0) await write.trx.insertInto('call_artifacts').values(artifacts).execute();
  write.append(...group.map(({ entry }) => entry));
}

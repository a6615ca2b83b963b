import { existsSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ToolError } from '../../../contract/errors.ts';
import type { Log } from '../../../contract/ports.ts';
import { homePath } from '../../../lib/file-error.ts';
import { ResearchError } from '../errors.ts';
import { backupIfDue } from './create.ts';
import type { Change, ChangeJournal } from './journal.ts';
import { type LockState, lockHolder, takeLock } from './lock.ts';
import { SqliteReader } from './reader.ts';
import { ImageReader } from './rows.ts';
import { isBusy, type ProjectSchema, probeSchema, SqliteFile } from './schema.ts';
import { qualcoderDate } from './source-text.ts';
import type { ChangeBy, ProjectStore, ProjectWriter, Source } from './types.ts';
import { happened, revert } from './undo.ts';
import { SqliteWriter } from './writer.ts';

export interface StoreOptions {
  readonly journal: ChangeJournal;
  /** Where locks of ours are remembered. */
  readonly stateDir: string;
  readonly backupsKept: number;
  readonly log: Log;
  now(): Date;
  /** Called after every change that happened, so that open pages show it. */
  changed?(by: ChangeBy): void;
}

const BUSY_TRIES = 50;
const DATA_FILE = 'data.qda';

/** Opening reads and changes nothing. */
export function openProject(path: string, options: StoreOptions): SqliteProject {
  const db = new SqliteFile(join(path, DATA_FILE), { queryOnly: true });
  try {
    return new SqliteProject(db, probeSchema(db, path), path, options);
  } catch (error) {
    db.close();
    throw asProjectError(error, path);
  }
}

/** When the project was made, without opening it for good. */
export function madeAt(path: string): string {
  const db = new SqliteFile(join(path, DATA_FILE), { queryOnly: true });
  try {
    return new SqliteReader(db, probeSchema(db, path), path).info().date;
  } catch (error) {
    throw asProjectError(error, path);
  } finally {
    db.close();
  }
}

/** An open project: one connection that only reads, one that changes. */
export class SqliteProject extends SqliteReader implements ProjectStore {
  readonly path: string;
  readonly #options: StoreOptions;
  readonly #file: string;
  #turn: Promise<unknown> = Promise.resolve();
  #foreign = 0;
  #seenVersion: number;
  #coders: { readonly version: number; readonly list: ReturnType<SqliteReader['coders']> } | undefined;
  #listed: { readonly version: number; readonly sources: readonly Source[] } | undefined;

  constructor(db: SqliteFile, schema: ProjectSchema, path: string, options: StoreOptions) {
    super(db, schema, path);
    this.path = path;
    this.#file = join(path, DATA_FILE);
    this.#options = options;
    this.#seenVersion = this.#dataVersion();
  }

  get journal(): ChangeJournal {
    return this.#options.journal;
  }

  /** Columns behind the text make SQLite walk through all of it, so the list is kept until something was committed. */
  override sources(): readonly Source[] {
    const version = this.#dataVersion();
    if (this.#listed?.version !== version) this.#listed = { version, sources: super.sources() };
    return this.#listed.sources;
  }

  override source(id: number): Source | undefined {
    return this.sources().find((source) => source.id === id);
  }

  /** The owner of a source lies behind its text too. */
  override coders(): readonly { readonly name: string; readonly visible: boolean }[] {
    const version = this.#dataVersion();
    if (this.#coders?.version !== version) this.#coders = { version, list: super.coders() };
    return this.#coders.list;
  }

  /** Grows whenever texts may have changed: another program wrote, or a source of ours came in. */
  textVersion(): number {
    const version = this.#dataVersion();
    if (version !== this.#seenVersion) {
      this.#seenVersion = version;
      this.#foreign += 1;
    }
    return this.#foreign;
  }

  lockedBy(): LockState | undefined {
    return lockHolder(this.path);
  }

  write<T>(
    by: ChangeBy,
    work: (project: ProjectWriter) => T | Promise<T>,
    sourceIds: readonly number[] = [],
  ): Promise<T> {
    return this.#inTurn(() =>
      this.#change(by, async (project) => {
        for (const id of new Set(sourceIds)) await project.loadText(id);
        return work(project);
      }),
    );
  }

  /** Undoes one change. It is a change itself, so it can be undone too. */
  async undo(changeId: number, by: ChangeBy): Promise<void> {
    const change = await this.journal.get(changeId);
    if (!change) throw new ToolError('not_found', `Change ${changeId} not found in this project.`);
    if (change.state === 'undone') throw new ToolError('conflict', `Change ${changeId} was already undone.`);
    if (change.state !== 'applied') throw new ToolError('conflict', `Change ${changeId} never happened.`);
    await this.#inTurn(async () => {
      await this.#change(by, (writer) => revert(writer.undoWork(), change.rows), changeId);
      await this.journal.settle(changeId, 'undone');
    });
  }

  /** After a crash: confirms what happened and drops what did not. Waits for a change that is still under way. */
  settleUnfinished(): Promise<void> {
    return this.#inTurn(async () => {
      if ((await this.journal.unsettled()).length === 0) return;
      const lock = await takeLock(this.path, this.#options.stateDir).catch(() => undefined);
      // Open in QualCoder, or not ours to write: the next opening settles it.
      if (!lock) return;
      try {
        for (const change of await this.journal.unsettled()) await this.#settle(change);
      } finally {
        lock.release();
      }
    });
  }

  close(): void {
    this.db.close();
  }

  async #change<T>(
    by: ChangeBy,
    work: (project: SqliteWriter) => T | Promise<T>,
    undoes?: number,
  ): Promise<T> {
    const { journal, stateDir, backupsKept, log, now } = this.#options;
    const lock = await takeLock(this.path, stateDir);
    try {
      const at = now();
      await backupIfDue(this.path, at, backupsKept);
      const db = new SqliteFile(this.#file, { busyMs: 0 });
      try {
        await begin(db);
        const foreignBefore = this.textVersion();
        this.forgetStale();
        const stamp = qualcoderDate(at);
        const writer = new SqliteWriter(db, probeSchema(db, this.path), this.path, {
          owner: by.owner,
          date: stamp,
        });
        let changeId: number | undefined;
        let result: T;
        try {
          result = await work(writer);
          const rows = writer.recorder.changes;
          if (rows.length > 0) changeId = await journal.prepare({ ...by, at, stamp, undoes, rows });
          await commit(db);
        } catch (error) {
          rollback(db);
          writer.discardFiles();
          if (changeId !== undefined) await journal.settle(changeId, 'void').catch(() => undefined);
          throw asProjectError(error, this.path);
        }
        // Ours was the only write since BEGIN, so texts are what they were unless we added one.
        this.#seenVersion = this.#dataVersion();
        const touched = writer.recorder.changes.some((row) => row.kind !== 'file' && row.table === 'source');
        this.#foreign = foreignBefore + (touched ? 1 : 0);
        if (!touched) this.keepTexts();
        if (changeId !== undefined) {
          this.#options.changed?.(by);
          // The change remains even if this note fails; looking at the rows settles it later.
          await journal.settle(changeId, 'applied').catch((error: unknown) => {
            log.warn('a research change could not be confirmed', { change: changeId, error: String(error) });
          });
        }
        return result;
      } finally {
        db.close();
      }
    } finally {
      lock.release();
    }
  }

  async #settle(change: Change): Promise<void> {
    const done = happened(new ImageReader(this.db, this.schema), change.rows);
    if (done === undefined) return;
    await this.journal.settle(change.id, done ? 'applied' : 'void');
    if (done && change.undoes !== undefined) await this.journal.settle(change.undoes, 'undone');
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#turn.then(work, work);
    this.#turn = next.catch(() => undefined);
    return next;
  }

  #dataVersion(): number {
    return Number(this.db.pragma('data_version'));
  }
}

/** Accepts the folder or the data.qda inside it; says what is wrong with anything else. */
export function resolveProject(path: string): string {
  const full = homePath(path);
  const folder = basename(full) === DATA_FILE ? dirname(full) : full;
  if (!existsSync(folder)) throw new ResearchError('no_project', `No project found at ${folder}.`);
  if (!statSync(folder).isDirectory()) {
    throw new ToolError(
      'validation_error',
      `${folder} is a single file. A QualCoder project is a directory NAME.qda that contains data.qda.`,
    );
  }
  if (!existsSync(join(folder, DATA_FILE))) {
    throw new ToolError('validation_error', `${folder} is not a QualCoder project: it has no data.qda.`);
  }
  return folder;
}

async function begin(db: SqliteFile): Promise<void> {
  // Spilled pages would lock out our own readers while the change waits for its note in the journal.
  db.exec('PRAGMA cache_spill = OFF');
  await retryBusy(() => db.exec('BEGIN IMMEDIATE'));
}

const commit = (db: SqliteFile) => retryBusy(() => db.exec('COMMIT'));

async function retryBusy(work: () => void): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      work();
      return;
    } catch (error) {
      if (!isBusy(error) || attempt >= BUSY_TRIES) throw error;
      await sleep(100);
    }
  }
}

function rollback(db: SqliteFile): void {
  try {
    db.exec('ROLLBACK');
  } catch {
    // Already rolled back by SQLite itself; closing the connection ends it in any case.
  }
}

function asProjectError(error: unknown, path: string): unknown {
  if (error instanceof ToolError || !(error instanceof Error)) return error;
  const code = String((error as { code?: unknown }).code ?? '');
  if (isBusy(error)) {
    return new ToolError(
      'busy',
      `The project ${path} is being written by another program; nothing was changed.`,
      { cause: error },
    );
  }
  if (/SQLITE_(NOTADB|CORRUPT)/.test(code) || /not a database|malformed/.test(error.message)) {
    return new ToolError(
      'db_error',
      `The file data.qda of ${path} is damaged or not a database. Its backups are the directories next to it named _BKUP_.`,
      {
        cause: error,
        retryable: false,
      },
    );
  }
  return code.startsWith('SQLITE')
    ? new ToolError(
        'db_error',
        `The project ${path} could not be read or written (${code}); nothing was changed.`,
        { cause: error },
      )
    : error;
}

import { sql } from 'kysely';
import type { ProofFile } from '../../contract/ports.ts';
import type { Database } from '../store/database.ts';
import { ArtifactStore } from './artifacts.ts';
import type { SignatureEntry } from './passkeys/entries.ts';
import { type Bundle, exportRun } from './proof/export.ts';
import { proveCall } from './proof/prove.ts';
import { findReceipt } from './proof/receipt.ts';
import { findKeyMismatch, type KeyMismatch } from './signing/key-mismatch.ts';
import { type StreamedEntry, type StreamOptions, streamEntries } from './stream.ts';
import type { VerifyReport } from './verify/report.ts';
import { type VerifyOptions, verifyLog } from './verify/verify.ts';

/** The audit log for those who only read it: nothing is created, migrated, signed or written. */
export interface LogReader {
  verify(options: Omit<VerifyOptions, 'artifacts' | 'rows'>): Promise<VerifyReport>;
  /** Undefined when the call left no entry. */
  prove(call: string): Promise<ProofFile | undefined>;
  /** Undefined when no entry belongs to the run. The bundle has no signed statements. */
  exportRun(run: string): Promise<Bundle | undefined>;
  /** The signature of a decision, to be stored elsewhere; undefined when no one signed it. */
  receipt(approval: string): Promise<SignatureEntry | undefined>;
  /** How the key in the data directory does not belong to the log; undefined when it does, or there is none. */
  keyMismatch(): Promise<KeyMismatch | undefined>;
  /** How many entries the log has. */
  size(): Promise<number>;
  /** Every entry in order; see `streamEntries`. */
  entries(options: StreamOptions): AsyncGenerator<StreamedEntry>;
}

/** `database` is open for reading only; `dataDir` holds the artifacts. */
export async function openLog(database: Database, dataDir: string): Promise<LogReader> {
  await requireLog(database);
  const artifacts = new ArtifactStore(database, dataDir);
  return {
    verify: (options) => verifyLog(database, { ...options, artifacts, rows: true }),
    prove: (call) => proveCall(database, undefined, call),
    receipt: (approval) => findReceipt(database, approval),
    keyMismatch: () => findKeyMismatch(database, dataDir),
    size: () => logSize(database),
    entries: (options) => streamEntries(database, options),
    exportRun: (run) => exportRun(database, run, { artifacts }),
  };
}

async function logSize({ db }: Database): Promise<number> {
  const { seq } = await db
    .selectFrom('audit_log')
    .select((eb) => eb.fn.max('seq').as('seq'))
    .executeTakeFirstOrThrow();
  return (seq ?? -1) + 1;
}

/** An empty file is a valid database; taken for a log, it would be an intact one without entries. */
async function requireLog({ db, engine }: Database): Promise<void> {
  const found =
    engine === 'postgres'
      ? sql<{ count: number }>`select count(to_regclass('audit_log')) as count`
      : sql<{ count: number }>`select count(*) as count from sqlite_schema where name = 'audit_log'`;
  const { rows } = await found.execute(db);
  if (Number(rows[0]?.count ?? 0) === 0)
    throw new Error(
      'This database has no audit log: it is empty, belongs to another program, or its tables were removed. Correct storage.url, or restore a backup with `countersign restore FOLDER`.',
    );
}

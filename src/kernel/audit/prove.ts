import type { Database } from '../database.ts';
import { type LogSigner, latestCheckpoint, type StoredCheckpoint, writeCheckpoint } from './checkpoint.ts';
import { openNote } from './note.ts';
import { signingKeys } from './signer.ts';
import { inclusionPaths } from './tree-paths.ts';

export interface ProvenEntry {
  readonly seq: number;
  /** The exact text the leaf hash is over. */
  readonly body: string;
  readonly path: readonly string[];
}

/** Everything needed to check a call's entries without the store. */
export interface ProofFile {
  readonly format: 'countersign-proof/1';
  readonly call: string;
  readonly entries: readonly ProvenEntry[];
  readonly size: number;
  readonly checkpoint: string;
  readonly publicKey: string;
}

/** Undefined when the call left no entry. */
export async function proveCall(
  database: Database,
  signer: LogSigner,
  call: string,
  now?: () => Date,
): Promise<ProofFile | undefined> {
  const rows = await database.db
    .selectFrom('audit_log')
    .select(['seq', 'body'])
    .where('call_id', '=', call)
    .orderBy('seq')
    .execute();
  const last = rows.at(-1);
  if (!last) return undefined;
  const { entries, checkpoint, publicKey } = await proveEntries(database, signer, rows, now);
  return {
    format: 'countersign-proof/1',
    call,
    entries,
    size: checkpoint.size,
    checkpoint: checkpoint.note,
    publicKey,
  };
}

/** Proves entries against the latest checkpoint, signing a new one when it does not reach them yet. */
export async function proveEntries(
  database: Database,
  signer: LogSigner,
  rows: readonly { readonly seq: number; readonly body: string }[],
  now?: () => Date,
): Promise<{ entries: ProvenEntry[]; checkpoint: StoredCheckpoint; publicKey: string }> {
  const needed = rows.reduce((most, { seq }) => Math.max(most, seq + 1), 0);
  let checkpoint = await latestCheckpoint(database);
  if (!checkpoint || checkpoint.size < needed) checkpoint = await writeCheckpoint(database, signer, now);
  if (!checkpoint) throw new Error('The log is empty: there is nothing to prove.');
  const opened = openNote(checkpoint.note, [signer.key, ...(await signingKeys(database))]);
  if (!opened.ok) {
    throw new Error(`The last checkpoint ${opened.problem}. Run \`countersign audit verify\`.`);
  }
  const seqs = rows.map(({ seq }) => seq);
  const paths = await inclusionPaths(database, seqs, checkpoint.size);
  const entries = rows.map(({ seq, body }, index) => ({ seq, body, path: paths[index] ?? [] }));
  return { entries, checkpoint, publicKey: opened.key.text };
}

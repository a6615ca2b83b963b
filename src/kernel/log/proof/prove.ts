import { ToolError } from '../../../contract/errors.ts';
import type { ProofFile, ProvenEntry } from '../../../contract/ports.ts';
import { consistencyPlan, foldRange, inclusionPlan, type NodeRef, nodeHash } from '../../../lib/merkle.ts';
import type { Database } from '../../store/database.ts';
import { STORED_LEVEL } from '../log.ts';
import {
  type LogSigner,
  latestCheckpoint,
  type StoredCheckpoint,
  writeCheckpoint,
} from '../signing/checkpoint.ts';
import { openNote } from '../signing/note.ts';
import { signingKeys } from '../signing/signer.ts';
import { requireIntact, requireProven } from './intact.ts';
import { supportOf } from './signatures.ts';

/** The path of each entry to the root of the log at `size`, from the nodes above its tile and the entries in it. */
async function inclusionPaths(
  database: Database,
  seqs: readonly number[],
  size: number,
): Promise<string[][]> {
  const plans = seqs.map((seq) => inclusionPlan(seq, size));
  const hashes = await readNodes(database, plans.flat(2));
  return plans.map((plan) => plan.map((refs) => foldRange(refs.map((ref) => hashOf(hashes, ref)))));
}

/** Shows that the log at `newSize` begins with the log at `oldSize`. */
export async function consistencyProof(
  database: Database,
  oldSize: number,
  newSize: number,
): Promise<string[]> {
  const plan = consistencyPlan(oldSize, newSize);
  const hashes = await readNodes(database, plan.flat());
  return plan.map((refs) => foldRange(refs.map((ref) => hashOf(hashes, ref))));
}

const BATCH = 500;
/** Entries under the lowest nodes that are stored. */
const TILE = 2 ** STORED_LEVEL;

async function readNodes(database: Database, refs: readonly NodeRef[]): Promise<Map<string, string>> {
  const byLevel = new Map<number, Set<number>>();
  const tiles = new Set<number>();
  for (const { level, idx } of refs) {
    if (level < STORED_LEVEL) tiles.add(Math.floor((idx * 2 ** level) / TILE));
    else byLevel.set(level, (byLevel.get(level) ?? new Set()).add(idx));
  }
  const hashes = new Map<string, string>();
  for (const [level, wanted] of byLevel) {
    const all = [...wanted];
    for (let start = 0; start < all.length; start += BATCH) {
      const rows = await readLevel(database, level, all.slice(start, start + BATCH));
      for (const { idx, hash } of rows) hashes.set(nodeKey(level, idx), hash);
    }
  }
  for (const tile of tiles) await addTile(database, tile, hashes);
  return hashes;
}

const nodeKey = (level: number, idx: number): string => `${level}/${idx}`;

function readLevel(
  database: Database,
  level: number,
  wanted: readonly number[],
): Promise<{ idx: number; hash: string }[]> {
  return database.db
    .selectFrom('audit_nodes')
    .select(['idx', 'hash'])
    .where('level', '=', level)
    .where('idx', 'in', wanted)
    .execute();
}

/** Recomputes what is not stored: the nodes below the level of a tile, from its entries. */
async function addTile(database: Database, tile: number, hashes: Map<string, string>): Promise<void> {
  const start = tile * TILE;
  const rows = await database.db
    .selectFrom('audit_log')
    .select(['seq', 'hash'])
    .where('seq', '>=', start)
    .where('seq', '<', start + TILE)
    .execute();
  for (const { seq, hash } of rows) hashes.set(nodeKey(0, seq), hash);
  for (let level = 1; level < STORED_LEVEL; level += 1) {
    const first = start / 2 ** level;
    for (let idx = first; idx < first + TILE / 2 ** level; idx += 1) {
      const left = hashes.get(nodeKey(level - 1, idx * 2));
      const right = hashes.get(nodeKey(level - 1, idx * 2 + 1));
      if (left !== undefined && right !== undefined) hashes.set(nodeKey(level, idx), nodeHash(left, right));
    }
  }
}

function hashOf(hashes: ReadonlyMap<string, string>, { level, idx }: NodeRef): string {
  const hash = hashes.get(nodeKey(level, idx));
  if (hash === undefined) {
    throw new Error(
      `Node ${level}/${idx} is missing from the audit log's tree, so nothing can be proven. Run \`countersign audit verify\`.`,
    );
  }
  return hash;
}

/** Undefined when the call left no entry. Fails when the proof would not be valid, and names the entry. */
export async function proveCall(
  database: Database,
  signer: LogSigner | undefined,
  call: string,
  now?: () => Date,
): Promise<ProofFile | undefined> {
  const rows = await entriesOfCall(database, call);
  requireIntact(rows);
  const proof = await assembleProof(database, signer, call, rows, now);
  if (proof) requireProven([...proof.entries, ...(proof.support ?? [])], proof.checkpoint);
  return proof;
}

/** The same without the checks, for those who check the proof and show what is wrong with it. */
export const collectProof = async (
  database: Database,
  signer: LogSigner,
  call: string,
  now?: () => Date,
): Promise<ProofFile | undefined> =>
  assembleProof(database, signer, call, await entriesOfCall(database, call), now);

interface LogRow {
  readonly seq: number;
  readonly hash: string;
  readonly body: string;
}

const entriesOfCall = (database: Database, call: string): Promise<LogRow[]> =>
  database.db
    .selectFrom('audit_log')
    .select(['seq', 'hash', 'body'])
    .where('call_id', '=', call)
    .orderBy('seq')
    .execute();

async function assembleProof(
  database: Database,
  signer: LogSigner | undefined,
  call: string,
  rows: readonly LogRow[],
  now?: () => Date,
): Promise<ProofFile | undefined> {
  if (rows.length === 0) return undefined;
  const support = await supportOf(database, rows);
  const proven = await proveEntries(database, signer, [...rows, ...support], now);
  const { checkpoint, publicKey } = proven;
  return {
    format: support.length > 0 ? 'countersign-proof/2' : 'countersign-proof/1',
    call,
    entries: proven.entries.slice(0, rows.length),
    ...(support.length > 0 && { support: proven.entries.slice(rows.length) }),
    size: checkpoint.size,
    checkpoint: checkpoint.note,
    publicKey,
  };
}

/**
 * Proves entries against the latest checkpoint. One that does not reach them yet is followed by a new one, unless there
 * is no signer: a reader of the log signs nothing.
 */
export async function proveEntries(
  database: Database,
  signer: LogSigner | undefined,
  rows: readonly { readonly seq: number; readonly body: string }[],
  now?: () => Date,
): Promise<{ entries: ProvenEntry[]; checkpoint: StoredCheckpoint; publicKey: string }> {
  const needed = rows.reduce((most, { seq }) => Math.max(most, seq + 1), 0);
  let checkpoint = await latestCheckpoint(database);
  if (!checkpoint || checkpoint.size < needed)
    checkpoint = signer && (await writeCheckpoint(database, signer, now));
  if (!checkpoint) {
    throw new Error(
      `No checkpoint covers entry ${needed - 1} yet. Run \`countersign audit checkpoint\` to sign one, then try again.`,
    );
  }
  const keys = await signingKeys(database);
  const opened = openNote(checkpoint.note, signer ? [signer.key, ...keys] : keys);
  if (!opened.ok) {
    // A page can show the call without its proof.
    throw new ToolError(
      'db_error',
      `The last checkpoint ${opened.problem}. Run \`countersign audit verify\`.`,
      { retryable: false },
    );
  }
  const seqs = rows.map(({ seq }) => seq);
  const paths = await inclusionPaths(database, seqs, checkpoint.size);
  const entries = rows.map(({ seq, body }, index) => ({ seq, body, path: paths[index] ?? [] }));
  return { entries, checkpoint, publicKey: opened.key.text };
}

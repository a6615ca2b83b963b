import { hash } from 'node:crypto';
import type { Transaction } from 'kysely';
import type { JsonValue } from '../../contract/json.ts';
import { canonicalJson } from '../../lib/canonical.ts';
import { appendLeaf, type Frontier, type TreeNode } from '../../lib/merkle.ts';
import { newSalt } from '../../lib/random.ts';
import type { Engine } from '../store/database.ts';
import {
  insertRows,
  insertShape,
  type RunNow,
  runners,
  runStatement,
  type Statement,
  statement,
} from '../store/statements.ts';
import type { AuditLogTable, AuditNodesTable, Tables } from '../store/tables.ts';
import type { PreparedEntry } from './entry.ts';

/**
 * Appends inside the caller's write transaction, all entries or none. The head row serialises writers, so call this
 * last: from here to the commit every other process waits.
 */
export async function appendEntries(
  trx: Transaction<Tables>,
  engine: Engine,
  entries: readonly PreparedEntry[],
): Promise<void> {
  if (entries.length === 0) return;
  const known = runners.get(trx);
  const last = known && lastHeads.get(known);
  const head =
    (last && (await advance(trx, engine, last, entries))) ?? (await appendAfterReading(trx, engine, entries));
  if (known) lastHeads.set(known, head);
}

/** The head as it is stored. */
interface StoredHead {
  readonly size: number;
  readonly frontier: string;
}

/**
 * The head that this process wrote last, by connection of an embedded engine. Only a guess: the update compares it with
 * the row, so another process's entry or a rolled back transaction costs one more statement and nothing else.
 */
const lastHeads = new WeakMap<RunNow, StoredHead>();

async function appendAfterReading(
  trx: Transaction<Tables>,
  engine: Engine,
  entries: readonly PreparedEntry[],
): Promise<StoredHead> {
  const appended = await advance(trx, engine, await readHead(trx, engine), entries);
  if (!appended) throw new Error('The head of the audit log changed although it was locked.');
  return appended;
}

/** Undefined, with nothing written, when the head is not this one. */
async function advance(
  trx: Transaction<Tables>,
  engine: Engine,
  head: StoredHead,
  entries: readonly PreparedEntry[],
): Promise<StoredHead | undefined> {
  const tree = JSON.parse(head.frontier) as Frontier;
  const rows: AuditLogTable[] = [];
  const nodes: TreeNode[] = [];
  let size = head.size;
  for (const { hash, call, run, kind, at, body } of entries) {
    rows.push({ seq: size, hash, call_id: call ?? null, run_id: run ?? null, kind, at, body });
    for (const node of appendLeaf(tree, size, hash)) if (node.level >= STORED_LEVEL) nodes.push(node);
    size += 1;
  }
  const frontier = JSON.stringify(tree);
  const moved = await runStatement(trx, engine, HEAD_UPDATE, [size, frontier, head.size, head.frontier]);
  if (moved.numAffectedRows === 0n) return undefined;
  await insertRows(trx, engine, LOG, rows);
  await insertRows(trx, engine, NODES, nodes);
  return { size, frontier };
}

/**
 * Subtrees of 2^8 entries and more are stored once they are complete. The head has what is left over, and the nodes below
 * are recomputed from the entries: stored, they would cost every commit a page or two.
 */
export const STORED_LEVEL = 8;

export interface Head {
  readonly size: number;
  readonly frontier: Frontier;
}

export async function lockHead(trx: Transaction<Tables>, engine: Engine): Promise<Head> {
  const { size, frontier } = await readHead(trx, engine);
  return { size, frontier: JSON.parse(frontier) as Frontier };
}

async function readHead(trx: Transaction<Tables>, engine: Engine): Promise<StoredHead> {
  const { rows } = await runStatement<StoredHead>(trx, engine, HEAD_LOCK, []);
  const [head] = rows;
  if (!head)
    throw new Error(
      'The audit log has no head row: the database is damaged. Run `countersign audit verify`.',
    );
  return head;
}

const LOG = insertShape<AuditLogTable>('audit_log', {
  seq: true,
  hash: true,
  call_id: true,
  run_id: true,
  kind: true,
  at: true,
  body: true,
});
const NODES = insertShape<AuditNodesTable>('audit_nodes', { level: true, idx: true, hash: true });
const HEAD_UPDATE = statement(
  'update audit_head set size = ?, frontier = ? where id = 1 and size = ? and frontier = ?',
);
const HEAD = 'select size, frontier from audit_head where id = 1';
/** SQLite's write transaction already excludes every other writer; PostgreSQL needs the row lock. */
const HEAD_LOCK: Statement = { single: true, sqlite: HEAD, postgres: `${HEAD} for update` };

export type PayloadKind = 'args' | 'result';

export interface SealedPayload {
  /** What the entry holds: `sha256:<hex>`, or `unkept:…:sha256:<hex>` when the body was never stored. */
  readonly hash: string;
  readonly salt: string;
  readonly body: string | null;
}

/**
 * Commits to a value without showing it: the salt keeps short values from being guessed, and without it and the body,
 * which can be erased, the hash says nothing. Whether the body was kept is part of what the entry says, so a body
 * removed later is missed.
 */
export function sealPayload(
  value: JsonValue,
  options: { readonly keep?: boolean; readonly maxKept?: number } = {},
): SealedPayload {
  const { keep = true, maxKept = Number.POSITIVE_INFINITY } = options;
  const body = canonicalJson(value);
  const salt = newSalt();
  const digest = payloadHash(salt + body);
  if (keep && body.length <= maxKept) return { hash: digest, salt, body };
  return { hash: unkeptPrefix(salt) + digest, salt, body: null };
}

/** Over salt and body together. */
export const payloadHash = (salted: string): string => `sha256:${hash('sha256', salted)}`;

export const wasKept = (payloadHash: string): boolean => payloadHash.startsWith('sha256:');

/** Without a body only this shows that the salt is still the one that belongs to the hash. */
export const fitsUnkept = (payloadHash: string, salt: string): boolean =>
  payloadHash.startsWith(unkeptPrefix(salt));

const unkeptPrefix = (salt: string): string => `unkept:${hash('sha256', salt).slice(0, 16)}:`;

/** Salt and body together match the hash. An unkept payload has no body; a kept one without its body does not match. */
export const fits = (payloadHash: string, salted: string): boolean =>
  wasKept(payloadHash) ? `sha256:${hash('sha256', salted)}` === payloadHash : fitsUnkept(payloadHash, salted);

/** A payload's row carries the time of its entry: verify compares the two. */
export const payloadRow = (entry: PreparedEntry, kind: PayloadKind, sealed: SealedPayload) => ({
  call_id: entry.call ?? '',
  kind,
  ...sealed,
  at: entry.at,
  erased_at: null,
});

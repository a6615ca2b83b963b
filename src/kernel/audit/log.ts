import type { Transaction } from 'kysely';
import { appendLeaf, type Frontier, type TreeNode } from '../../lib/merkle.ts';
import type { Engine } from '../database.ts';
import { insertRows, insertShape, runStatement, type Statement, statement } from '../statements.ts';
import type { AuditLogTable, AuditNodesTable, Tables } from '../tables.ts';
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
  const head = await lockHead(trx, engine);
  const rows: AuditLogTable[] = [];
  const nodes: TreeNode[] = [];
  let size = head.size;
  for (const { hash, call, run, kind, at, body } of entries) {
    rows.push({ seq: size, hash, call_id: call ?? null, run_id: run ?? null, kind, at, body });
    nodes.push(...appendLeaf(head.frontier, size, hash));
    size += 1;
  }
  await insertRows(trx, engine, LOG, rows);
  await insertRows(trx, engine, NODES, nodes);
  await runStatement(trx, engine, HEAD_UPDATE, [size, JSON.stringify(head.frontier)]);
}

export interface Head {
  readonly size: number;
  readonly frontier: Frontier;
}

export async function lockHead(trx: Transaction<Tables>, engine: Engine): Promise<Head> {
  const { rows } = await runStatement<{ size: number; frontier: string }>(trx, engine, HEAD_LOCK, []);
  const [head] = rows;
  if (!head)
    throw new Error('The audit log has no head row: the store is damaged. Run `countersign audit verify`.');
  return { size: head.size, frontier: JSON.parse(head.frontier) as Frontier };
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
const HEAD_UPDATE = statement('update audit_head set size = ?, frontier = ? where id = 1');
const HEAD = 'select size, frontier from audit_head where id = 1';
/** SQLite's write transaction already excludes every other writer; PostgreSQL needs the row lock. */
const HEAD_LOCK: Statement = { single: true, sqlite: HEAD, postgres: `${HEAD} for update` };

import { CompiledQuery, type Transaction } from 'kysely';
import { appendLeaf, type Frontier, type TreeNode } from '../../lib/merkle.ts';
import type { Engine } from '../database.ts';
import type { Tables } from '../tables.ts';
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
  const rows: unknown[][] = [];
  const nodes: TreeNode[] = [];
  let size = head.size;
  for (const { hash, call, run, kind, at, body } of entries) {
    rows.push([size, hash, call ?? null, run ?? null, kind, at, body]);
    nodes.push(...appendLeaf(head.frontier, size, hash));
    size += 1;
  }
  await insertRows(trx, engine, LOG_INSERT, rows);
  await insertRows(
    trx,
    engine,
    NODE_INSERT,
    nodes.map(({ level, idx, hash }) => [level, idx, hash]),
  );
  const update = { sqlite: HEAD_UPDATE.replace('$1', '?').replace('$2', '?'), postgres: HEAD_UPDATE };
  await trx.executeQuery(CompiledQuery.raw(update[engine], [size, JSON.stringify(head.frontier)]));
}

export interface Head {
  readonly size: number;
  readonly frontier: Frontier;
}

/** SQLite's write transaction already excludes every other writer; PostgreSQL needs the row lock. */
export async function lockHead(trx: Transaction<Tables>, engine: Engine): Promise<Head> {
  const lock = engine === 'postgres' ? ' for update' : '';
  const query = CompiledQuery.raw(`select size, frontier from audit_head where id = 1${lock}`);
  const { rows } = await trx.executeQuery<{ size: number; frontier: string }>(query);
  const [head] = rows;
  if (!head)
    throw new Error('The audit log has no head row: the store is damaged. Run `countersign audit verify`.');
  return { size: head.size, frontier: JSON.parse(head.frontier) as Frontier };
}

// The query builder would cost more than the insert itself on the path of every change.
interface InsertShape {
  readonly into: string;
  readonly columns: number;
}

const LOG_INSERT: InsertShape = {
  into: 'audit_log (seq, hash, call_id, run_id, kind, at, body)',
  columns: 7,
};
const NODE_INSERT: InsertShape = { into: 'audit_nodes (level, idx, hash)', columns: 3 };
const HEAD_UPDATE = 'update audit_head set size = $1, frontier = $2 where id = 1';

/** Few distinct widths, so that few statements are ever prepared. */
const WIDTHS = [128, 16, 1] as const;
const texts = new Map<string, string>();

async function insertRows(
  trx: Transaction<Tables>,
  engine: Engine,
  shape: InsertShape,
  rows: readonly unknown[][],
): Promise<void> {
  let start = 0;
  for (const width of WIDTHS) {
    for (; rows.length - start >= width; start += width) {
      const parameters = rows.slice(start, start + width).flat();
      await trx.executeQuery(CompiledQuery.raw(insertText(engine, shape, width), parameters));
    }
  }
}

function insertText(engine: Engine, { into, columns }: InsertShape, width: number): string {
  const key = `${engine} ${width} ${into}`;
  const known = texts.get(key);
  if (known) return known;
  const tuples = Array.from({ length: width }, (_, row) => {
    const places = Array.from({ length: columns }, (_, column) =>
      engine === 'postgres' ? `$${row * columns + column + 1}` : '?',
    );
    return `(${places.join(', ')})`;
  });
  const text = `insert into ${into} values ${tuples.join(', ')}`;
  texts.set(key, text);
  return text;
}

import { CompiledQuery, type QueryResult, type Transaction } from 'kysely';
import type { Engine } from './database.ts';
import type { AuditPayloadsTable, CallsTable, Tables } from './tables.ts';

/**
 * SQL written once, with `?`, for the queries on the path of every call: there the query builder would cost more than the
 * query itself.
 */
export interface Statement {
  readonly sqlite: string;
  readonly postgres: string;
  /** It reads at most one row, which SQLite gives at half the price. */
  readonly single?: boolean;
}

export function statement(text: string, { single = false } = {}): Statement {
  let place = 0;
  return {
    single,
    sqlite: text,
    postgres: text.replaceAll('?', () => {
      place += 1;
      return `$${place}`;
    }),
  };
}

/** Runs SQL immediately on the connection that holds the transaction. */
export type RunNow = (sql: string, parameters: readonly unknown[], single: boolean) => QueryResult<unknown>;

/** Transactions of an embedded engine, where every layer between here and the file costs more than the query. */
export const runners = new WeakMap<object, RunNow>();

export async function runStatement<R>(
  trx: Transaction<Tables>,
  engine: Engine,
  text: Statement,
  parameters: readonly unknown[],
): Promise<QueryResult<R>> {
  const runNow = runners.get(trx);
  if (runNow) return runNow(text[engine], parameters, text.single === true) as QueryResult<R>;
  return trx.executeQuery<R>(CompiledQuery.raw(text[engine], parameters as unknown[]));
}

/** A table to insert whole rows into. */
export interface InsertShape<Row> {
  readonly table: string;
  readonly columns: readonly (keyof Row & string)[];
  /** By number of rows. */
  readonly statements: Map<number, Statement>;
}

/** The type asks for every column by name, so that none is forgotten when the table grows. */
export const insertShape = <Row>(
  table: string,
  columns: Readonly<Record<keyof Row & string, true>>,
): InsertShape<Row> => ({
  table,
  columns: Object.keys(columns) as (keyof Row & string)[],
  statements: new Map(),
});

const STORABLE: ReadonlySet<string> = new Set(['string', 'number', 'bigint', 'undefined']);

/**
 * Refuses cells that no engine can store, before a statement has them: SQLite's driver says nothing of the row then, or
 * ends the process, and PostgreSQL's writes the source text of a function.
 */
export function requireStorable(table: string, row: object): void {
  for (const [column, cell] of Object.entries(row)) {
    if (STORABLE.has(typeof cell) || cell === null || Buffer.isBuffer(cell)) continue;
    const message = `${table}.${column} is of type ${typeof cell}, which no database can store.`;
    throw Object.assign(new TypeError(message), { code: `unstorable_${typeof cell}` });
  }
}

/** Few distinct widths, so that few statements are ever prepared. */
const WIDTHS = [128, 16, 1] as const;

export async function insertRows<Row>(
  trx: Transaction<Tables>,
  engine: Engine,
  shape: InsertShape<Row>,
  rows: readonly Row[],
): Promise<void> {
  let start = 0;
  for (const width of WIDTHS) {
    for (; rows.length - start >= width; start += width) {
      const parameters: unknown[] = [];
      for (let at = start; at < start + width; at += 1) {
        const row = rows[at] as Row;
        for (const column of shape.columns) parameters.push(row[column]);
      }
      await runStatement(trx, engine, insertStatement(shape, width), parameters);
    }
  }
}

function insertStatement<Row>({ table, columns, statements }: InsertShape<Row>, width: number): Statement {
  const known = statements.get(width);
  if (known) return known;
  const tuple = `(${columns.map(() => '?').join(', ')})`;
  const tuples = Array.from({ length: width }, () => tuple).join(', ');
  const made = statement(`insert into ${table} (${columns.join(', ')}) values ${tuples}`);
  statements.set(width, made);
  return made;
}

export const CALLS = insertShape<CallsTable>('calls', {
  call_id: true,
  parent_id: true,
  started_at: true,
  finished_at: true,
  tool: true,
  toolkit: true,
  category: true,
  effect: true,
  principal: true,
  client: true,
  transport: true,
  run_id: true,
  digest: true,
  status: true,
  code: true,
  decision: true,
  rule: true,
  latency_ms: true,
  evidence_hash: true,
  approval_id: true,
  approver: true,
  replay_of: true,
  holder_host: true,
  holder_pid: true,
  lease_until: true,
});

export const PAYLOADS = insertShape<AuditPayloadsTable>('audit_payloads', {
  call_id: true,
  kind: true,
  hash: true,
  salt: true,
  body: true,
  at: true,
  erased_at: true,
});

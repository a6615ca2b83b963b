import { type RawBuilder, sql } from 'kysely';
import { leafHash } from '../../../lib/merkle.ts';
import type { Database } from '../../database.ts';
import type { AuditLogTable } from '../../tables.ts';
import { ENTRY_KINDS, type Entry } from '../entry.ts';
import type { Problems } from './report.ts';

/** One entry as it was found: `entry` is undefined when its body cannot be read. */
export interface FoundEntry {
  readonly seq: number;
  /** The hash the tree is rebuilt from. */
  readonly leaf: string;
  readonly entry: Entry | undefined;
}

const KINDS: ReadonlySet<string> = new Set(ENTRY_KINDS);

/**
 * The entries [start, end), each checked against its own hash and its index columns. The store hands over a whole page
 * as two texts of one line per entry: fetching rows and columns one by one costs more than hashing them.
 */
export async function readPage(
  database: Database,
  start: number,
  end: number,
  problems: Problems,
): Promise<FoundEntry[]> {
  const { bodies, columns } = await pageText(database, start, end);
  const found: FoundEntry[] = [];
  const expected: string[] = [];
  // Canonical JSON has no raw line breaks.
  for (const body of bodies.split('\n')) {
    const seq = start + found.length;
    const entry = readBody(body);
    if (!entry || isAmbiguous(body, entry)) return inspectPage(database, start, end, problems);
    const leaf = leafHash(body);
    found.push({ seq, leaf, entry });
    expected.push(expectedColumns(seq, leaf, entry));
  }
  const intact = found.length === end - start && columns === expected.join('\n');
  return intact ? found : inspectPage(database, start, end, problems);
}

async function pageText(
  database: Database,
  start: number,
  end: number,
): Promise<{ bodies: string; columns: string }> {
  const line = sql`hash || '|' || seq || '|' || kind || '|' || at || '|' || coalesce('=' || call_id, '-') || '|' || coalesce('=' || run_id, '-')`;
  const { rows } = await sql<{ bodies: string | null; columns: string | null }>`
    select ${joined(database, sql`body`)} as bodies, ${joined(database, line)} as columns
    from audit_log where seq >= ${start} and seq < ${end}
  `.execute(database.db);
  return { bodies: rows[0]?.bodies ?? '', columns: rows[0]?.columns ?? '' };
}

/** SQLite walks a range of its primary key in order; were it ever not to, the slow way would find nothing wrong. */
function joined(database: Database, text: RawBuilder<unknown>): RawBuilder<string> {
  return database.engine === 'postgres'
    ? sql<string>`string_agg(${text}, chr(10) order by seq)`
    : sql<string>`group_concat(${text}, char(10))`;
}

function expectedColumns(seq: number, leaf: string, { kind, at, call, run }: Entry): string {
  const callText = call === undefined ? '-' : `=${call}`;
  const runText = run === undefined ? '-' : `=${run}`;
  return `${leaf}|${seq}|${kind}|${at}|${callText}|${runText}`;
}

/** With a separator inside a value, equal texts would not mean equal columns. Most bodies can be told at a glance. */
const isAmbiguous = (body: string, { kind, at, call, run }: Entry): boolean =>
  !KINDS.has(kind) ||
  ((body.includes('|') || body.includes('\\')) &&
    [at, call, run].some((value) => value !== undefined && SEPARATOR.test(value)));

const SEPARATOR = /[|\n]/;

function readBody(body: string): Entry | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return isEntry(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const isEntry = (value: unknown): value is Entry =>
  typeof value === 'object' &&
  value !== null &&
  'v' in value &&
  value.v === 1 &&
  'kind' in value &&
  typeof value.kind === 'string' &&
  'at' in value &&
  typeof value.at === 'string';

/** The slow way, taken for a page in which something is wrong: names every fault in it. */
async function inspectPage(
  database: Database,
  start: number,
  end: number,
  problems: Problems,
): Promise<FoundEntry[]> {
  const rows = await database.db
    .selectFrom('audit_log')
    .selectAll()
    .where('seq', '>=', start)
    .where('seq', '<', end)
    .orderBy('seq')
    .execute();
  const found: FoundEntry[] = [];
  let expected = start;
  for (const row of rows) {
    if (row.seq > expected) missing(expected, row.seq, problems);
    found.push(inspectRow(row, problems));
    expected = row.seq + 1;
  }
  if (expected < end) missing(expected, end, problems);
  return found;
}

function missing(from: number, to: number, problems: Problems): void {
  const which = to - from === 1 ? `Entry ${from} is` : `Entries ${from} to ${to - 1} are`;
  problems.add('missing', from, `${which} missing from the log.`);
}

function inspectRow(row: AuditLogTable, problems: Problems): FoundEntry {
  const { seq } = row;
  const entry = readBody(row.body);
  const intact = leafHash(row.body) === row.hash;
  if (!intact) {
    problems.add('leaf', seq, `Entry ${seq} does not hash to ${row.hash}: its body or its hash was changed.`);
  } else if (!entry) {
    problems.add('leaf', seq, `Entry ${seq} is not an entry of this log format.`);
  }
  if (entry) {
    const told = { kind: entry.kind, at: entry.at, call_id: entry.call ?? null, run_id: entry.run ?? null };
    for (const [column, value] of Object.entries(told)) {
      const stored = row[column as keyof typeof told];
      if (stored === value) continue;
      problems.add('columns', seq, `Entry ${seq} says ${column} is ${value}, its row says ${stored}.`);
    }
    if (!KINDS.has(entry.kind)) {
      problems.add('story', seq, `Entry ${seq} is of the unknown kind "${entry.kind}".`);
    }
  }
  // Building on the stored hash keeps one changed body from showing up as damage all over the tree.
  const leaf = /^[0-9a-f]{64}$/.test(row.hash) ? row.hash : leafHash(row.body);
  return { seq, leaf, entry };
}

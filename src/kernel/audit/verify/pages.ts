import { sql } from 'kysely';
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
 * The entries [start, end), each checked against its own hash and its index columns. The store hands over one text for
 * all small columns, because fetching them one by one costs more than hashing the body.
 */
export async function readPage(
  database: Database,
  start: number,
  end: number,
  problems: Problems,
): Promise<FoundEntry[]> {
  const { rows } = await sql<{ body: string; columns: string }>`
    select body, ${columnsText} as columns from audit_log where seq >= ${start} and seq < ${end} order by seq
  `.execute(database.db);
  const found: FoundEntry[] = [];
  for (const { body, columns } of rows) {
    const seq = start + found.length;
    const leaf = leafHash(body);
    const entry = readBody(body);
    if (!entry || columns !== expectedColumns(seq, leaf, entry) || isAmbiguous(entry)) {
      return inspectPage(database, start, end, problems);
    }
    found.push({ seq, leaf, entry });
  }
  return found.length === end - start ? found : inspectPage(database, start, end, problems);
}

const columnsText = sql<string>`hash || '|' || seq || '|' || kind || '|' || at || '|' || coalesce('=' || call_id, '-') || '|' || coalesce('=' || run_id, '-')`;

function expectedColumns(seq: number, leaf: string, { kind, at, call, run }: Entry): string {
  const callText = call === undefined ? '-' : `=${call}`;
  const runText = run === undefined ? '-' : `=${run}`;
  return `${leaf}|${seq}|${kind}|${at}|${callText}|${runText}`;
}

/** With the separator inside a value, equal texts would not mean equal columns. */
const isAmbiguous = ({ kind, at, call, run }: Entry): boolean =>
  !KINDS.has(kind) || at.includes('|') || call?.includes('|') === true || run?.includes('|') === true;

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

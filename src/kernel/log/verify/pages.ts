import { type RawBuilder, sql } from 'kysely';
import { leafHash } from '../../../lib/merkle.ts';
import type { Database } from '../../store/database.ts';
import type { AuditLogTable } from '../../store/tables.ts';
import { ENTRY_KINDS, type Entry, readBody } from '../entry.ts';
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
  return (await readIntact(database, start, end)) ?? inspectPage(database, start, end, problems);
}

/** The same if nothing is wrong with any of them, undefined otherwise. */
export async function readIntact(
  database: Database,
  start: number,
  end: number,
): Promise<(FoundEntry & { readonly entry: Entry })[] | undefined> {
  const { bodies, columns } = await pageText(database, start, end);
  const found: (FoundEntry & { readonly entry: Entry })[] = [];
  const expected: string[] = [];
  // Canonical JSON has no raw line breaks.
  for (const body of bodies.split('\n')) {
    const seq = start + found.length;
    const entry = readBody(body);
    if (!entry || isAmbiguous(body, entry)) return undefined;
    const leaf = leafHash(body);
    found.push({ seq, leaf, entry });
    expected.push(expectedColumns(seq, leaf, entry));
  }
  return found.length === end - start && columns === expected.join('\n') ? found : undefined;
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

/** With a separator inside a value, equal texts would not mean equal columns. Most bodies can be recognized at a glance. */
const isAmbiguous = (body: string, { kind, at, call, run }: Entry): boolean =>
  !KINDS.has(kind) ||
  ((body.includes('|') || body.includes('\\')) &&
    [at, call, run].some((value) => value !== undefined && SEPARATOR.test(value)));

const SEPARATOR = /[|\n]/;

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
    if (row.seq > expected) problems.addMissing(expected, row.seq - 1);
    found.push(inspectRow(row, problems));
    expected = row.seq + 1;
  }
  if (expected < end) problems.addMissing(expected, end - 1);
  return found;
}

function inspectRow(row: AuditLogTable, problems: Problems): FoundEntry {
  const { seq } = row;
  const entry = readBody(row.body);
  const intact = leafHash(row.body) === row.hash;
  if (!intact) {
    problems.add(
      'leaf',
      seq,
      `Entry ${seq} does not match its hash ${row.hash}: its body or its hash was changed.`,
    );
  } else if (!entry) {
    problems.add('leaf', seq, `Entry ${seq} is not an entry of this log format.`);
  }
  if (entry) {
    const expected = {
      kind: entry.kind,
      at: entry.at,
      call_id: entry.call ?? null,
      run_id: entry.run ?? null,
    };
    for (const [column, value] of Object.entries(expected)) {
      const stored = row[column as keyof typeof expected];
      if (stored === value) continue;
      problems.add('columns', seq, `Entry ${seq} says ${column} is ${value}, but its row says ${stored}.`);
    }
    if (!KINDS.has(entry.kind)) {
      problems.add('story', seq, `Entry ${seq} has the unknown kind "${entry.kind}".`);
    }
  }
  // Building on the stored hash keeps one changed body from showing up as damage all over the tree.
  const leaf = /^[0-9a-f]{64}$/.test(row.hash) ? row.hash : leafHash(row.body);
  return { seq, leaf, entry };
}

/**
 * Calls that begin or end more than once. `calls` is how many there are if none does; only when the store counts fewer
 * is the slow question asked. The columns were compared with the entries before.
 */
export async function findRepeatedCalls(
  database: Database,
  size: number,
  calls: number,
  problems: Problems,
): Promise<void> {
  const { distinct } = await database.db
    .selectFrom('audit_log')
    .select((eb) => eb.fn.count<number>('call_id').distinct().as('distinct'))
    .where('call_id', 'is not', null)
    .where('seq', '<', size)
    .executeTakeFirstOrThrow();
  if (distinct === calls) return;
  const { rows } = await sql<{ call: string; begun: number; ended: number; seq: number }>`
    select call_id as "call", max(seq) as "seq",
      sum(case when kind = 'intent' then 1 else 0 end) as "begun",
      sum(case when kind in ('outcome', 'read', 'call', 'refusal', 'routed', 'dry_run') then 1 else 0 end) as "ended"
    from audit_log where call_id is not null and seq < ${size} group by call_id
    having sum(case when kind = 'intent' then 1 else 0 end) > 1
      or sum(case when kind in ('outcome', 'read', 'call', 'refusal', 'routed', 'dry_run') then 1 else 0 end) > 1
    limit 100
  `.execute(database.db);
  for (const { call, begun, ended, seq } of rows) {
    const what = [begun > 1 ? `begins ${begun} times` : '', ended > 1 ? `ends ${ended} times` : ''];
    problems.add('story', seq, `Call ${call} ${what.filter(Boolean).join(' and ')} in the log.`);
  }
}

import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../store/database.ts';
import type { CallsTable } from '../../store/tables.ts';
import type { Entry } from '../entry.ts';
import { type CallEntry, type StatedRow, statedRow } from '../rows/call-row.ts';
import { findDifferences } from '../rows/find.ts';
import type { Problems } from './report.ts';

/**
 * The rows of `calls` against the entries: what people are shown about a call is in the row, what is proven is in the
 * entries. Most rows are compared as one line of text each; a line that differs sends its call the slow way.
 */
export class CallRowCheck {
  readonly #database: Database;
  readonly #problems: Problems;
  /** Lines as they must be → the call and the entry that ended it. */
  #expected = new Map<string, { readonly call: string; readonly seq: number }>();
  #doubtful = new Map<string, number>();
  readonly #open = new Map<string, CallEntry>();
  /** Calls of unknown outcome: more entries may follow, so they are looked at last. */
  readonly #unsettled = new Map<string, number>();
  #faulty = 0;

  constructor(database: Database, problems: Problems) {
    this.#database = database;
    this.#problems = problems;
  }

  take(seq: number, hash: string, entry: Entry): void {
    const { call, kind } = entry;
    if (call === undefined) return;
    const own = { seq, hash, entry };
    if (kind === 'intent') {
      this.#open.set(call, own);
    } else if (kind === 'outcome') {
      const intent = this.#open.get(call);
      this.#open.delete(call);
      if (entry.status === 'indeterminate' || !intent) this.#unsettled.set(call, seq);
      else this.#expect([intent, own], call, seq);
    } else if (kind === 'settled') {
      this.#open.delete(call);
      this.#unsettled.set(call, seq);
    } else {
      this.#expect([own], call, seq);
    }
  }

  async checkPage(): Promise<void> {
    const expected = this.#expected;
    if (expected.size > 0) {
      this.#expected = new Map();
      const calls = new Set<string>();
      for (const { call } of expected.values()) calls.add(call);
      for (const line of await this.#lines([...calls])) expected.delete(line);
      for (const { call, seq } of expected.values()) this.#doubtful.set(call, seq);
    }
    await this.#inspect(this.#doubtful);
    this.#doubtful = new Map();
  }

  /** `logged` and `rows` are how many calls the log and the table had when verify began. */
  async finish(logged: number, rows: number): Promise<void> {
    await this.#inspect(this.#unsettled);
    await this.#inspect(new Map([...this.#open].map(([call, { seq }]) => [call, seq])));
    if (this.#faulty > 0 || logged !== rows) await this.#nameInvented();
  }

  #expect(entries: readonly [CallEntry, ...CallEntry[]], call: string, seq: number): void {
    const stated = statedRow(entries);
    const { entry } = entries[0];
    const plain = !entry.approval && entry.kind !== 'routed';
    const line = stated && plain ? lineOf(call, stated) : undefined;
    if (line === undefined) this.#doubtful.set(call, seq);
    else this.#expected.set(line, { call, seq });
  }

  async #inspect(calls: ReadonlyMap<string, number>): Promise<void> {
    if (calls.size === 0) return;
    for (const [call, differences] of await findDifferences(this.#database, [...calls.keys()])) {
      if (differences.length === 0) continue;
      this.#faulty += 1;
      const message = `Call ${call} ${differences.join('; ')}.`;
      this.#problems.add('row', calls.get(call), message);
    }
  }

  async #nameInvented(): Promise<void> {
    const rows = await this.#database.db
      .selectFrom('calls as c')
      .leftJoin('audit_log as l', 'l.call_id', 'c.call_id')
      .where('l.seq', 'is', null)
      .select('c.call_id')
      .limit(100)
      .execute();
    for (const { call_id } of rows)
      this.#problems.add('row', undefined, `Call ${call_id} has a row, but no entry in the log.`);
  }

  async #lines(calls: readonly string[]): Promise<readonly string[]> {
    const list = JSON.stringify(calls);
    const isPostgres = this.#database.engine === 'postgres';
    const wanted = isPostgres
      ? sql`jsonb_array_elements_text(${list}::jsonb) as wanted (value)`
      : sql`json_each(${list}) as wanted`;
    const joined: RawBuilder<string> = isPostgres
      ? sql`string_agg(${LINE}, chr(10))`
      : sql`group_concat(${LINE}, char(10))`;
    const { rows } = await sql<{ lines: string | null }>`
      select ${joined} as lines from ${wanted} cross join calls where call_id = wanted.value
    `.execute(this.#database.db);
    return rows[0]?.lines?.split('\n') ?? [];
  }
}

const COLUMNS = [
  'started_at',
  'finished_at',
  'parent_id',
  'tool',
  'toolkit',
  'effect',
  'principal',
  'client',
  'transport',
  'run_id',
  'digest',
  'status',
  'code',
  'decision',
  'rule',
  'evidence_hash',
  'approver',
  'replay_of',
] as const satisfies readonly (keyof StatedRow)[];
/** Empty in the row of a call that ended and used no approval. */
const EMPTY = [
  'approval_id',
  'holder_host',
  'holder_pid',
  'lease_until',
] as const satisfies readonly (keyof CallsTable)[];

/** Null and empty text must not look alike. */
const LINE = sql.join(
  [
    sql`call_id`,
    ...COLUMNS.map((column) => sql`coalesce('=' || ${sql.ref(column)}, '-')`),
    ...EMPTY.map((column) => sql`coalesce('=' || ${sql.ref(column)}, '-')`),
    sql`case when latency_ms >= 0 then '' else '-' end`,
  ],
  sql` || '|' || `,
);
const END = `|${EMPTY.map(() => '-').join('|')}|`;

/** Undefined where a value could be taken for two: then the columns are compared one by one. */
function lineOf(call: string, stated: StatedRow): string | undefined {
  let line = call;
  for (const column of COLUMNS) {
    const value = stated[column];
    if (value === undefined) return undefined;
    line += value === null ? '|-' : `|=${value}`;
  }
  // A value with a line break equals no line, so it needs no check of its own.
  return line.split('|').length === COLUMNS.length + 1 ? line + END : undefined;
}

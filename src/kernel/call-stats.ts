import { setImmediate } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import { uuidFloor } from '../lib/random.ts';
import type { Database } from './store/database.ts';

/** The newest calls are read one by one, so that what they say is exact and a small database has no figures at all. */
const LAG = 2_000;
/** Entries at a time: others are answered between two. */
const SLICE = 500;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Each finished call has one entry of these kinds. */
const FINISHING = sql`l.kind in ('outcome', 'read', 'call', 'refusal', 'routed', 'dry_run')`;

/** A tenth of a natural logarithm: latencies on the same step differ by a tenth. */
const STEP = sql`case when c.latency_ms <= 0.001 then -70 else cast(floor(ln(c.latency_ms) * 10) as integer) end`;

/** Calls that are not told apart. */
export interface CallStat {
  readonly span: string;
  readonly tool: string;
  readonly category: string;
  readonly status: string;
  readonly code: string | null;
  readonly calls: number;
  readonly totalMs: number;
  readonly minMs: number;
  readonly maxMs: number;
  readonly lastAt: string;
}

export interface StatsFilter {
  /** What the caller groups by: the rest of a figure is not told apart. */
  readonly by: 'span' | 'tool';
  readonly from: Date;
  readonly unit?: 'hour' | 'day';
  readonly toolkit?: string;
  readonly tool?: string;
  /** Only calls that ended with an error code. */
  readonly codes?: boolean;
}

/**
 * Adds calls to the figures until only the newest are left. Entries are never added late or twice, so their order decides
 * what is in: a call that takes long has an old id and a new entry. A call whose outcome is unknown counts as such; if
 * it is settled later than that, the figures do not follow.
 */
export async function updateCallStats(database: Database): Promise<void> {
  for (;;) {
    const { seq, size } = await readHeads(database);
    if (size - seq < LAG + SLICE) return;
    await database.write(async (trx) => {
      const moved = await trx
        .updateTable('call_stats_head')
        .set({ seq: seq + SLICE })
        .where('seq', '=', seq)
        .executeTakeFirst();
      // Another process has just done it.
      if (moved.numUpdatedRows === 0n) return;
      for (const [unit, length] of UNITS) await addSlice(seq, unit, length).execute(trx);
    });
    await setImmediate();
  }
}

const UNITS = [
  ['hour', 13],
  ['day', 10],
] as const;

const addSlice = (seq: number, unit: string, length: number): RawBuilder<unknown> => sql`
  insert into call_stats
    (unit, span, tool, toolkit, category, status, code, step, calls, total_ms, min_ms, max_ms, last_at)
  select ${sql.lit(unit)}, substr(c.started_at, 1, ${sql.lit(length)}), c.tool, c.toolkit, c.category, c.status,
    coalesce(c.code, ''), ${STEP}, count(*), sum(c.latency_ms), min(c.latency_ms), max(c.latency_ms), max(c.started_at)
  from ${ENTRIES_FIRST}
  where l.seq >= ${seq} and l.seq < ${seq + SLICE} and c.call_id = l.call_id and ${FINISHING}
  group by substr(c.started_at, 1, ${sql.lit(length)}), c.tool, c.toolkit, c.category, c.status, coalesce(c.code, ''), ${STEP}
  on conflict (unit, span, tool, toolkit, category, status, code, step) do update set
    calls = call_stats.calls + excluded.calls,
    total_ms = call_stats.total_ms + excluded.total_ms,
    min_ms = case when excluded.min_ms < call_stats.min_ms then excluded.min_ms else call_stats.min_ms end,
    max_ms = case when excluded.max_ms > call_stats.max_ms then excluded.max_ms else call_stats.max_ms end,
    last_at = case when excluded.last_at > call_stats.last_at then excluded.last_at else call_stats.last_at end`;

async function readHeads({ db }: Database): Promise<{ seq: number; size: number }> {
  const { rows } = await sql<{ seq: number; size: number }>`select
    coalesce((select seq from call_stats_head where id = 1), 0) as seq,
    coalesce((select size from audit_head where id = 1), 0) as size`.execute(db);
  return rows[0] ?? { seq: 0, size: 0 };
}

/** Every finished call since then, grouped as far as the figures are; nothing here takes longer in a longer log. */
export async function readCallStats(database: Database, filter: StatsFilter): Promise<CallStat[]> {
  await updateCallStats(database);
  const { seq, size } = await readHeads(database);
  const stats = await readFigures(database, filter);
  const wholeHours = uuidFloor(ceilTo(filter.from, HOUR_MS));
  const before = sql`c.call_id >= ${uuidFloor(filter.from.getTime())} and c.call_id < ${wholeHours}`;
  stats.push(
    ...(await readCalls(
      database,
      filter,
      CALLS_FIRST,
      sql`${before} and l.call_id = c.call_id and l.seq < ${seq}`,
    )),
  );
  for (const start of slices(seq, size)) {
    const slice = sql`l.seq >= ${start} and l.seq < ${start + SLICE} and c.call_id = l.call_id`;
    stats.push(...(await readCalls(database, filter, ENTRIES_FIRST, slice)));
    await setImmediate();
  }
  return stats;
}

/** SQLite reads tables in the order of a cross join; its own guess would read the whole log. */
const CALLS_FIRST = sql`calls as c cross join audit_log as l`;
const ENTRIES_FIRST = sql`audit_log as l cross join calls as c`;

const slices = (from: number, to: number): number[] =>
  Array.from({ length: Math.ceil(Math.max(0, to - from) / SLICE) }, (_, index) => from + index * SLICE);

const ceilTo = (date: Date, unit: number): number => Math.ceil(date.getTime() / unit) * unit;

/** Whole days where possible, and whole hours before the first of them or where the series is by hour. */
async function readFigures(
  { db }: Database,
  { by, from, unit = 'day', toolkit, tool, codes }: StatsFilter,
): Promise<CallStat[]> {
  const hour = new Date(ceilTo(from, HOUR_MS)).toISOString().slice(0, 13);
  const day = new Date(ceilTo(from, DAY_MS)).toISOString().slice(0, 10);
  const covered =
    unit === 'hour'
      ? sql`unit = 'hour' and span >= ${hour}`
      : sql`((unit = 'day' and span >= ${day}) or (unit = 'hour' and span >= ${hour} and span < ${day}))`;
  const span = unit === 'hour' ? sql`span` : sql`substr(span, 1, 10)`;
  const apart = by === 'span' ? sql`${span}, status` : sql`tool, category, status, code, step`;
  const { rows } = await sql<CallStat>`
    select max(${span}) as span, max(tool) as tool, max(category) as category, status, nullif(max(code), '') as code,
      sum(calls) as calls, sum(total_ms) as "totalMs", min(min_ms) as "minMs", max(max_ms) as "maxMs",
      max(last_at) as "lastAt"
    from call_stats
    where ${covered} and ${toolkit === undefined ? ANY : sql`toolkit = ${toolkit}`}
      and ${tool === undefined ? ANY : sql`tool = ${tool}`} and ${codes ? sql`code <> ''` : ANY}
    group by ${apart}`.execute(db);
  return rows.map((row) => ({ ...row, calls: Number(row.calls) }));
}

async function readCalls(
  { db }: Database,
  { by, from, unit = 'day', toolkit, tool, codes }: StatsFilter,
  tables: RawBuilder<unknown>,
  range: RawBuilder<unknown>,
): Promise<CallStat[]> {
  const span = sql`substr(c.started_at, 1, ${sql.lit(unit === 'hour' ? 13 : 10)})`;
  const apart =
    by === 'span' ? sql`${span}, c.status` : sql`c.tool, c.category, c.status, c.code, c.latency_ms`;
  const { rows } = await sql<CallStat>`
    select max(${span}) as span, max(c.tool) as tool, max(c.category) as category, c.status as status,
      max(c.code) as code, count(*) as calls, sum(c.latency_ms) as "totalMs", min(c.latency_ms) as "minMs",
      max(c.latency_ms) as "maxMs", max(c.started_at) as "lastAt"
    from ${tables}
    where ${range} and ${FINISHING} and c.started_at >= ${from.toISOString()}
      and ${toolkit === undefined ? ANY : sql`c.toolkit = ${toolkit}`}
      and ${tool === undefined ? ANY : sql`c.tool = ${tool}`} and ${codes ? sql`c.code is not null` : ANY}
    group by ${apart}`.execute(db);
  return rows.map((row) => ({ ...row, calls: Number(row.calls) }));
}

const ANY = sql`1 = 1`;

import { type Selectable, sql } from 'kysely';
import type { JsonValue } from '../contract/json.ts';
import type { CallDetail, CallFilter, CallRecord, TelemetryPort, ToolMetrics } from '../contract/ports.ts';
import { principalName } from '../contract/principal.ts';
import { uuidFloor, uuidTime } from '../lib/random.ts';
import type { Recorder } from './call/recorder.ts';
import { type CallStat, readCallStats } from './call-stats.ts';
import { findByWords } from './call-words.ts';
import { parseDate, parseJson } from './store/cells.ts';
import type { Database } from './store/database.ts';
import type { CallsTable } from './store/tables.ts';

type Row = Selectable<CallsTable>;

/** What the record says about calls: every invocation is there, refusals and reads included. */
export function createTelemetry(database: Database, recorder: Recorder): TelemetryPort {
  const { db } = database;
  const since = async (from: Date, toolkit?: string, codes = false) => {
    await recorder.flush();
    return readCallStats(database, { by: 'tool', from, toolkit, codes });
  };
  return {
    async calls(filter) {
      await recorder.flush();
      const { limit = 100, offset = 0, text } = filter;
      // An id begins with the time of its call.
      const newest = filtered(db, filter).selectAll().orderBy('call_id', 'desc');
      const rows = text
        ? await findByWords(database, text, { limit, offset }, (ids) =>
            newest.where('call_id', 'in', ids).execute(),
          )
        : await newest.limit(limit).offset(offset).execute();
      return rows.map(toRecord);
    },
    async call(callId) {
      await recorder.flush();
      const row = await db.selectFrom('calls').selectAll().where('call_id', '=', callId).executeTakeFirst();
      return row && detail(db, row);
    },
    async hasArtifact(principal, artifact) {
      await recorder.flush();
      const row = await db
        .selectFrom('call_artifacts')
        .innerJoin('calls', 'calls.call_id', 'call_artifacts.call_id')
        .select('calls.call_id')
        .where('call_artifacts.artifact_id', '=', artifact)
        .where('calls.principal', '=', principalName(principal))
        .executeTakeFirst();
      return row !== undefined;
    },
    metrics: async (from, toolkit) => summarise(await since(from, toolkit)),
    errors: async (from, toolkit) => countErrors(await since(from, toolkit, true)),
  };
}

function filtered(db: Database['db'], filter: CallFilter) {
  let query = db.selectFrom('calls');
  const partial = PARTIAL.find(([statuses]) => filter.statuses?.every((status) => statuses.has(status)));
  // Said once more in the words of a partial index: a bound value cannot prove that the index has every match.
  if (partial) query = query.where(partial[1]);
  if (filter.statuses) query = query.where('status', 'in', [...filter.statuses]);
  // Calls of these statuses are few; as an expression a column does not lead SQLite to the index of all calls by it.
  const column = (name: 'tool' | 'principal') =>
    partial ? sql<string>`${sql.ref(name)} || ''` : sql.ref<string>(name);
  if (filter.tool) query = query.where(column('tool'), '=', filter.tool);
  if (filter.toolkit) query = query.where('toolkit', '=', filter.toolkit);
  if (filter.principal) query = query.where(column('principal'), '=', filter.principal);
  if (filter.effects) query = query.where('effect', 'in', [...filter.effects]);
  if (filter.runId) query = query.where('run_id', '=', filter.runId);
  if (filter.since) query = query.where('call_id', '>=', uuidFloor(filter.since.getTime()));
  if (filter.until) query = query.where('call_id', '<', uuidFloor(filter.until.getTime()));
  return query;
}

function toRecord(row: Row): CallRecord {
  return {
    callId: row.call_id,
    at: parseDate(row.started_at) ?? uuidTime(row.call_id),
    tool: row.tool,
    toolkit: row.toolkit,
    category: row.category,
    effect: row.effect,
    principal: row.principal,
    client: row.client ?? undefined,
    transport: row.transport,
    runId: row.run_id ?? undefined,
    digest: row.digest,
    status: row.status,
    code: row.code ?? undefined,
    decision: row.decision,
    rule: row.rule ?? undefined,
    latencyMs: row.latency_ms,
    evidenceHash: row.evidence_hash ?? undefined,
    approvalId: row.approval_id ?? undefined,
    replayOf: row.replay_of ?? undefined,
  };
}

async function detail(db: Database['db'], row: Row): Promise<CallDetail> {
  const payloads = await db
    .selectFrom('audit_payloads')
    .select(['kind', 'body'])
    .where('call_id', '=', row.call_id)
    .execute();
  const kept = (kind: string): JsonValue | undefined => {
    const body = payloads.find((one) => one.kind === kind)?.body;
    return body ? parseJson(body) : undefined;
  };
  const record = toRecord(row);
  return {
    ...record,
    args: kept('args'),
    result: kept('result'),
    startedAt: record.at,
    finishedAt: row.finished_at === null ? undefined : parseDate(row.finished_at),
  };
}

/** Of figures that hold several calls, the average stands for each. */
function summarise(stats: readonly CallStat[]): ToolMetrics[] {
  const byTool = new Map<string, CallStat[]>();
  for (const stat of stats) {
    const group = byTool.get(stat.tool);
    if (group) group.push(stat);
    else byTool.set(stat.tool, [stat]);
  }
  return [...byTool.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([tool, group]) => {
      group.sort((a, b) => averageOf(a) - averageOf(b));
      const total = sumOf(group, ({ calls }) => calls);
      const failures = sumOf(group, ({ status, calls }) => (FAILED.has(status) ? calls : 0));
      return {
        tool,
        category: group[0]?.category ?? '',
        totalCalls: total,
        successCount: total - failures,
        failureCount: failures,
        avgMs: sumOf(group, ({ totalMs }) => totalMs) / total,
        p50Ms: percentile(group, Math.ceil(0.5 * total)),
        p95Ms: percentile(group, Math.ceil(0.95 * total)),
        minMs: group.reduce((least, { minMs }) => Math.min(least, minMs), Number.POSITIVE_INFINITY),
        maxMs: group.reduce((most, { maxMs }) => Math.max(most, maxMs), 0),
      };
    });
}

const averageOf = ({ totalMs, calls }: CallStat): number => totalMs / calls;

const sumOf = (stats: readonly CallStat[], value: (stat: CallStat) => number): number =>
  stats.reduce((sum, stat) => sum + value(stat), 0);

/** The latency of the call at this rank, counted from the fastest. */
function percentile(sorted: readonly CallStat[], rank: number): number {
  let passed = 0;
  for (const stat of sorted) {
    passed += stat.calls;
    if (passed >= rank) return averageOf(stat);
  }
  return 0;
}

function countErrors(
  stats: readonly CallStat[],
): { tool: string; code: string; count: number; lastAt: Date }[] {
  const found = new Map<string, { tool: string; code: string; count: number; last: string }>();
  for (const { tool, code, calls, lastAt } of stats) {
    if (code === null) continue;
    const key = `${tool}\n${code}`;
    const known = found.get(key) ?? { tool, code, count: 0, last: '' };
    known.count += calls;
    if (lastAt > known.last) known.last = lastAt;
    found.set(key, known);
  }
  return [...found.values()]
    .sort((a, b) => b.count - a.count)
    .map(({ last, ...error }) => ({ ...error, lastAt: new Date(last) }));
}

const PARTIAL = [
  [new Set(['running', 'indeterminate']), sql<boolean>`status in ('running', 'indeterminate')`],
  [
    new Set(['failed', 'refused', 'routed', 'dry_run']),
    sql<boolean>`status in ('failed', 'refused', 'routed', 'dry_run')`,
  ],
] as const;
export const FAILED = new Set(['failed', 'refused', 'indeterminate']);

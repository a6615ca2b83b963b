import { type Selectable, sql } from 'kysely';
import type { JsonValue } from '../../contract/json.ts';
import type { CallDetail, CallFilter, CallRecord, TelemetryPort, ToolMetrics } from '../../contract/ports.ts';
import type { Database } from '../database.ts';
import type { Recorder } from '../recorder.ts';
import type { CallsTable } from '../tables.ts';

type Row = Selectable<CallsTable>;

/** What the record says about calls: every invocation is there, refusals and reads included. */
export function createTelemetry({ db }: Database, recorder: Recorder): TelemetryPort {
  const since = async (from: Date, toolkit?: string) => {
    await recorder.flush();
    const query = db
      .selectFrom('calls')
      .where('started_at', '>=', from.toISOString())
      .where('status', '!=', 'running');
    return toolkit ? query.where('toolkit', '=', toolkit) : query;
  };
  return {
    async calls(filter) {
      await recorder.flush();
      const rows = await filtered(db, filter)
        .selectAll()
        .orderBy('started_at', 'desc')
        .orderBy('call_id', 'desc')
        .limit(filter.limit ?? 100)
        .offset(filter.offset ?? 0)
        .execute();
      return rows.map(toRecord);
    },
    async call(callId) {
      await recorder.flush();
      const row = await db.selectFrom('calls').selectAll().where('call_id', '=', callId).executeTakeFirst();
      return row && detail(db, row);
    },
    async metrics(from, toolkit) {
      const query = await since(from, toolkit);
      const rows = await query
        .select(['tool', 'category', 'status', 'latency_ms'])
        .orderBy('tool')
        .orderBy('latency_ms')
        .execute();
      return summarise(rows);
    },
    async errors(from, toolkit) {
      const query = await since(from, toolkit);
      const rows = await query
        .where('code', 'is not', null)
        .select((eb) => [
          'tool',
          'code',
          eb.fn.countAll<number>().as('count'),
          eb.fn.max('started_at').as('last'),
        ])
        .groupBy(['tool', 'code'])
        .orderBy('count', 'desc')
        .execute();
      return rows.map(({ tool, code, count, last }) => ({
        tool,
        code: code ?? '',
        count: Number(count),
        lastAt: new Date(last),
      }));
    },
  };
}

function filtered(db: Database['db'], filter: CallFilter) {
  let query = db.selectFrom('calls');
  if (filter.tool) query = query.where('tool', '=', filter.tool);
  if (filter.toolkit) query = query.where('toolkit', '=', filter.toolkit);
  if (filter.principal) query = query.where('principal', '=', filter.principal);
  if (filter.statuses) {
    query = query.where('status', 'in', [...filter.statuses]);
    // Said once more in the words of the partial index: a bound value cannot prove that the index has every match.
    if (filter.statuses.every((status) => OPEN.has(status)))
      query = query.where(sql<boolean>`status in ('running', 'indeterminate')`);
  }
  if (filter.effects) query = query.where('effect', 'in', [...filter.effects]);
  if (filter.runId) query = query.where('run_id', '=', filter.runId);
  if (filter.since) query = query.where('started_at', '>=', filter.since.toISOString());
  if (filter.until) query = query.where('started_at', '<', filter.until.toISOString());
  return query;
}

function toRecord(row: Row): CallRecord {
  return {
    callId: row.call_id,
    at: new Date(row.started_at),
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
    return body ? (JSON.parse(body) as JsonValue) : undefined;
  };
  return {
    ...toRecord(row),
    args: kept('args'),
    result: kept('result'),
    startedAt: new Date(row.started_at),
    finishedAt: row.finished_at === null ? undefined : new Date(row.finished_at),
  };
}

type Sample = Pick<Row, 'tool' | 'category' | 'status' | 'latency_ms'>;

/** Samples come sorted by tool and latency, so percentiles are positions. */
function summarise(rows: readonly Sample[]): ToolMetrics[] {
  const byTool = new Map<string, Sample[]>();
  for (const row of rows) {
    const group = byTool.get(row.tool);
    if (group) group.push(row);
    else byTool.set(row.tool, [row]);
  }
  return [...byTool.entries()].map(([tool, group]) => {
    const times = group.map(({ latency_ms }) => latency_ms);
    const at = (share: number): number =>
      times[Math.min(times.length - 1, Math.ceil(share * times.length) - 1)] ?? 0;
    const failures = group.filter(({ status }) => FAILED.has(status)).length;
    return {
      tool,
      category: group[0]?.category ?? '',
      totalCalls: group.length,
      successCount: group.length - failures,
      failureCount: failures,
      avgMs: times.reduce((sum, ms) => sum + ms, 0) / times.length,
      p50Ms: at(0.5),
      p95Ms: at(0.95),
      minMs: times[0] ?? 0,
      maxMs: times[times.length - 1] ?? 0,
    };
  });
}

const OPEN = new Set(['running', 'indeterminate']);
const FAILED = new Set(['failed', 'refused', 'indeterminate']);

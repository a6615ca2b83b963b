import { z } from 'zod';
import { ToolError } from '../../../contract/errors.ts';
import type { JsonValue } from '../../../contract/json.ts';
import type { CallDetail, TelemetryPort } from '../../../contract/ports.ts';
import { isShownTo } from '../../../contract/principal.ts';
import { CHANGE_PROFILES, type Effect, isChange } from '../../../contract/tool.ts';
import { isObject } from '../../../lib/is-object.ts';
import { callsFor } from '../approval-view.ts';
import { shownCode } from '../dialect.ts';
import { defineXTool, type XServices } from '../services.ts';
import { days, sinceHours, sinceOf } from './analytics.ts';

const MUTATION_STATUSES = ['pending', 'success', 'failure', 'duplicate'] as const;
export type MutationStatus = (typeof MUTATION_STATUSES)[number];

/** What the kernel calls the outcomes that each documented status stands for. Dry runs changed nothing. */
const CALL_STATUSES: Readonly<Record<MutationStatus, readonly string[]>> = {
  pending: ['running', 'routed', 'indeterminate'],
  success: ['ok'],
  failure: ['failed', 'refused'],
  duplicate: ['ok'],
};

const rollbackGuidance = z.object({
  reversible: z.boolean(),
  undo_tool: z.string().nullable(),
  undo_params: z.looseObject({}).nullable(),
  note: z.string(),
});

const mutation = z.object({
  correlation_id: z.string(),
  tool_name: z.string(),
  status: z.enum(MUTATION_STATUSES),
  params_hash: z.string(),
  params_summary: z.string(),
  result_summary: z.string().nullable(),
  error_code: z.string().nullable(),
  elapsed_ms: z.number(),
  requested_by: z.string(),
  approval_id: z.number().nullable(),
  created_at: z.string(),
  completed_at: z.string().nullable(),
  rollback: rollbackGuidance,
});

export type Mutation = z.input<typeof mutation>;

const SUMMARY_LIMIT = 500;

function describeMutation(call: CallDetail, services: Pick<XServices, 'undoOf'>): Mutation {
  const status = statusOf(call);
  return {
    correlation_id: call.callId,
    tool_name: call.tool,
    status,
    params_hash: call.digest,
    params_summary: summarise(call.args) ?? '',
    result_summary: summarise(resultOf(call)),
    error_code: call.code === undefined ? null : shownCode(call.code),
    elapsed_ms: Math.round(call.latencyMs),
    requested_by: call.principal,
    approval_id: call.approvalId ?? null,
    created_at: call.startedAt.toISOString(),
    completed_at: call.finishedAt?.toISOString() ?? null,
    rollback: guidance(call, status, services),
  };
}

function statusOf(call: Pick<CallDetail, 'status' | 'replayOf'>): MutationStatus {
  if (call.status === 'ok') return call.replayOf ? 'duplicate' : 'success';
  return CALL_STATUSES.failure.includes(call.status) ? 'failure' : 'pending';
}

/** The record keeps the whole outcome; a reader wants what the tool gave back. */
function resultOf({ result }: Pick<CallDetail, 'result'>): JsonValue | undefined {
  return isObject(result) && result.status === 'ok' && 'data' in result ? result.data : result;
}

function guidance(call: CallDetail, status: MutationStatus, services: Pick<XServices, 'undoOf'>) {
  const none = (note: string) => ({ reversible: false, undo_tool: null, undo_params: null, note });
  if (status === 'pending') return none('Not settled yet; check again before undoing anything.');
  if (status === 'failure') return none('Nothing to undo: the call did not succeed.');
  const args = isObject(call.args) ? call.args : undefined;
  const result = resultOf(call);
  const undo = args && result !== undefined ? services.undoOf(call.tool, args, result) : undefined;
  if (!undo) return none('No tool can undo this change.');
  return {
    reversible: true,
    undo_tool: undo.tool,
    undo_params: undo.args,
    note: `Call ${undo.tool} to undo it.`,
  };
}

function summarise(value: JsonValue | undefined): string | null {
  if (value === undefined) return null;
  // Counted in code points: a cut inside one would leave half a character.
  const points = [...JSON.stringify(value)];
  return points.length <= SUMMARY_LIMIT ? points.join('') : `${points.slice(0, SUMMARY_LIMIT - 1).join('')}…`;
}

const ALL = [...new Set(Object.values(CALL_STATUSES).flat())];

export const getRecentMutations = defineXTool({
  name: 'get_recent_mutations',
  title: 'List recent changes',
  summary: 'Recent changes with status and how to undo each, newest first.',
  effect: 'read',
  reach: 'local',
  category: 'analytics',
  profiles: CHANGE_PROFILES,
  errors: ['db_error'],
  requires: { db: true },
  input: z.object({
    limit: z.number().int().min(1).max(100).default(20),
    tool_name: z.string().optional(),
    status: z.enum(MUTATION_STATUSES).optional(),
  }),
  output: z.object({ count: z.number(), mutations: z.array(mutation) }),
  async run({ limit, tool_name, status }, context) {
    const { services } = context;
    const { telemetry } = services.kernel;
    const calls = await callsFor(context, {
      toolkit: 'x',
      effects: ['change', 'destroy'],
      statuses: status ? CALL_STATUSES[status] : ALL,
      tool: tool_name,
      // Replays are marked on the row, not in its status, so they are distinguished here.
      limit: status === 'success' || status === 'duplicate' ? limit * 5 : limit,
    });
    const wanted = calls.filter((call) => !status || statusOf(call) === status).slice(0, limit);
    const details = await Promise.all(wanted.map((call) => telemetry.call(call.callId)));
    const mutations = details
      .filter((detail): detail is CallDetail => detail !== undefined)
      .map((detail) => describeMutation(detail, services));
    return { count: mutations.length, mutations };
  },
});

export const getMutationDetail = defineXTool({
  name: 'get_mutation_detail',
  title: 'Get one change',
  summary: 'One change with its parameters, result, evidence and how to undo it.',
  effect: 'read',
  reach: 'local',
  category: 'analytics',
  profiles: CHANGE_PROFILES,
  errors: ['db_error', 'invalid_input'],
  requires: { db: true },
  input: z.object({ correlation_id: z.string().min(1).describe('From get_recent_mutations.') }),
  output: mutation.extend({
    category: z.string(),
    decision: z.string(),
    matched_rule_id: z.string().nullable(),
    evidence_hash: z.string().nullable(),
    duplicate_of: z.string().nullable(),
    params: z.unknown(),
    result: z.unknown(),
  }),
  async run({ correlation_id }, { services, principal }) {
    const call = await services.kernel.telemetry.call(correlation_id);
    const shown =
      call?.toolkit === 'x' && isChange(call.effect as Effect) && isShownTo(principal, call.principal);
    // Another agent's change is answered like one that never was.
    if (!shown) {
      throw new ToolError('invalid_input', `No change has the correlation ID ${correlation_id}.`, {
        detail: { correlation_id },
      });
    }
    return {
      ...describeMutation(call, services),
      category: call.category,
      decision: call.decision,
      matched_rule_id: call.rule ?? null,
      evidence_hash: call.evidenceHash ?? null,
      duplicate_of: call.replayOf ?? null,
      params: call.args ?? null,
      result: resultOf(call) ?? null,
    };
  },
});

export const getMcpToolMetrics = defineXTool({
  name: 'get_mcp_tool_metrics',
  title: 'Get tool metrics',
  summary: 'Calls, success rate and latency per tool; default: last day.',
  effect: 'read',
  reach: 'local',
  category: 'telemetry',
  profiles: CHANGE_PROFILES,
  errors: ['db_error'],
  requires: { db: true },
  input: z.object({ days, since_hours: sinceHours }),
  output: z.object({
    since: z.string(),
    metrics: z.array(
      z.object({
        tool_name: z.string(),
        category: z.string(),
        total_calls: z.number(),
        success_count: z.number(),
        failure_count: z.number(),
        success_rate: z.number(),
        avg_latency_ms: z.number(),
        p50_latency_ms: z.number(),
        p95_latency_ms: z.number(),
        min_latency_ms: z.number(),
        max_latency_ms: z.number(),
      }),
    ),
  }),
  async run(args, { services, now }) {
    const since = sinceOf(now(), args);
    const rows = await services.kernel.telemetry.metrics(since, 'x');
    return {
      since: since.toISOString(),
      metrics: rows.map((row) => ({
        tool_name: row.tool,
        category: row.category,
        total_calls: row.totalCalls,
        success_count: row.successCount,
        failure_count: row.failureCount,
        success_rate: row.totalCalls === 0 ? 0 : row.successCount / row.totalCalls,
        avg_latency_ms: rounded(row.avgMs),
        p50_latency_ms: rounded(row.p50Ms),
        p95_latency_ms: rounded(row.p95Ms),
        min_latency_ms: rounded(row.minMs),
        max_latency_ms: rounded(row.maxMs),
      })),
    };
  },
});

/** Many reads take less than a millisecond, so that tenths say something; more digits do not. */
const rounded = (ms: number): number => Math.round(ms * 10) / 10;

type ErrorCount = Awaited<ReturnType<TelemetryPort['errors']>>[number];

/** Callers know the documented codes only, so several of the kernel's may count as one. */
function byShownCode(rows: readonly ErrorCount[]): ErrorCount[] {
  const merged = new Map<string, ErrorCount>();
  for (const row of rows) {
    const code = shownCode(row.code);
    const key = `${row.tool} ${code}`;
    const earlier = merged.get(key);
    const lastAt = earlier && earlier.lastAt > row.lastAt ? earlier.lastAt : row.lastAt;
    merged.set(key, { ...row, code, count: row.count + (earlier?.count ?? 0), lastAt });
  }
  return [...merged.values()].sort((a, b) => b.count - a.count);
}

export const getMcpErrorBreakdown = defineXTool({
  name: 'get_mcp_error_breakdown',
  title: 'Get error breakdown',
  summary: 'How often each tool failed with which code; default: last day.',
  effect: 'read',
  reach: 'local',
  category: 'telemetry',
  profiles: CHANGE_PROFILES,
  errors: ['db_error'],
  requires: { db: true },
  input: z.object({ days, since_hours: sinceHours }),
  output: z.object({
    since: z.string(),
    total_errors: z.number(),
    errors: z.array(
      z.object({ tool_name: z.string(), error_code: z.string(), count: z.number(), last_at: z.string() }),
    ),
  }),
  async run(args, { services, now }) {
    const since = sinceOf(now(), args);
    const rows = byShownCode(await services.kernel.telemetry.errors(since, 'x'));
    return {
      since: since.toISOString(),
      total_errors: rows.reduce((sum, row) => sum + row.count, 0),
      errors: rows.map((row) => ({
        tool_name: row.tool,
        error_code: row.code,
        count: row.count,
        last_at: row.lastAt.toISOString(),
      })),
    };
  },
});

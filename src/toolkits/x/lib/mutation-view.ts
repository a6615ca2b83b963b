import { z } from 'zod';
import type { JsonObject, JsonValue } from '../../../contract/json.ts';
import type { CallDetail } from '../../../contract/ports.ts';
import type { XServices } from '../services.ts';

export const MUTATION_STATUSES = ['pending', 'success', 'failure', 'duplicate'] as const;
export type MutationStatus = (typeof MUTATION_STATUSES)[number];

/** What the kernel calls the outcomes that each documented status stands for. Dry runs changed nothing. */
export const CALL_STATUSES: Readonly<Record<MutationStatus, readonly string[]>> = {
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

export const mutation = z.object({
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

export function describeMutation(call: CallDetail, services: Pick<XServices, 'undoOf'>): Mutation {
  const status = statusOf(call);
  return {
    correlation_id: call.callId,
    tool_name: call.tool,
    status,
    params_hash: call.digest,
    params_summary: summarise(call.args) ?? '',
    result_summary: summarise(resultOf(call)),
    error_code: call.code ?? null,
    elapsed_ms: Math.round(call.latencyMs),
    requested_by: call.principal,
    approval_id: call.approvalId ?? null,
    created_at: call.startedAt.toISOString(),
    completed_at: call.finishedAt?.toISOString() ?? null,
    rollback: guidance(call, status, services),
  };
}

export function statusOf(call: Pick<CallDetail, 'status' | 'replayOf'>): MutationStatus {
  if (call.status === 'ok') return call.replayOf ? 'duplicate' : 'success';
  return CALL_STATUSES.failure.includes(call.status) ? 'failure' : 'pending';
}

/** The record keeps the whole outcome; a reader wants what the tool gave back. */
export function resultOf({ result }: Pick<CallDetail, 'result'>): JsonValue | undefined {
  return isObject(result) && result.status === 'ok' && 'data' in result ? result.data : result;
}

function guidance(call: CallDetail, status: MutationStatus, services: Pick<XServices, 'undoOf'>) {
  const none = (note: string) => ({ reversible: false, undo_tool: null, undo_params: null, note });
  if (status === 'pending') return none('Not settled yet; look again before undoing anything.');
  if (status === 'failure') return none('Nothing to undo: the call did not succeed.');
  const args = isObject(call.args) ? call.args : undefined;
  const result = resultOf(call);
  const undo = args && result !== undefined ? services.undoOf(call.tool, args, result) : undefined;
  if (!undo) return none('This change cannot be taken back by a tool.');
  return {
    reversible: true,
    undo_tool: undo.tool,
    undo_params: undo.args,
    note: `Call ${undo.tool} to take it back.`,
  };
}

function summarise(value: JsonValue | undefined): string | null {
  if (value === undefined) return null;
  // Counted in code points: a cut inside one would leave half a character.
  const points = [...JSON.stringify(value)];
  return points.length <= SUMMARY_LIMIT ? points.join('') : `${points.slice(0, SUMMARY_LIMIT - 1).join('')}…`;
}

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

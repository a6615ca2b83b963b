import { type Dialect, embed, type Finished } from '../../contract/dialect.ts';
import type { ToolError } from '../../contract/errors.ts';
import type { JsonObject, JsonSchema } from '../../contract/json.ts';

/** The ToolHub envelope: ok, meta, result, and error when it is not ok. */
export const toolhub: Dialect = {
  showsNotes: true,
  body(finished): JsonObject {
    const { outcome, tool } = finished;
    const meta = metaOf(finished);
    switch (outcome.status) {
      case 'ok':
        return {
          ok: true,
          meta: { ...meta, ...outcome.notes, ...(outcome.replayed ? { replayed: true } : {}) },
          result: outcome.data,
        };
      case 'dry_run':
        return {
          ok: true,
          meta: { ...meta, ...outcome.notes, dry_run: true },
          result: outcome.data ?? { would_execute: tool.name, arguments: finished.args as JsonObject },
        };
      case 'routed':
        return {
          ok: false,
          meta: { ...meta, approval_id: outcome.approvalUuid },
          result: {
            routed_to_approval: true,
            approval_id: outcome.approvalUuid,
            approval_queue_id: outcome.approvalId,
            reason: outcome.reason,
          },
          error: {
            code: 'approval_required',
            message: `Approval required: ${outcome.reason}. Nothing was done; do not retry the call. Use approval_get to check the decision.`,
            retryable: false,
          },
        };
      case 'refused':
        return {
          ok: false,
          meta: { ...meta, rule: outcome.rule },
          result: null,
          error: errorOf(outcome.fault),
        };
      case 'failed':
        return { ok: false, meta, result: outcome.data ?? null, error: errorOf(outcome.fault) };
      case 'indeterminate':
        return {
          ok: false,
          meta: { ...meta, indeterminate: true },
          result: null,
          error: { ...errorOf(outcome.fault), retryable: false },
        };
      case 'needs_person':
        return {
          ok: false,
          meta,
          result: null,
          error: { code: 'approval_required', message: outcome.question, retryable: false },
        };
      default:
        return outcome satisfies never;
    }
  },
  /** ToolHub put its envelope straight into `result`, and for a new run the run itself. */
  direct: (body, { tool, outcome }) =>
    tool.name === 'runs_create' && outcome.status === 'ok'
      ? { ...body, ...(outcome.data as JsonObject) }
      : body,
  isError: (outcome) => outcome.status !== 'ok' && outcome.status !== 'dry_run',
  outputSchema(tool): JsonSchema {
    const { inner, defs } = embed(tool.output.json);
    return {
      type: 'object',
      properties: {
        ok: { type: 'boolean' },
        meta: META,
        result: { anyOf: [inner, { type: 'object' }, { type: 'null' }] },
        error: ERROR,
      },
      required: ['ok', 'meta', 'result'],
      ...defs,
    };
  },
};

function metaOf({ runId, callId, evidenceHash, dryRun }: Finished): JsonObject {
  return {
    ...(runId === undefined ? {} : { run_id: runId }),
    tool_call_id: callId,
    evidence_hash: evidenceHash ?? null,
    dry_run: dryRun,
  };
}

const errorOf = (fault: ToolError): JsonObject => ({
  code: fault.code,
  message: fault.message,
  retryable: fault.retryable,
  hint: fault.hint,
  ...(fault.resetAt ? { retry_at: fault.resetAt.toISOString() } : {}),
  ...(fault.detail ? { detail: fault.detail } : {}),
});

const META: JsonSchema = {
  type: 'object',
  properties: {
    run_id: { type: 'string' },
    tool_call_id: { type: 'string' },
    evidence_hash: { type: ['string', 'null'] },
    dry_run: { type: 'boolean' },
    replayed: { type: 'boolean' },
  },
  required: ['tool_call_id', 'evidence_hash', 'dry_run'],
};
const ERROR: JsonSchema = {
  type: 'object',
  properties: {
    code: { type: 'string' },
    message: { type: 'string' },
    retryable: { type: 'boolean' },
    hint: { type: 'string' },
  },
  required: ['code', 'message', 'retryable'],
};

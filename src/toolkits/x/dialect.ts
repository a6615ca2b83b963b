import { type Dialect, embed, type Finished, failedStatuses, type Modes } from '../../contract/dialect.ts';
import type { ErrorCode, ToolError } from '../../contract/errors.ts';
import type { JsonObject, JsonSchema } from '../../contract/json.ts';
import { isChange } from '../../contract/tool.ts';
import { lookup } from '../../lib/lookup.ts';
import type { XErrorCode } from './errors.ts';

const ENVELOPE_VERSION = '1.0';

/** The document's codes are a closed set; what the kernel knows beyond them is reported as the nearest one. */
const TOLD_AS: Readonly<Record<string, ErrorCode | XErrorCode>> = {
  internal: 'serialization_error',
  timeout: 'x_network_error',
  cancelled: 'x_network_error',
  busy: 'x_api_error',
  paused: 'policy_denied_hard_rule',
  idempotency_conflict: 'validation_error',
  indeterminate: 'x_api_error',
  approval_required: 'policy_denied_hard_rule',
  approval_invalid: 'validation_error',
  approval_state: 'validation_error',
  conflict: 'validation_error',
  not_allowed: 'policy_denied_hard_rule',
  unavailable: 'x_api_error',
};

/** The code a caller gets for one of the kernel's. */
export const shownCode = (code: string): string => lookup(TOLD_AS, code) ?? code;

/** The v1.0 envelope: success, data, error, meta. */
export const tuitbot: Dialect = {
  showsNotes: true,
  omitsHints: true,
  body(finished, modes): JsonObject {
    const { outcome, tool } = finished;
    const meta = metaOf(finished, modes);
    switch (outcome.status) {
      case 'ok':
        return {
          success: true,
          data: outcome.data,
          meta: { ...meta, ...outcome.notes, ...(outcome.replayed ? { replayed: true } : {}) },
        };
      case 'routed':
        return {
          success: true,
          data: { routed_to_approval: true, approval_queue_id: outcome.approvalId, reason: outcome.reason },
          meta: { ...meta, matched_rule_id: outcome.rule, approval_uuid: outcome.approvalUuid },
        };
      case 'dry_run':
        return {
          success: true,
          data: {
            dry_run: true,
            would_execute: tool.name,
            params: JSON.stringify(finished.args),
            ...(outcome.data === undefined ? {} : { preview: outcome.data }),
          },
          meta: { ...meta, ...outcome.notes, matched_rule_id: outcome.rule },
        };
      case 'refused':
        return {
          success: false,
          data: null,
          error: { ...errorOf(outcome.fault), policy_decision: 'denied' },
          meta: { ...meta, matched_rule_id: outcome.rule },
        };
      case 'failed':
        return {
          success: false,
          data: outcome.data ?? null,
          error: errorOf(outcome.fault),
          meta: { ...meta, ...outcome.notes },
        };
      case 'indeterminate':
        return {
          success: false,
          data: null,
          error: { ...errorOf(outcome.fault), retryable: false },
          meta: { ...meta, ...outcome.notes, indeterminate: true },
        };
      case 'needs_person':
        return {
          success: false,
          data: null,
          error: {
            code: 'policy_denied_hard_rule',
            message: outcome.question,
            retryable: false,
            policy_decision: 'routed_to_approval',
          },
          meta,
        };
      default:
        return outcome satisfies never;
    }
  },
  isError: (outcome) => failedStatuses.has(outcome.status),
  outputSchema(tool): JsonSchema {
    const { inner, defs } = embed(tool.output.json);
    const data = isChange(tool.effect)
      ? { anyOf: [inner, ROUTED, DRY_RUN, { type: 'null' }] }
      : { anyOf: [inner, { type: 'null' }] };
    return {
      type: 'object',
      properties: { success: { type: 'boolean' }, data, error: ERROR, meta: META },
      required: ['success', 'data'],
      ...defs,
    };
  },
};

function metaOf({ elapsedMs, callId }: Finished, { mode, approvalMode }: Modes): JsonObject {
  return {
    tool_version: ENVELOPE_VERSION,
    elapsed_ms: Math.round(elapsedMs),
    mode,
    approval_mode: approvalMode,
    correlation_id: callId,
  };
}

function errorOf(fault: ToolError): JsonObject {
  const code = shownCode(fault.code);
  return {
    code,
    message: fault.message,
    retryable: fault.retryable,
    // Also where a tool found out: a limit of the account, or a refused call inside this one.
    ...(code.startsWith('policy_denied') ? { policy_decision: 'denied' } : {}),
    ...(fault.resetAt ? { rate_limit_reset: fault.resetAt.toISOString().replace(/\.\d{3}Z$/, 'Z') } : {}),
    ...(fault.detail ? { detail: fault.detail } : {}),
  };
}

const ROUTED: JsonSchema = {
  type: 'object',
  properties: {
    routed_to_approval: { const: true },
    approval_queue_id: { type: 'integer' },
    reason: { type: 'string' },
  },
  required: ['routed_to_approval', 'approval_queue_id', 'reason'],
};
const DRY_RUN: JsonSchema = {
  type: 'object',
  properties: { dry_run: { const: true }, would_execute: { type: 'string' }, params: { type: 'string' } },
  required: ['dry_run', 'would_execute', 'params'],
};
const ERROR: JsonSchema = {
  type: 'object',
  properties: {
    code: { type: 'string' },
    message: { type: 'string' },
    retryable: { type: 'boolean' },
    rate_limit_reset: { type: 'string' },
    policy_decision: { type: 'string' },
  },
  required: ['code', 'message', 'retryable'],
};
const META: JsonSchema = {
  type: 'object',
  properties: {
    tool_version: { type: 'string' },
    elapsed_ms: { type: 'integer' },
    mode: { type: 'string' },
    approval_mode: { type: 'boolean' },
  },
  required: ['tool_version', 'elapsed_ms'],
};

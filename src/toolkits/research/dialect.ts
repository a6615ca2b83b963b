import { type Dialect, embed } from '../../contract/dialect.ts';
import type { ToolError } from '../../contract/errors.ts';
import type { JsonObject, JsonSchema } from '../../contract/json.ts';

/** The QualCoder envelope: success and data, or success: false with error and error_code. */
export const qualcoder: Dialect = {
  showsNotes: true,
  body({ outcome, tool, args, callId }): JsonObject {
    switch (outcome.status) {
      case 'ok':
        return { success: true, data: outcome.data, ...(outcome.replayed ? { replayed: true } : {}) };
      case 'dry_run':
        return {
          success: true,
          data: {
            dry_run: true,
            would_execute: tool.name,
            params: args as JsonObject,
            ...(outcome.data === undefined ? {} : { preview: outcome.data }),
          },
        };
      case 'routed':
        return {
          success: false,
          error: `Approval required: ${outcome.reason}. Nothing was changed; the researcher decides.`,
          error_code: 'APPROVAL_REQUIRED',
          approval_id: outcome.approvalId,
          suggestion_id: outcome.approvalUuid,
        };
      case 'refused':
        return { ...errorOf(outcome.fault), rule: outcome.rule };
      case 'failed':
        return { ...errorOf(outcome.fault), ...(outcome.data === undefined ? {} : { data: outcome.data }) };
      case 'indeterminate':
        return { ...errorOf(outcome.fault), call_id: callId };
      case 'needs_person':
        return { success: false, error: outcome.question, error_code: 'APPROVAL_REQUIRED' };
      default:
        return outcome satisfies never;
    }
  },
  isError: (outcome) => outcome.status !== 'ok' && outcome.status !== 'dry_run',
  outputSchema(tool): JsonSchema {
    const { inner, defs } = embed(tool.output.json);
    return {
      type: 'object',
      properties: {
        success: { type: 'boolean' },
        data: { anyOf: [inner, { type: 'object' }] },
        error: { type: 'string' },
        error_code: { type: 'string' },
      },
      required: ['success'],
      ...defs,
    };
  },
};

const errorOf = (fault: ToolError): JsonObject => ({
  success: false,
  error: fault.message,
  error_code: codeOf(fault),
  hint: fault.hint,
  ...(fault.resetAt ? { retry_at: fault.resetAt.toISOString() } : {}),
  ...(fault.detail ? { detail: fault.detail } : {}),
});

function codeOf({ code }: ToolError): string {
  if (code.startsWith('policy_') || code === 'paused') return 'POLICY_DENIED';
  return code.toUpperCase();
}

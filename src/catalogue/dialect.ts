import { type Dialect, embed } from '../contract/dialect.ts';
import type { ToolError } from '../contract/errors.ts';
import type { JsonObject, JsonSchema } from '../contract/json.ts';

/** Plain MCP content: the answer as text, the same data structured, failures as `Error: …` with isError. */
export const plain: Dialect = {
  body({ outcome, tool, args }): JsonObject {
    switch (outcome.status) {
      case 'ok':
        return asObject(outcome.data);
      case 'dry_run':
        return {
          dry_run: true,
          would_execute: tool.name,
          arguments: args as JsonObject,
          ...(outcome.data === undefined ? {} : { preview: outcome.data }),
        };
      case 'routed':
        return {
          routed_to_approval: true,
          approval_id: outcome.approvalUuid,
          approval_queue_id: outcome.approvalId,
          reason: outcome.reason,
        };
      case 'refused':
        return { error: { ...errorOf(outcome.fault), rule: outcome.rule } };
      case 'failed':
      case 'indeterminate':
        return { error: errorOf(outcome.fault) };
      case 'needs_person':
        return { error: { code: 'approval_required', message: outcome.question, retryable: false } };
      default:
        return outcome satisfies never;
    }
  },
  text({ outcome }, body) {
    if ('fault' in outcome) return `Error: ${outcome.fault.message}`;
    if (outcome.status === 'routed') {
      return `Approval required (approval ${outcome.approvalId}): ${outcome.reason}. Nothing was done; do not retry the call.`;
    }
    if (outcome.status === 'ok' && typeof body.text === 'string') return body.text;
    return JSON.stringify(body);
  },
  parts: ({ outcome }) => (outcome.status === 'ok' ? (outcome.content ?? []) : []),
  isError: (outcome) => 'fault' in outcome,
  outputSchema(tool): JsonSchema {
    const { inner, defs } = embed(tool.output.json);
    // Routed and dry-run replies have another shape than the tool's own data.
    return { type: 'object', anyOf: [inner, { type: 'object' }], ...defs };
  },
};

const asObject = (data: unknown): JsonObject =>
  data !== null && typeof data === 'object' && !Array.isArray(data)
    ? (data as JsonObject)
    : { value: data as JsonObject };

const errorOf = (fault: ToolError): JsonObject => ({
  code: fault.code,
  message: fault.message,
  retryable: fault.retryable,
  hint: fault.hint,
  ...(fault.detail ? { detail: fault.detail } : {}),
});

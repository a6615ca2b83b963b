import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import type { JsonObject } from '../../../contract/json.ts';
import type { Outcome } from '../../../contract/outcome.ts';
import type { Decided } from '../../../contract/ports.ts';

/** What executing an approved item gave. */
export const execution = z.object({
  id: z.number(),
  action_type: z.string(),
  status: z.string().describe('State of the item afterwards.'),
  executed: z.boolean(),
  result: z.unknown().optional(),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
});

export type Execution = z.input<typeof execution>;

export function describeExecution({ approval, outcome }: Decided): Execution {
  const base = { id: approval.id, action_type: approval.tool, status: approval.state };
  switch (outcome?.status) {
    case 'ok':
      return { ...base, executed: true, result: outcome.data };
    case 'dry_run':
      return { ...base, executed: false, result: { dry_run: true, would_execute: approval.tool } };
    case 'refused':
    case 'failed':
    case 'indeterminate':
      return {
        ...base,
        executed: false,
        error: { code: outcome.fault.code, message: outcome.fault.message },
      };
    default:
      return { ...base, executed: false };
  }
}

/** Which backend the call inside this one asked: the reply to this one comes from there too. */
export function sourceIn(outcome: Outcome | undefined): JsonObject {
  const notes = outcome && 'notes' in outcome ? (outcome.notes ?? {}) : {};
  return Object.fromEntries(
    Object.entries(notes).filter(([name]) => name === 'provider_backend' || name === 'sandbox'),
  );
}

/** An approved item whose execution failed is a failure of the call that approved it. */
export function executionFault({ approval, outcome }: Decided): ToolFault | undefined {
  if (outcome?.status !== 'refused' && outcome?.status !== 'failed' && outcome?.status !== 'indeterminate') {
    return undefined;
  }
  const { fault } = outcome;
  const detail: JsonObject = { ...fault.detail, approval_id: approval.id, status: approval.state };
  return new ToolFault(fault.code, `Item ${approval.id} was approved, but not executed: ${fault.message}`, {
    detail,
    resetAt: fault.resetAt,
    retryable: false,
    cause: fault.cause,
    effect: fault.effect,
  });
}

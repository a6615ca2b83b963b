import { z } from 'zod';
import type { JsonObject, JsonValue } from '../../../contract/json.ts';
import type { Approval } from '../../../contract/ports.ts';
import { principalName } from '../../../contract/principal.ts';
import type { Lens } from '../privacy/lens.ts';

const rejectedShape = z.object({
  suggestion_id: z.string(),
  at: z.string().nullable(),
  reason: z.string().nullable(),
  feedback: z.string().nullable(),
});

/** Added to a reply when the researcher turned the same suggestion down before, or it waits already. */
export const filedShape = {
  previously_rejected: rejectedShape.optional(),
  already_pending: z.boolean().optional(),
};

export const pendingShape = z.object({
  suggestion_id: z.string(),
  rationale: z.string(),
  confidence: z.int().nullable(),
  status: z.string(),
  suggested_by: z.string(),
  method: z.string().nullable(),
  created_at: z.string(),
  batch_id: z.string().nullable(),
});

const text = (value: JsonValue | undefined) => (typeof value === 'string' ? value : '');

export function showPending(approval: Approval): z.output<typeof pendingShape> {
  const { context } = approval;
  return {
    suggestion_id: approval.uuid,
    rationale: text(context.rationale),
    confidence: typeof context.confidence === 'number' ? context.confidence : null,
    status: approval.state,
    suggested_by: principalName(approval.requester),
    method: text(context.method) || null,
    created_at: approval.createdAt.toISOString(),
    batch_id: approval.groupId ?? null,
  };
}

/** The same for a caller who may not read everything. */
export const tellPending = (approval: Approval, lens: Lens): z.output<typeof pendingShape> => {
  const shown = showPending(approval);
  return { ...shown, rationale: lens.tell(shown.rationale) };
};

export const argNumber = (args: JsonObject, name: string) =>
  typeof args[name] === 'number' ? args[name] : 0;
export const argText = (args: JsonObject, name: string) => text(args[name]);

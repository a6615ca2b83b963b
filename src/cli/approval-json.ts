import type { JsonObject } from '../contract/json.ts';
import { type Approval, type DamagedApproval, describeDamaged, isDamaged } from '../contract/ports.ts';
import { principalName } from '../contract/principal.ts';

/** An approval as `--json` prints it. */
export function asJson(one: Approval | DamagedApproval): JsonObject {
  if (isDamaged(one))
    return { id: one.id, state: one.state, damaged: one.damaged, error: describeDamaged(one) };
  return JSON.parse(
    JSON.stringify({
      ...one,
      requester: principalName(one.requester),
      orderedBy: one.requester.orderedBy,
      decidedBy: one.decidedBy && principalName(one.decidedBy),
    }),
  ) as JsonObject;
}

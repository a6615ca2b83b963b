import type { JsonObject } from '../contract/json.ts';
import {
  type Approval,
  type DamagedApproval,
  DIFFERS,
  describeAsked,
  describeDamaged,
  isDamaged,
} from '../contract/ports.ts';
import { principalName } from '../contract/principal.ts';
import type { Painted } from '../terminal/output.ts';
import { plainText } from '../terminal/text.ts';

/** An approval as `--json` prints it. */
export function asJson(one: Approval | DamagedApproval, more: { readonly differs?: true } = {}): JsonObject {
  if (isDamaged(one))
    return { id: one.id, state: one.state, damaged: one.damaged, error: describeDamaged(one) };
  return JSON.parse(
    JSON.stringify({
      ...one,
      ...more,
      requester: principalName(one.requester),
      orderedBy: one.requester.orderedBy,
      decidedBy: one.decidedBy && principalName(one.decidedBy),
    }),
  ) as JsonObject;
}

/** What an approval asks for, in the row of a table; one that is not what the audit log has is marked. */
export const describeListed = (one: Approval, marked: ReadonlySet<number>): string | Painted =>
  marked.has(one.id)
    ? { text: `${DIFFERS}: ${plainText(describeAsked(one))}`, color: 'red' }
    : plainText(describeAsked(one));

import { ToolFault } from '../../../contract/faults.ts';
import type { Principal } from '../../../contract/principal.ts';

/** The person who does it, or who approved that it is done. */
export function requirePerson(
  principal: Principal,
  approvedBy: Principal | undefined,
  tool: string,
): Principal {
  if (principal.kind === 'person') return principal;
  if (approvedBy?.kind === 'person') return approvedBy;
  throw new ToolFault('not_allowed', `${tool} is for people only.`, { detail: { reason: 'person_only' } });
}

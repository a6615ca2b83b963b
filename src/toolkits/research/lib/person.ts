import { ToolFault } from '../../../contract/faults.ts';
import type { Principal } from '../../../contract/principal.ts';

/** What opens, hides or takes back belongs to the researcher, whatever policy allows agents. */
export function requirePerson(principal: Principal, what: string): void {
  if (principal.kind === 'person') return;
  throw new ToolFault('policy_denied_hard_rule', `Policy denied: only a person may ${what}.`);
}

import { FAULTS, type FaultCode } from '../../contract/faults.ts';

/** What the catalogue tells agents to do is not what somebody at a page can do; null: the message says it all. */
const FOR_PEOPLE: Readonly<Partial<Record<FaultCode, string | null>>> = {
  validation_error: null,
  invalid_input: null,
  not_found: 'It may be gone by now; go back to the list.',
  conflict: 'It changed meanwhile; look at it as it is now and decide again.',
  approval_state: 'Somebody decided it meanwhile; the page shows what came of it.',
  approval_required: 'It waits in your inbox.',
  approval_invalid: 'It no longer fits what was approved; the agent has to ask anew.',
  indeterminate: 'Look at the far side, then settle it at the top of your inbox.',
  paused: 'Every change is paused; press Resume at the top of the page.',
  busy: 'The same call is still running; wait for it.',
  idempotency_conflict: null,
  policy_denied_blocked: 'Take the tool off mcp_policy.blocked_tools in the configuration to allow it.',
  policy_denied_rate_limited: 'The limit and when it starts anew are under Agents, Mode, template, limits.',
  policy_denied_hard_rule: null,
  policy_denied_user_rule: 'The rules are under Agents, Rules.',
  policy_error: 'Run `countersign doctor` in a terminal.',
  no_project: 'Open a project in the Research room.',
  code_not_found: 'It may be gone by now; look at the codebook.',
  source_not_found: 'It may be gone by now; look at the list of sources.',
  invalid_position: 'The text may have changed; select the passage again.',
  x_rate_limited: 'Try again when X allows it.',
  serialization_error: 'Details are in the log of the server.',
  internal: 'Details are in the log of the server.',
  cancelled: null,
};

/** What a person can do about a fault of that code, where there is something to say beyond its message. */
export function hintFor(code: string): string | undefined {
  if (!Object.hasOwn(FAULTS, code)) return undefined;
  const known = code as FaultCode;
  return known in FOR_PEOPLE ? (FOR_PEOPLE[known] ?? undefined) : FAULTS[known].hint;
}

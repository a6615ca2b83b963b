import { type ErrorCode, findErrorSpec } from '../../contract/errors.ts';
import { lookup } from '../../lib/lookup.ts';

/** The catalogue's hints are for agents; a person at a page can do other things; null: the message says it all. */
const FOR_PEOPLE: Readonly<Partial<Record<ErrorCode, string | null>>> = {
  validation_error: null,
  invalid_input: null,
  not_found: 'It may have been deleted. Go back to the list.',
  conflict: 'It has changed since you opened it. Review the current version and decide again.',
  approval_state: 'Someone has already decided this. The page shows the result.',
  approval_required: 'It is pending in your inbox.',
  approval_invalid: 'The agent must request approval again.',
  indeterminate: 'Check the target system, then settle it at the top of your inbox.',
  paused: 'All changes are paused. Select Resume at the top of the page.',
  busy: 'An identical call is still running. Wait for it to finish.',
  idempotency_conflict: null,
  policy_denied_blocked: 'To allow it, remove the tool from mcp_policy.blocked_tools in the configuration.',
  policy_denied_rate_limited: 'See Policy > Mode, template, limits for the limit and its reset time.',
  policy_denied_hard_rule: null,
  policy_denied_user_rule: 'See Policy > Rules.',
  policy_error: 'Run `countersign doctor` in a terminal.',
  serialization_error: 'Details are in the server log.',
  internal: 'Details are in the server log.',
  cancelled: null,
};

/** What a person can do about an error of that code, where there is something to say beyond its message. */
export function hintFor(code: string): string | undefined {
  const spec = findErrorSpec(code);
  const own = lookup(FOR_PEOPLE, code);
  if (own !== undefined) return own ?? undefined;
  return spec?.hintForPeople === undefined ? spec?.hint : (spec.hintForPeople ?? undefined);
}

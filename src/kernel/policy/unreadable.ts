import type { Decision, Policy } from './types.ts';

/** Stands in for a policy that could not be read: no answer means no, for reads as well, because a rule might name them. */
export function unreadablePolicy(why: string): Policy {
  const reason = `the policy could not be read (${why})`;
  const decision: Decision = {
    action: 'deny',
    rule: 'hard:unreadable_policy',
    reason,
    code: 'policy_error',
    trace: [{ rule: 'hard:unreadable_policy', source: 'hard', action: 'deny', reason }],
    policyVersion: 'unreadable',
  };
  return {
    version: 'unreadable',
    limits: [],
    decide: () => decision,
    limitsFor: () => [],
    explain: () => ({ decision, considered: [], limits: [] }),
    find: () => undefined,
    status: () => ({ policy_version: 'unreadable', problem: why }),
  };
}

import { setImmediate } from 'node:timers/promises';
import type { JsonObject } from '../../contract/json.ts';
import type { Action, PolicyRule } from '../../contract/policy.ts';
import type { Principal } from '../../contract/principal.ts';
import { compilePolicy, type PolicyInput } from './compile.ts';
import { STRICTNESS } from './evaluate.ts';
import type { CallSubject, Decision, Policy } from './types.ts';

/** A call from the log. Its arguments may have been erased since. */
export interface PastCall {
  readonly callId: string;
  readonly subject: CallSubject;
  readonly args: JsonObject | undefined;
  readonly principal: Principal;
  readonly at: Date;
}

export interface ChangedCall {
  readonly callId: string;
  readonly tool: string;
  readonly before: Action;
  readonly after: Action;
  readonly reason: string;
}

export interface RulePreview {
  /** Calls the rule would have stopped, or made pending or a dry run. */
  readonly stopped: readonly ChangedCall[];
  /** Calls it would have let through that wait or are refused today. */
  readonly loosened: readonly ChangedCall[];
  readonly unchanged: number;
  /** Of those, calls that ask as before. */
  readonly stillAsk: number;
  /** Calls whose arguments are no longer kept although a condition asks for them. */
  readonly unknown: readonly string[];
}

/** What a candidate rule would have done to past calls, under today's policy. A rule of the same id is replaced. */
export async function previewRule(
  input: PolicyInput,
  rule: PolicyRule,
  calls: readonly PastCall[],
): Promise<RulePreview> {
  const others = input.policy.rules.filter(({ id }) => id !== rule.id);
  const today = await compilePolicy(input);
  const candidate = await compilePolicy({ ...input, policy: { ...input.policy, rules: [...others, rule] } });

  const stopped: ChangedCall[] = [];
  const loosened: ChangedCall[] = [];
  const unknown: string[] = [];
  let unchanged = 0;
  let stillAsk = 0;
  for (const [index, call] of calls.entries()) {
    if (index % SLICE === SLICE - 1) await setImmediate();
    const before = ask(today, call);
    const after = ask(candidate, call);
    if (!before || !after) {
      unknown.push(call.callId);
      continue;
    }
    const harder = STRICTNESS[after.action] - STRICTNESS[before.action];
    const { callId, subject } = call;
    const change = {
      callId,
      tool: subject.name,
      before: before.action,
      after: after.action,
      reason: after.reason,
    };
    if (harder > 0) stopped.push(change);
    else if (harder < 0) loosened.push(change);
    else {
      unchanged += 1;
      if (after.action === 'ask') stillAsk += 1;
    }
  }
  return { stopped, loosened, unchanged, stillAsk, unknown };
}

/** Calls at a time: others are answered between two. */
const SLICE = 50;

/** Undefined where it depends on arguments that are no longer stored. */
function ask(policy: Policy, { subject, args, principal, at }: PastCall): Decision | undefined {
  const call = { subject, args: args ?? {}, principal, now: at, dryRunRequested: false };
  if (args) return policy.decide(call);
  const strictest = policy.decide({ ...call, assume: 'strictest' });
  const loosest = strictest.depends && policy.decide({ ...call, assume: 'loosest' });
  return loosest && loosest.action !== strictest.action ? undefined : strictest;
}

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

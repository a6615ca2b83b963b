import type { JsonObject } from '../../contract/json.ts';
import type { Action, PolicyRule } from '../../contract/policy.ts';
import type { Principal } from '../../contract/principal.ts';
import { compilePolicy, type PolicyInput } from './compile.ts';
import { STRICTNESS } from './judge.ts';
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
  /** Calls the rule would have stopped, or made wait or run dry. */
  readonly stopped: readonly ChangedCall[];
  /** Calls it would have let through that wait or are refused today. */
  readonly loosened: readonly ChangedCall[];
  readonly unchanged: number;
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
  for (const call of calls) {
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
    else unchanged++;
  }
  return { stopped, loosened, unchanged, unknown };
}

function ask(policy: Policy, { subject, args, principal, at }: PastCall): Decision | undefined {
  let wanted = false;
  // Erased arguments matter only where a condition looks at them.
  const gone = new Proxy<JsonObject>(
    {},
    { get: miss, has: miss, ownKeys: miss, getOwnPropertyDescriptor: miss },
  );
  function miss(): never {
    wanted = true;
    throw new Error('the arguments of this call are no longer kept');
  }
  const decision = policy.decide({ subject, args: args ?? gone, principal, now: at, dryRunRequested: false });
  return wanted ? undefined : decision;
}

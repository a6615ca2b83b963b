import type { JsonObject } from '../../contract/json.ts';
import { principalName } from '../../contract/principal.ts';
import { isChange } from '../../contract/tool.ts';
import type { ConditionInput } from './conditions.ts';
import { DEFAULT, type Plan, type PolicyStep } from './plan.ts';
import type { CompiledRule } from './rules.ts';
import type { Decision, PolicyCall, RuleTrace } from './types.ts';

export const STRICTNESS = { allow: 0, ask: 1, dry_run: 2, deny: 3 } as const;

/**
 * The strictest of all that match. What always holds comes first; then the rules in order, where the first
 * matching `allow` exempts from what comes after it and from nothing before it.
 */
export function evaluate(
  plan: Plan,
  call: PolicyCall,
  policyVersion: string,
  consider?: (consideration: RuleTrace) => void,
): Decision {
  const steps: PolicyStep[] = [];
  const addStep = (step: PolicyStep, why: string): void => {
    steps.push(step);
    consider?.({ ...step, applied: true, why });
  };
  if (call.paused && isChange(plan.subject.effect)) addStep(PAUSED, 'a person paused all changes');
  for (const step of plan.always) addStep(step, 'always applies');
  if (call.dryRunRequested && plan.subject.effect !== 'read')
    addStep(DRY_RUN, 'the call has its own dry_run argument');

  const depends: string[] = [];
  const exemptedBy = askRules(plan, call, addStep, consider, depends);
  for (const step of plan.after) {
    if (exemptedBy === undefined) addStep(step, step.why ?? 'no other rule matched');
    else
      consider?.({
        ...step,
        applied: false,
        why: `not evaluated: rule '${exemptedBy}' already allows the call`,
      });
  }
  const decision = settle(steps, policyVersion);
  return depends.length > 0 ? { ...decision, depends } : decision;
}

function askRules(
  plan: Plan,
  call: PolicyCall,
  addStep: (step: PolicyStep, why: string) => void,
  consider: ((consideration: RuleTrace) => void) | undefined,
  depends: string[],
): string | undefined {
  const who = plan.rules.length === 0 ? '' : principalName(call.principal);
  let input: ConditionInput | undefined;
  let exemptedBy: string | undefined;
  for (const { rule, step } of plan.rules) {
    if (exemptedBy !== undefined) {
      consider?.({
        ...step,
        applied: false,
        why: `not evaluated: rule '${exemptedBy}' already allows the call`,
      });
      continue;
    }
    let missed = mismatchReason(rule, call, who);
    if (missed === undefined && rule.condition) {
      try {
        input ??= conditionInput(plan, call);
        if (!rule.condition(input)) missed = 'its condition is false';
      } catch (error) {
        if (!call.assume) {
          addStep(unanswered(rule, error), 'its condition could not be evaluated');
          continue;
        }
        depends.push(rule.id);
        if ((rule.action === 'allow') !== (call.assume === 'loosest')) missed = 'depends on the arguments';
      }
    }
    if (missed !== undefined) {
      consider?.({ ...step, applied: false, why: missed });
      continue;
    }
    addStep(step, 'matches');
    if (rule.action !== 'allow') continue;
    exemptedBy = rule.id;
    if (!consider) break;
  }
  return exemptedBy;
}

function mismatchReason(rule: CompiledRule, { principal, now }: PolicyCall, who: string): string | undefined {
  if (rule.isAbout && !rule.isAbout(principal, who)) return `does not apply to ${who}`;
  if (rule.inWindow && !rule.inWindow(now)) return 'outside its schedule';
  return undefined;
}

const conditionInput = (
  { tool, readArgs }: Plan,
  { args, principal, now, assume }: PolicyCall,
): ConditionInput => ({
  args: assume ? UNKNOWN_ARGS : readArgs ? readArgs(args) : args,
  tool,
  principal: { kind: principal.kind, id: principal.id, name: principalName(principal) },
  now,
});

const isAskedFor = (): never => {
  throw new Error('the arguments are not known');
};

/** Fails where a condition reads it: one on tool, principal or time alone is evaluated as ever. */
const UNKNOWN_ARGS = new Proxy<JsonObject>(
  {},
  { get: isAskedFor, has: isAskedFor, ownKeys: isAskedFor, getOwnPropertyDescriptor: isAskedFor },
);

/** The first of the strictest; a plain denial before one that only failed to evaluate, because that may pass later. */
function settle(steps: readonly PolicyStep[], policyVersion: string): Decision {
  let strictest = steps[0] ?? DEFAULT;
  for (const step of steps) {
    const harder = STRICTNESS[step.action] - STRICTNESS[strictest.action];
    const plainer = harder === 0 && strictest.code === 'policy_error' && step.code !== 'policy_error';
    if (harder > 0 || plainer) strictest = step;
  }
  const { action, rule, reason, code } = strictest;
  const signers = Math.max(0, ...steps.map((step) => step.signers ?? 0));
  const trace = steps.map(({ rule, source, action, reason }) => ({ rule, source, action, reason }));
  return {
    action,
    rule,
    reason,
    ...(code && { code }),
    ...(signers > 0 && { signers }),
    trace,
    policyVersion,
  };
}

function unanswered(rule: CompiledRule, error: unknown): PolicyStep {
  const { summary } = error as { summary?: string };
  const why = summary ?? (error instanceof Error ? error.message : String(error));
  return {
    rule: rule.id,
    source: rule.source,
    action: 'deny',
    reason: `rule '${rule.id}' could not be evaluated (${why})`,
    code: 'policy_error',
  };
}

const PAUSED: PolicyStep = {
  rule: 'hard:paused',
  source: 'hard',
  action: 'deny',
  reason: 'a person paused all changes',
  code: 'paused',
};

const DRY_RUN: PolicyStep = {
  rule: 'call:dry_run',
  source: 'call',
  action: 'dry_run',
  reason: 'the call asks for a dry run',
};

import { isChange } from '../../contract/effect.ts';
import { principalName } from '../../contract/principal.ts';
import type { ConditionInput } from './conditions.ts';
import { DEFAULT, type Plan, type Say } from './plan.ts';
import type { CompiledRule } from './rules.ts';
import type { Consideration, Decision, PolicyCall } from './types.ts';

export const STRICTNESS = { allow: 0, ask: 1, dry_run: 2, deny: 3 } as const;

/**
 * The strictest of all that have a say. What always holds comes first; then the rules in order, where the first
 * matching `allow` exempts from what comes after it and from nothing before it.
 */
export function judge(
  plan: Plan,
  call: PolicyCall,
  policyVersion: string,
  consider?: (consideration: Consideration) => void,
): Decision {
  const says: Say[] = [];
  const hear = (say: Say, why: string): void => {
    says.push(say);
    consider?.({ ...say, applied: true, why });
  };
  if (call.paused && isChange(plan.subject.effect)) hear(PAUSED, 'a person paused all changes');
  for (const say of plan.always) hear(say, 'holds whatever the rules say');
  if (call.dryRunRequested && plan.subject.effect !== 'read')
    hear(DRY_RUN, 'the call has its own dry_run argument');

  const exemptedBy = askRules(plan, call, hear, consider);
  for (const say of plan.after) {
    if (exemptedBy === undefined)
      hear(say, say.source === 'list' ? 'the tool is on the list' : 'nothing else spoke');
    else
      consider?.({ ...say, applied: false, why: `rule '${exemptedBy}' allows the call before it is asked` });
  }
  return settle(says, policyVersion);
}

function askRules(
  plan: Plan,
  call: PolicyCall,
  hear: (say: Say, why: string) => void,
  consider: ((consideration: Consideration) => void) | undefined,
): string | undefined {
  const who = plan.rules.length === 0 ? '' : principalName(call.principal);
  let input: ConditionInput | undefined;
  let exemptedBy: string | undefined;
  for (const { rule, say } of plan.rules) {
    if (exemptedBy !== undefined) {
      consider?.({ ...say, applied: false, why: `rule '${exemptedBy}' allows the call before it is asked` });
      continue;
    }
    let missed = missedBy(rule, call, who);
    if (missed === undefined && rule.condition) {
      try {
        input ??= conditionInput(plan, call);
        if (!rule.condition(input)) missed = 'its condition is false';
      } catch (error) {
        hear(unanswered(rule, error), 'its condition could not be evaluated');
        continue;
      }
    }
    if (missed !== undefined) {
      consider?.({ ...say, applied: false, why: missed });
      continue;
    }
    hear(say, 'it matches');
    if (rule.action !== 'allow') continue;
    exemptedBy = rule.id;
    if (!consider) break;
  }
  return exemptedBy;
}

function missedBy(rule: CompiledRule, { principal, now }: PolicyCall, who: string): string | undefined {
  if (rule.isAbout && !rule.isAbout(principal, who)) return `it is not about ${who}`;
  if (rule.inWindow && !rule.inWindow(now)) return 'it is outside its schedule';
  return undefined;
}

const conditionInput = ({ tool, readArgs }: Plan, { args, principal, now }: PolicyCall): ConditionInput => ({
  args: readArgs ? readArgs(args) : args,
  tool,
  principal: { kind: principal.kind, id: principal.id, name: principalName(principal) },
  now,
});

/** The first of the strictest; a plain denial before one that only failed to evaluate, because that may pass later. */
function settle(says: readonly Say[], policyVersion: string): Decision {
  let strictest = says[0] ?? DEFAULT;
  for (const say of says) {
    const harder = STRICTNESS[say.action] - STRICTNESS[strictest.action];
    const plainer = harder === 0 && strictest.code === 'policy_error' && say.code !== 'policy_error';
    if (harder > 0 || plainer) strictest = say;
  }
  const { action, rule, reason, code } = strictest;
  const trace = says.map(({ rule, source, action, reason }) => ({ rule, source, action, reason }));
  return { action, rule, reason, ...(code && { code }), trace, policyVersion };
}

function unanswered(rule: CompiledRule, error: unknown): Say {
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

const PAUSED: Say = {
  rule: 'hard:paused',
  source: 'hard',
  action: 'deny',
  reason: 'a person paused all changes; `countersign resume` lifts it',
  code: 'paused',
};

const DRY_RUN: Say = {
  rule: 'call:dry_run',
  source: 'call',
  action: 'dry_run',
  reason: 'the call asks for a dry run',
};

import { isChange } from '../../contract/effect.ts';
import type { FaultCode } from '../../contract/faults.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { Action } from '../../contract/policy.ts';
import type { Catalogue } from './catalogue.ts';
import { integerReader } from './cel-types.ts';
import type { ConditionInput } from './conditions.ts';
import { type CompiledRule, isSpoken, namesTool } from './rules.ts';
import type { CallSubject, TraceStep } from './types.ts';

/** A step with the fault it gives when it denies. */
export interface Say extends TraceStep {
  readonly code?: FaultCode;
}

/** Everything that can be said about a tool before a call of it comes. */
export interface Plan {
  readonly subject: CallSubject;
  /** Hard rules, blocked_tools and dry_run_mutations: no rule exempts from them. */
  readonly always: readonly Say[];
  readonly rules: readonly { readonly rule: CompiledRule; readonly say: Say }[];
  /** The list and the default, from which an allow rule exempts. */
  readonly after: readonly Say[];
  readonly tool: ConditionInput['tool'];
  readonly readArgs: ((args: JsonObject) => unknown) | undefined;
}

export interface PlanInput {
  readonly mode: string;
  readonly approvalMode: boolean;
  readonly enforce: boolean;
  readonly dryRun: boolean;
  readonly blocked: readonly string[];
  readonly approvalFor: readonly string[];
  /** The user's in their order, then the template's. */
  readonly rules: readonly CompiledRule[];
  readonly catalogue: Catalogue;
}

export function planFor(subject: CallSubject, input: PlanInput): Plan {
  const { name, toolkit, category, effect } = subject;
  const known = input.catalogue.find(name);
  const rules = input.enforce ? input.rules.filter((rule) => hasSay(rule, subject)) : [];
  return {
    subject,
    always: [...hardSays(subject, input), ...settingSays(subject, input)],
    rules: rules.map((rule) => ({ rule, say: ruleSay(rule, subject) })),
    after: [...listSays(subject, input), DEFAULT],
    tool: { name, toolkit, category, effect },
    // Reading a schema may mean making it, so it is asked for only where a condition needs it.
    readArgs: known && rules.some(({ condition }) => condition) ? integerReader(known.inputJson) : undefined,
  };
}

const hasSay = (rule: CompiledRule, subject: CallSubject): boolean =>
  rule.matches(subject) && !(isSpoken(subject) && (rule.action === 'ask' || rule.action === 'dry_run'));

function hardSays(subject: CallSubject, { mode, approvalMode }: PlanInput): Say[] {
  const ask = (rule: string, why: string): Say => ({
    rule: `hard:${rule}`,
    source: 'hard',
    action: 'ask',
    reason: `${requiresApproval(subject)} (${why})`,
  });
  const isXChange = subject.toolkit === 'x' && isChange(subject.effect);
  return [
    ...(isXChange && mode === 'composer' ? [ask('composer_approval', 'Composer mode')] : []),
    ...(isXChange && mode !== 'composer' && approvalMode
      ? [ask('approval_mode', 'approval mode is on')]
      : []),
    ...(subject.effect === 'destroy' ? [ask('destroy_approval', 'it takes something away')] : []),
  ];
}

function settingSays(subject: CallSubject, { enforce, dryRun, blocked, catalogue }: PlanInput): Say[] {
  const says: Say[] = [];
  if (enforce && blocked.some((name) => namesTool(name, subject, catalogue))) {
    const reason = `tool '${subject.name}' is blocked`;
    says.push({
      rule: 'list:blocked_tools',
      source: 'list',
      action: 'deny',
      reason,
      code: 'policy_denied_blocked',
    });
  }
  // Switching enforcement off is meant to let changes through; a dry run somebody asked for stays one.
  if (dryRun && isChange(subject.effect)) {
    const reason = 'dry_run_mutations is on';
    says.push({ rule: 'setting:dry_run_mutations', source: 'setting', action: 'dry_run', reason });
  }
  return says;
}

function listSays(subject: CallSubject, { enforce, approvalFor, catalogue }: PlanInput): Say[] {
  if (!enforce || isSpoken(subject)) return [];
  if (!approvalFor.some((name) => namesTool(name, subject, catalogue))) return [];
  return [
    { rule: 'list:require_approval_for', source: 'list', action: 'ask', reason: requiresApproval(subject) },
  ];
}

function ruleSay({ id, source, action, label, reason }: CompiledRule, subject: CallSubject): Say {
  const told = reason ?? (source === 'rule' ? label : undefined) ?? DEFAULT_REASONS[action](id, subject);
  return {
    rule: id,
    source,
    action,
    reason: told,
    ...(action === 'deny' && { code: 'policy_denied_user_rule' }),
  };
}

// The wording of the documented reply to a routed call.
const requiresApproval = ({ name }: CallSubject): string => `tool '${name}' requires approval`;

const DEFAULT_REASONS: Readonly<Record<Action, (id: string, subject: CallSubject) => string>> = {
  allow: (id) => `rule '${id}' allows it`,
  ask: (_, subject) => requiresApproval(subject),
  dry_run: (id) => `rule '${id}' makes it a dry run`,
  deny: (id, { name }) => `rule '${id}' denies tool '${name}'`,
};

/** What is left when nothing else speaks. */
export const DEFAULT: Say = {
  rule: 'default',
  source: 'default',
  action: 'allow',
  reason: 'no rule stops this call',
};

import type { ErrorCode } from '../../contract/errors.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { Action, ToolkitPolicy } from '../../contract/policy.ts';
import { isOfServer, isQuestion, SERVER_CATEGORY } from '../../contract/servers.ts';
import { isChange, isEffect } from '../../contract/tool.ts';
import type { Catalogue } from './catalogue.ts';
import { integerReader } from './cel.ts';
import type { ConditionInput } from './conditions.ts';
import { type CompiledRule, isProposalOrDecision, namesTool } from './rules.ts';
import type { CallSubject, TraceStep } from './types.ts';

/** A step with the fault it gives when it denies. */
export interface PolicyStep extends TraceStep {
  readonly code?: ErrorCode;
  /** How many people must sign the decision. */
  readonly signers?: number;
  /** Why it applies, where `explain` could not say it of every step of its kind. */
  readonly why?: string;
}

/** Everything that can be said about a tool before a call of it comes. */
export interface Plan {
  readonly subject: CallSubject;
  /** Hard rules, blocked_tools and dry_run_mutations: no rule exempts from them. */
  readonly always: readonly PolicyStep[];
  readonly rules: readonly { readonly rule: CompiledRule; readonly step: PolicyStep }[];
  /** The list, the setting of a server and the default, from which an allow rule exempts. */
  readonly after: readonly PolicyStep[];
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
  readonly toolkits: readonly ToolkitPolicy[];
}

export function planFor(subject: CallSubject, input: PlanInput): Plan {
  const { name, toolkit, category, effect } = subject;
  const known = input.catalogue.find(name);
  const rules = input.enforce ? input.rules.filter((rule) => hasSay(rule, subject)) : [];
  return {
    subject,
    always: [...hardSays(subject, input), ...settingSays(subject, input)],
    rules: rules.map((rule) => ({ rule, step: ruleStep(rule, subject) })),
    after: [
      ...listSays(subject, input),
      ...serverSays(subject, input),
      category === 'sampling' ? SAMPLING : DEFAULT,
    ],
    tool: { name, toolkit, category, effect, server: isOfServer(category) ? toolkit : '' },
    // Reading a schema may mean making it, so it is asked for only where a condition needs it.
    readArgs: known && rules.some(({ condition }) => condition) ? integerReader(known.inputJson) : undefined,
  };
}

const hasSay = (rule: CompiledRule, subject: CallSubject): boolean =>
  rule.matches(subject) &&
  !(isProposalOrDecision(subject) && (rule.action === 'ask' || rule.action === 'dry_run')) &&
  // A rule about a server's tools in general was not written with its questions in mind.
  !(subject.category === 'sampling' && rule.action === 'allow' && !rule.allowsSampling);

function hardSays(subject: CallSubject, { mode, approvalMode, toolkits }: PlanInput): PolicyStep[] {
  const ask = (rule: string, why: string): PolicyStep => ({
    rule: `hard:${rule}`,
    source: 'hard',
    action: 'ask',
    reason: `${requiresApproval(subject)} (${why})`,
  });
  const own = isChange(subject.effect)
    ? toolkits
        .filter(({ toolkit }) => toolkit === subject.toolkit)
        .flatMap(({ hardRules }) => hardRules ?? [])
    : [];
  return [
    ...(isEffect(subject.effect) ? [] : [UNKNOWN_EFFECT]),
    ...own.filter(({ applies }) => applies({ mode, approvalMode })).map(({ id, why }) => ask(id, why)),
    ...(subject.effect === 'destroy' ? [ask('destroy_approval', 'destructive')] : []),
  ];
}

function settingSays(subject: CallSubject, { enforce, dryRun, blocked, catalogue }: PlanInput): PolicyStep[] {
  const steps: PolicyStep[] = [];
  if (enforce && blocked.some((name) => namesTool(name, subject, catalogue))) {
    const reason = `tool '${subject.name}' is blocked`;
    steps.push({
      rule: 'list:blocked_tools',
      source: 'list',
      action: 'deny',
      reason,
      code: 'policy_denied_blocked',
    });
  }
  // Switching enforcement off is meant to let changes through; a requested dry run stays one.
  if (dryRun && isChange(subject.effect)) {
    const reason = 'dry_run_mutations is on';
    steps.push({ rule: 'setting:dry_run_mutations', source: 'setting', action: 'dry_run', reason });
  }
  return steps;
}

function listSays(subject: CallSubject, { enforce, approvalFor, catalogue }: PlanInput): PolicyStep[] {
  if (!enforce || isProposalOrDecision(subject)) return [];
  if (!approvalFor.some((name) => namesTool(name, subject, catalogue))) return [];
  const reason = requiresApproval(subject);
  const why = 'the tool is on the list';
  return [orDeny({ rule: 'list:require_approval_for', source: 'list', action: 'ask', reason, why }, subject)];
}

/** Nothing is known of a third-party server but what it claims, so its changes ask unless a person set it otherwise. */
function serverSays(subject: CallSubject, { enforce, toolkits }: PlanInput): PolicyStep[] {
  const { toolkit, category, effect } = subject;
  if (!enforce || category !== SERVER_CATEGORY || !isChange(effect)) return [];
  const set = toolkits.find((one) => one.toolkit === toolkit)?.changes;
  const action = set ?? 'ask';
  const key = `servers.${toolkit}.changes`;
  const why = `${key} = ${action}${set === undefined ? ' (default)' : ''}`;
  const reason =
    action === 'ask' ? `${requiresApproval(subject)} (changes of the server ${toolkit} ask: ${why})` : why;
  return [{ rule: `setting:${key}`, source: 'setting', action, reason, why }];
}

/** What would wait for a person, or only be shown, is refused where the call is a server's question. */
function orDeny(step: PolicyStep, { category }: CallSubject): PolicyStep {
  if (!isQuestion(category) || step.action === 'allow' || step.action === 'deny') return step;
  const reason = `${step.reason}, and a server's question cannot wait for it`;
  return { ...step, action: 'deny', reason, code: 'policy_denied_user_rule' };
}

function ruleStep(
  { id, source, action, label, reason, signers }: CompiledRule,
  subject: CallSubject,
): PolicyStep {
  const text = reason ?? (source === 'rule' ? label : undefined) ?? DEFAULT_REASONS[action](id, subject);
  const step: PolicyStep = {
    rule: id,
    source,
    action,
    reason: text,
    ...(action === 'deny' && { code: 'policy_denied_user_rule' }),
    ...(signers > 0 && { signers }),
  };
  return orDeny(step, subject);
}

// The wording of the documented reply to a routed call.
const requiresApproval = ({ name }: CallSubject): string => `tool '${name}' requires approval`;

const DEFAULT_REASONS: Readonly<Record<Action, (id: string, subject: CallSubject) => string>> = {
  allow: (id) => `rule '${id}' allows it`,
  ask: (_, subject) => requiresApproval(subject),
  dry_run: (id) => `rule '${id}' makes it a dry run`,
  deny: (id, { name }) => `rule '${id}' denies tool '${name}'`,
};

/** No rule, limit or intent is meant for a call of which no one knows what it does. */
const UNKNOWN_EFFECT: PolicyStep = {
  rule: 'hard:unknown_effect',
  source: 'hard',
  action: 'deny',
  reason: 'it is not known whether the tool reads, changes or destroys',
  code: 'policy_denied_hard_rule',
};

/** What is left when nothing else speaks. */
export const DEFAULT: PolicyStep = {
  rule: 'default',
  source: 'default',
  action: 'allow',
  reason: 'no rule restricts this call',
};

/** A third-party server must not use the client's model unless a person said so. */
const SAMPLING: PolicyStep = {
  rule: 'default:sampling',
  source: 'default',
  action: 'deny',
  reason: 'no rule allows this server to use the model of its client',
  code: 'policy_denied_hard_rule',
};

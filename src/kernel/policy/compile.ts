import { createHash } from 'node:crypto';
import type { McpPolicyConfig, PolicyStatus, ToolkitPolicy } from '../../contract/policy.ts';
import { canonicalJson } from '../../lib/canonical.ts';
import {
  type Catalogue,
  createCatalogue,
  isNameProblem,
  PolicyError,
  type PolicyProblem,
} from './catalogue.ts';
import { loadConditions } from './conditions.ts';
import { evaluate } from './evaluate.ts';
import { compileLimits, countedBy, hourlyLimit, templateLimits } from './limits.ts';
import { type Plan, planFor } from './plan.ts';
import { type CompiledRule, compileRule, compileTemplateRule, isProposalOrDecision } from './rules.ts';
import { templateOf } from './templates.ts';
import type { CallSubject, Policy, PolicySubject, RuleTrace } from './types.ts';

export interface PolicyInput {
  readonly mode: 'autopilot' | 'composer';
  readonly approvalMode: boolean;
  readonly policy: McpPolicyConfig;
  /** Every tool, not only those a session is shown: names are checked against all of them. */
  readonly catalogue: readonly PolicySubject[];
  /** Toolkits whose tools are not known yet; a rule may already name them. */
  readonly expected?: readonly string[];
  /** What the toolkits add: built-in rules and their shares of the templates. */
  readonly toolkits: readonly ToolkitPolicy[];
}

/** Checks and compiles a policy. Throws one `PolicyError` that lists every mistake; a policy is never half in force. */
export async function compilePolicy(input: PolicyInput): Promise<Policy> {
  const { mode, policy } = input;
  const problems: PolicyProblem[] = [];
  const catalogue = createCatalogue(input.catalogue, input.expected);
  checkLists(policy, catalogue, problems);
  const rules = await compileRules(policy, mode, catalogue, problems);
  const ownLimits = compileLimits(policy.limits, catalogue, problems);
  if (problems.length > 0) throw new PolicyError(problems.map((one) => withRule(one, policy)));

  const template = templateOf(policy.template, input.toolkits);
  const enforce = policy.enforce_for_mutations;
  const limits = enforce
    ? [...hourlyLimit(policy.max_mutations_per_hour), ...ownLimits, ...templateLimits(template)]
    : [];
  const version = versionOf(input);
  const planOf = planKeeper({
    mode,
    approvalMode: input.approvalMode,
    enforce,
    dryRun: policy.dry_run_mutations,
    blocked: policy.blocked_tools,
    approvalFor: policy.require_approval_for,
    rules: [...rules, ...template.rules.map((rule) => compileTemplateRule(rule, template.name))],
    catalogue,
    toolkits: input.toolkits,
  });

  return {
    version,
    limits,
    find: catalogue.find,
    decide: (call) => evaluate(planOf(call.subject), call, version),
    limitsFor: ({ subject, principal }) => countedBy(limits, subject, principal, catalogue),
    explain(call) {
      const considered: RuleTrace[] = enforce ? [] : [NOT_ENFORCED];
      const decision = evaluate(planOf(call.subject), call, version, (one) => considered.push(one));
      const counted = decision.action === 'allow' || decision.action === 'ask';
      return {
        decision,
        considered,
        limits: counted ? countedBy(limits, call.subject, call.principal, catalogue) : [],
      };
    },
    status: () => statusOf(input, version),
  };
}

/** A form shows a problem next to the field of the rule it is about. */
function withRule(problem: PolicyProblem, { rules }: McpPolicyConfig): PolicyProblem {
  const [, key, index] = problem.path;
  const rule = key === 'rules' && typeof index === 'number' ? rules[index]?.id : undefined;
  return rule === undefined ? problem : { ...problem, rule };
}

function checkLists(policy: McpPolicyConfig, catalogue: Catalogue, problems: PolicyProblem[]): void {
  const resolve = (key: 'blocked_tools' | 'require_approval_for') =>
    policy[key].map((name, index) => {
      const found = catalogue.tools(name);
      const path = ['mcp_policy', key, index];
      if (!isNameProblem(found)) return { path, name, found };
      problems.push({ path, message: found.problem });
      return { path, name, found: [] };
    });
  const blocked = new Set(resolve('blocked_tools').flatMap(({ found }) => found));
  for (const { path, name, found } of resolve('require_approval_for')) {
    const both = found.find((subject) => blocked.has(subject));
    if (both)
      problems.push({
        path,
        message: `tool '${both.name}' is also in blocked_tools; keep it in one of them`,
      });
    if (found.length > 0 && found.every(isProposalOrDecision)) {
      problems.push({
        path,
        message: `'${name}' files a proposal or is a decision; it is never routed to approval`,
      });
    }
  }
}

async function compileRules(
  { rules }: McpPolicyConfig,
  mode: string,
  catalogue: Catalogue,
  problems: PolicyProblem[],
): Promise<readonly CompiledRule[]> {
  const expressions = rules.flatMap(({ when }) => when ?? []);
  const conditions = expressions.length > 0 ? await loadConditions(expressions) : undefined;
  const compiled = rules.map((rule, index) => {
    const path = ['mcp_policy', 'rules', index];
    const first = rules.findIndex(({ id }) => id === rule.id);
    if (first < index) {
      problems.push({
        path: [...path, 'id'],
        message: `rule '${rule.id}' already exists, as number ${first + 1}`,
      });
    }
    return { rule, compiled: compileRule(rule, path, { catalogue, mode, conditions, problems }) };
  });
  return compiled
    .filter(({ rule }) => rule.enabled)
    .sort((a, b) => a.rule.priority - b.rule.priority)
    .map((one) => one.compiled);
}

/** Plans are made at the first call of a tool. A tool that changed its nature under the same name gets a new one. */
function planKeeper(input: Parameters<typeof planFor>[1]): (subject: CallSubject) => Plan {
  const plans = new Map<string, Plan>();
  return (subject) => {
    const kept = plans.get(subject.name);
    if (kept && isSameKind(kept.subject, subject)) return kept;
    const plan = planFor(subject, input);
    plans.set(subject.name, plan);
    return plan;
  };
}

const isSameKind = (a: CallSubject, b: CallSubject): boolean =>
  a.toolkit === b.toolkit && a.category === b.category && a.effect === b.effect;

function versionOf({ mode, approvalMode, policy, toolkits }: PolicyInput): string {
  const text = canonicalJson({
    mode,
    approval_mode: approvalMode,
    policy,
    template: templateOf(policy.template, toolkits),
    ...changesOf(toolkits),
  });
  return createHash('sha256').update(text).digest('hex');
}

/** What is set for the changes of third-party servers; a server that is not in it asks. */
function changesOf(toolkits: readonly ToolkitPolicy[]): { servers?: Readonly<Record<string, string>> } {
  const set = toolkits.flatMap(({ toolkit, changes }) => (changes ? [[toolkit, changes] as const] : []));
  return set.length === 0 ? {} : { servers: Object.fromEntries(set) };
}

function statusOf({ mode, approvalMode, policy, toolkits }: PolicyInput, version: string): PolicyStatus {
  const template = templateOf(policy.template, toolkits);
  const status = {
    ...policy,
    mode,
    approval_mode: approvalMode || mode === 'composer',
    policy_version: version,
    template_rules: template.rules,
    template_limits: template.limits,
    ...changesOf(toolkits),
  };
  // Through JSON, because optional fields of rules are undefined and a reply has no such thing.
  return JSON.parse(JSON.stringify(status));
}

const NOT_ENFORCED: RuleTrace = {
  rule: 'setting:enforce_for_mutations',
  source: 'setting',
  action: 'allow',
  reason: 'enforce_for_mutations is off',
  applied: false,
  why: 'rules, lists, limits and servers.NAME.changes are disabled; built-in rules still apply',
};

import { createHash } from 'node:crypto';
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import type { McpPolicyConfig } from '../../contract/policy.ts';
import { canonicalJson } from '../../lib/canonical.ts';
import { type Catalogue, createCatalogue, isNameProblem } from './catalogue.ts';
import { loadConditions } from './conditions.ts';
import { PolicyError, type PolicyProblem } from './error.ts';
import { judge } from './judge.ts';
import { compileLimits, countedBy, hourlyLimit, templateLimits } from './limits.ts';
import { type Plan, planFor } from './plan.ts';
import { type CompiledRule, compileRule, compileTemplateRule, isSpoken } from './rules.ts';
import { TEMPLATES } from './templates.ts';
import type { CallSubject, Consideration, Policy, PolicySubject } from './types.ts';

export interface PolicyInput {
  readonly mode: 'autopilot' | 'composer';
  readonly approvalMode: boolean;
  readonly policy: McpPolicyConfig;
  /** Every tool there is, whatever a session is shown: names are checked against all of them. */
  readonly catalogue: readonly PolicySubject[];
}

/** Checks and compiles a policy. Throws one `PolicyError` that lists every mistake; a policy is never half in force. */
export async function compilePolicy(input: PolicyInput): Promise<Policy> {
  const { mode, policy } = input;
  const problems: PolicyProblem[] = [];
  const catalogue = createCatalogue(input.catalogue);
  checkLists(policy, catalogue, problems);
  const rules = await compileRules(policy, mode, catalogue, problems);
  const ownLimits = compileLimits(policy.limits, catalogue, problems);
  if (problems.length > 0) throw new PolicyError(problems);

  const template = TEMPLATES[policy.template];
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
  });

  return {
    version,
    limits,
    find: catalogue.find,
    decide: (call) => judge(planOf(call.subject), call, version),
    limitsFor: ({ subject, principal }) => countedBy(limits, subject, principal, catalogue),
    explain(call) {
      const considered: Consideration[] = enforce ? [] : [NOT_ENFORCED];
      const decision = judge(planOf(call.subject), call, version, (one) => considered.push(one));
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
    if (found.length > 0 && found.every(isSpoken)) {
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
  const conditions = rules.some(({ when }) => when !== undefined) ? await loadConditions() : undefined;
  const compiled = rules.map((rule, index) => {
    const path = ['mcp_policy', 'rules', index];
    const first = rules.findIndex(({ id }) => id === rule.id);
    if (first < index) {
      problems.push({
        path: [...path, 'id'],
        message: `rule '${rule.id}' is there already, as number ${first + 1}`,
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

function versionOf({ mode, approvalMode, policy }: PolicyInput): string {
  const text = canonicalJson({
    mode,
    approval_mode: approvalMode,
    policy,
    template: TEMPLATES[policy.template],
  });
  return createHash('sha256').update(text).digest('hex');
}

function statusOf({ mode, approvalMode, policy }: PolicyInput, version: string): JsonObject {
  const template = TEMPLATES[policy.template];
  const status = {
    ...policy,
    mode,
    approval_mode: approvalMode || mode === 'composer',
    policy_version: version,
    template_rules: template.rules,
    template_limits: template.limits,
  };
  // Through JSON, because optional fields of rules are undefined and a reply has no such thing.
  return JSON.parse(JSON.stringify(status)) as { [key: string]: JsonValue };
}

const NOT_ENFORCED: Consideration = {
  rule: 'setting:enforce_for_mutations',
  source: 'setting',
  action: 'allow',
  reason: 'enforce_for_mutations is off',
  applied: false,
  why: 'rules, lists and limits are switched off; hard rules still hold',
};

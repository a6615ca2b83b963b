import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isChange } from '../../contract/effect.ts';
import {
  type McpPolicyConfig,
  type PolicyLimit,
  type PolicyRule,
  policyRule,
  TEMPLATE_NAMES,
} from '../../contract/policy.ts';
import type { Principal } from '../../contract/principal.ts';
import { compilePolicy, type PolicyInput } from './compile.ts';
import { PolicyError } from './error.ts';
import { CATALOGUE } from './policy.fixture.ts';
import type { Policy, PolicyCall } from './types.ts';

const RUNS = { numRuns: 10_000 };
// Written anew here: a test that imported the order could not notice that it changed.
const STRICTNESS = { allow: 0, ask: 1, dry_run: 2, deny: 3 };

const names = CATALOGUE.flatMap(({ name, policyName, aliases }) => [
  name,
  ...(policyName ? [policyName] : []),
  ...(aliases ?? []),
]);
const categories = [...new Set(CATALOGUE.map(({ category }) => category))];
const some = <T>(values: readonly T[], max: number) =>
  fc.option(fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: max }), {
    nil: undefined,
    freq: 2,
  });

const rule: fc.Arbitrary<PolicyRule> = fc
  .record({
    id: fc.uuid(),
    priority: fc.integer({ min: 1, max: 4 }),
    enabled: fc.constantFrom(true, true, true, false),
    action: fc.constantFrom('allow', 'ask', 'dry_run', 'deny'),
    tools: some([...names, 'x_*', 'github.*', '*'], 4),
    categories: some(categories, 3),
    toolkits: some(['x', 'dev', 'research', 'assistant'], 2),
    effects: some(['read', 'change', 'destroy', 'propose', 'decide'], 3),
    modes: some(['autopilot', 'composer'], 2),
    principals: some(['agent', 'agent:bot', 'person:*', 'system', '*'], 2),
    schedule: fc.option(
      fc.constantFrom(
        { start: '09:00', end: '17:00' },
        { start: '22:00', end: '06:00', timezone: 'Asia/Tokyo', days: ['Mon', 'Sat'] },
      ),
      { nil: undefined, freq: 5 },
    ),
    when: fc.option(
      fc.constantFrom(
        'principal.id == "bot"',
        'tool.effect == "destroy"',
        'now.getHours() < 12',
        'now.getHours("Nowhere/Here") > 1',
      ),
      { nil: undefined, freq: 8 },
    ),
  })
  .map((written) => policyRule.parse(written));

const limit: fc.Arbitrary<PolicyLimit> = fc
  .record({
    key: fc.uuid(),
    max: fc.nat(50),
    period_seconds: fc.constantFrom(60, 3600, 86_400),
    target: fc.constantFrom<['tool' | 'category' | 'toolkit' | 'principal' | 'global', string]>(
      ['tool', 'x_like_tweet'],
      ['tool', 'x_*'],
      ['category', 'engage'],
      ['toolkit', 'dev'],
      ['principal', 'agent:*'],
      ['principal', 'agent:bot'],
      ['global', '*'],
    ),
  })
  .map(({ target: [dimension, match], ...rest }) => ({ ...rest, dimension, match }));

const policyConfig: fc.Arbitrary<McpPolicyConfig> = fc.record({
  enforce_for_mutations: fc.constantFrom(true, true, true, false),
  template: fc.constantFrom(...TEMPLATE_NAMES),
  require_approval_for: fc.uniqueArray(fc.constantFrom(...names), { maxLength: 3 }),
  blocked_tools: fc.uniqueArray(fc.constantFrom(...names, 'x_ads_*'), { maxLength: 3 }),
  dry_run_mutations: fc.constantFrom(false, false, true),
  max_mutations_per_hour: fc.nat(100),
  rules: fc.array(rule, { maxLength: 6 }),
  limits: fc.array(limit, { maxLength: 3 }),
});

const input: fc.Arbitrary<PolicyInput> = fc.record({
  mode: fc.constantFrom('autopilot', 'autopilot', 'composer'),
  approvalMode: fc.boolean(),
  policy: policyConfig,
  catalogue: fc.constant(CATALOGUE),
});

const principal = fc.constantFrom<Principal>(
  { kind: 'agent', id: 'local' },
  { kind: 'agent', id: 'bot' },
  { kind: 'person', id: 'ada' },
  { kind: 'system', id: 'scheduler' },
);

const call: fc.Arbitrary<PolicyCall> = fc.record({
  subject: fc.constantFrom(...CATALOGUE),
  args: fc.constant({}),
  principal,
  now: fc.date({ min: new Date('2026-01-01'), max: new Date('2027-01-01'), noInvalidDate: true }),
  dryRunRequested: fc.constantFrom(false, false, false, true),
  paused: fc.constantFrom(false, false, false, true),
});

/** Undefined for a policy with a mistake in it, which is refused as a whole. */
const tryCompile = (given: PolicyInput): Promise<Policy | undefined> =>
  compilePolicy(given).catch((error: unknown) => {
    if (error instanceof PolicyError) return undefined;
    throw error;
  });

const compileBoth = async (before: PolicyInput, change: Partial<McpPolicyConfig>) => {
  const [a, b] = await Promise.all([
    tryCompile(before),
    tryCompile({ ...before, policy: { ...before.policy, ...change } }),
  ]);
  fc.pre(a !== undefined && b !== undefined);
  return [a, b] as const;
};

const isNamed = (given: string, subject: PolicyCall['subject']): boolean => {
  const known = CATALOGUE.find(({ name }) => name === subject.name);
  const all = [subject.name, known?.policyName, ...(known?.aliases ?? [])];
  return given.endsWith('*') ? all.some((name) => name?.startsWith(given.slice(0, -1))) : all.includes(given);
};

describe('any policy', () => {
  it('never gets around hard rules, blocked tools, dry run and limits', async () => {
    await fc.assert(
      fc.asyncProperty(input, call, async (given, asked) => {
        const policy = await tryCompile(given);
        fc.pre(policy !== undefined);
        const { action, code } = policy.decide(asked);
        const { subject } = asked;
        const config = given.policy;
        const changes = isChange(subject.effect);
        const byPerson =
          subject.effect === 'destroy' ||
          (subject.toolkit === 'x' && changes && (given.approvalMode || given.mode === 'composer'));
        if (byPerson) expect(action).not.toBe('allow');
        if (asked.paused && changes) expect(action).toBe('deny');
        if (config.enforce_for_mutations && config.blocked_tools.some((name) => isNamed(name, subject)))
          expect(action).toBe('deny');
        if (config.dry_run_mutations && changes) expect(['dry_run', 'deny']).toContain(action);
        if (asked.dryRunRequested && subject.effect !== 'read') expect(['dry_run', 'deny']).toContain(action);
        if (subject.effect === 'propose' || subject.effect === 'decide') expect(action).not.toBe('ask');
        expect(code !== undefined).toBe(action === 'deny');

        const counted = policy.limitsFor(asked).map(({ key }) => key);
        if (!changes || !config.enforce_for_mutations) expect(counted).toEqual([]);
        else expect(counted).toContain('max_mutations_per_hour');
        const likes = config.limits.filter(
          ({ dimension, match }) =>
            dimension === 'global' || (match === 'x_like_tweet' && subject.name === 'x_like_tweet'),
        );
        if (changes && config.enforce_for_mutations)
          expect(counted).toEqual(expect.arrayContaining(likes.map(({ key }) => key)));
      }),
      RUNS,
    );
  }, 120_000);

  it('is not loosened by another deny, dry-run or ask rule, list entry, template, limit or dry run', async () => {
    const addition = fc.oneof(
      fc.record({ rule: rule.filter(({ action }) => action !== 'allow'), at: fc.nat(6) }),
      fc.record({ blocked: fc.constantFrom(...names) }),
      fc.record({ approval: fc.constantFrom(...names) }),
      fc.record({ template: fc.constantFrom(...TEMPLATE_NAMES) }),
      fc.record({ limit }),
      fc.constant({ dryRun: true }),
    );
    await fc.assert(
      fc.asyncProperty(
        input,
        addition,
        fc.array(call, { minLength: 1, maxLength: 5 }),
        async (given, added, calls) => {
          const { policy } = given;
          const base =
            'template' in added ? { ...given, policy: { ...policy, template: 'none' as const } } : given;
          const change: Partial<McpPolicyConfig> = {
            ...('rule' in added && { rules: policy.rules.toSpliced(added.at, 0, added.rule) }),
            ...('blocked' in added && { blocked_tools: [...policy.blocked_tools, added.blocked] }),
            ...('approval' in added && {
              require_approval_for: [...policy.require_approval_for, added.approval],
            }),
            ...('template' in added && { template: added.template }),
            ...('limit' in added && { limits: [...policy.limits, added.limit] }),
            ...('dryRun' in added && { dry_run_mutations: true }),
          };
          const [before, after] = await compileBoth(base, change);
          for (const asked of calls) {
            expect(STRICTNESS[after.decide(asked).action]).toBeGreaterThanOrEqual(
              STRICTNESS[before.decide(asked).action],
            );
            expect(after.limitsFor(asked)).toEqual(expect.arrayContaining([...before.limitsFor(asked)]));
          }
        },
      ),
      RUNS,
    );
  }, 120_000);

  it('is loosened by an allow rule only where it matches, and only from what comes after it', async () => {
    const allow = rule.map((one) => ({ ...one, action: 'allow' as const, enabled: true }));
    await fc.assert(
      fc.asyncProperty(
        input,
        allow,
        fc.array(call, { minLength: 1, maxLength: 5 }),
        async (given, added, calls) => {
          const { rules } = given.policy;
          const [before, after] = await compileBoth(given, { rules: [...rules, added] });
          // The same rule alone, as a denial: it denies exactly the calls it matches or cannot judge.
          const alone = await tryCompile({
            ...given,
            mode: given.mode,
            policy: {
              ...given.policy,
              enforce_for_mutations: true,
              dry_run_mutations: false,
              template: 'none',
              blocked_tools: [],
              require_approval_for: [],
              rules: [{ ...added, action: 'deny' }],
            },
          });
          // Everything that comes before it, and nothing that comes after it.
          const earlier = rules.filter(({ priority }) => priority <= added.priority);
          const upTo = await tryCompile({
            ...given,
            policy: { ...given.policy, rules: earlier, template: 'none', require_approval_for: [] },
          });
          fc.pre(alone !== undefined && upTo !== undefined);
          for (const asked of calls) {
            const now = after.decide(asked);
            const own = alone.decide({ ...asked, paused: false, dryRunRequested: false });
            const isEnforced = given.policy.enforce_for_mutations;
            if (!isEnforced || own.rule !== added.id) {
              expect(now).toEqual({ ...before.decide(asked), policyVersion: after.version });
            } else if (own.code === 'policy_error') {
              expect(STRICTNESS[now.action]).toBeGreaterThanOrEqual(STRICTNESS[before.decide(asked).action]);
            } else {
              expect(now.action).toBe(upTo.decide(asked).action);
            }
            expect(after.limitsFor(asked)).toEqual(before.limitsFor(asked));
          }
        },
      ),
      RUNS,
    );
  }, 120_000);
});

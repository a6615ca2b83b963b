import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, it } from 'vitest';
import { propertyRuns } from '../../../test/support/property-runs.ts';
import {
  type McpPolicyConfig,
  mcpPolicy,
  type PolicyLimit,
  type PolicyRule,
  policyRule,
  TEMPLATE_NAMES,
} from '../../contract/policy.ts';
import type { Principal } from '../../contract/principal.ts';
import { isChange } from '../../contract/tool.ts';
import { PolicyError } from './catalogue.ts';
import { compilePolicy, type PolicyInput } from './compile.ts';
import { CATALOGUE, X_POLICY } from './policy.fixture.ts';
import type { Policy, PolicyCall } from './types.ts';

const RUNS = { numRuns: propertyRuns(10_000) };
// Written again here: a test that imported the order could not notice that it changed.
const STRICTNESS = { allow: 0, ask: 1, dry_run: 2, deny: 3 };

const names = CATALOGUE.flatMap(({ name, policyName, aliases }) => [
  name,
  ...(policyName ? [policyName] : []),
  ...(aliases ?? []),
]);
const categories = [...new Set(CATALOGUE.map(({ category }) => category))];
const some = <T>(values: readonly T[], max: number) =>
  fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: max });
/** Once in so many times; undefined otherwise. */
const onceIn = <T>(times: number, value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: 1, arbitrary: value }, { weight: times - 1, arbitrary: fc.constant(undefined) });

// Matchers that have tools in common: a rule that matches nothing is a mistake and would only be discarded.
const matcher = fc.oneof(
  fc.constant({}),
  fc.record({ tools: some([...names, 'x_*', 'github.*', '*'], 4) }),
  fc.record({ categories: some(categories, 3) }),
  fc.record({ effects: some(['read', 'change', 'destroy', 'propose', 'decide'], 4) }),
  fc.record({ toolkits: some(['x', 'dev', 'research', 'assistant'], 2), effects: some(['change'], 1) }),
  fc.record({
    toolkits: fc.constant(['x']),
    tools: fc.constant(['x_*']),
    categories: fc.constant(['write', 'engage']),
  }),
);

const SCHEDULES = [
  { start: '09:00', end: '17:00' },
  { start: '22:00', end: '06:00', timezone: 'Asia/Tokyo', days: ['Mon', 'Sat'] },
];

const CONDITIONS = [
  'principal.id == "bot"',
  'tool.effect == "destroy"',
  'now.getHours() < 12',
  'now.getHours("Nowhere/Here") > 1',
];

const rule: fc.Arbitrary<PolicyRule> = fc
  .tuple(
    matcher,
    fc.record({
      id: fc.stringMatching(/^[a-z]{8}$/),
      priority: fc.integer({ min: 1, max: 4 }),
      enabled: fc.constantFrom(true, true, true, false),
      action: fc.constantFrom('allow', 'ask', 'dry_run', 'deny'),
      modes: onceIn(5, some(['autopilot', 'composer'], 1)),
      principals: onceIn(3, some(['agent', 'agent:bot', 'person:*', 'system', '*'], 2)),
      schedule: onceIn(5, fc.constantFrom(...SCHEDULES)),
      when: onceIn(8, fc.constantFrom(...CONDITIONS)),
    }),
  )
  .map(([matched, rest]) => policyRule.parse({ ...matched, ...rest }));

const limit: fc.Arbitrary<PolicyLimit> = fc
  .record({
    key: fc.stringMatching(/^[a-z]{8}$/),
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

/** Each listed tool is in one list only; the other way is a mistake. */
const lists = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...CATALOGUE), fc.boolean(), fc.boolean()), {
    maxLength: 4,
    selector: ([subject]) => subject,
  })
  .map((entries) => {
    const named = entries.map(([subject, byPolicyName, blocked]) => ({
      name: (byPolicyName ? subject.policyName : undefined) ?? subject.name,
      blocked: blocked || subject.effect === 'propose' || subject.effect === 'decide',
    }));
    return {
      blocked_tools: named.filter(({ blocked }) => blocked).map(({ name }) => name),
      require_approval_for: named.filter(({ blocked }) => !blocked).map(({ name }) => name),
    };
  });

const policyConfig: fc.Arbitrary<McpPolicyConfig> = fc
  .tuple(
    lists,
    fc.record({
      enforce_for_mutations: fc.constantFrom(true, true, true, false),
      template: fc.constantFrom(...TEMPLATE_NAMES),
      dry_run_mutations: fc.constantFrom(false, false, true),
      max_mutations_per_hour: fc.nat(100),
      rules: fc.array(rule, { maxLength: 6 }),
      limits: fc.array(limit, { maxLength: 3 }),
    }),
  )
  .map(([listed, rest]) => ({ ...listed, ...rest }));

const input: fc.Arbitrary<PolicyInput> = fc.record({
  mode: fc.constantFrom('autopilot', 'autopilot', 'composer'),
  approvalMode: fc.boolean(),
  policy: policyConfig,
  catalogue: fc.constant(CATALOGUE),
  toolkits: fc.constant([X_POLICY]),
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

const calls = fc.array(call, { minLength: 1, maxLength: 4 });
const NONE = 'none' as const;
const EMPTY = mcpPolicy.schema.parse({ template: NONE });

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

const isStricter = (now: Policy, before: Policy, asked: PolicyCall): boolean =>
  STRICTNESS[now.decide(asked).action] >= STRICTNESS[before.decide(asked).action];

const countersOf = (policy: Policy, asked: PolicyCall): readonly string[] =>
  policy.limitsFor(asked).map(({ key, max }) => `${key} ${max}`);

// Thirty thousand policies: node's assert, because expect would take longer than the policies.
describe('any policy', { timeout: 600_000 }, () => {
  it('never gets around hard rules, blocked tools, dry run and limits', async () => {
    await fc.assert(
      fc.asyncProperty(input, call, async (given, asked) => {
        const policy = await tryCompile(given);
        fc.pre(policy !== undefined);
        const { action, code } = policy.decide(asked);
        const { subject } = asked;
        const { enforce_for_mutations: enforced, blocked_tools, dry_run_mutations, limits } = given.policy;
        const changes = isChange(subject.effect);
        const isProposalOrDecision = subject.effect === 'propose' || subject.effect === 'decide';
        const isForPerson =
          subject.effect === 'destroy' ||
          (subject.toolkit === 'x' && changes && (given.approvalMode || given.mode === 'composer'));
        if (isForPerson) assert.notEqual(action, 'allow');
        if (asked.paused && changes) assert.equal(action, 'deny');
        if (enforced && blocked_tools.some((name) => isNamed(name, subject))) assert.equal(action, 'deny');
        if (dry_run_mutations && changes) assert.ok(action === 'dry_run' || action === 'deny');
        if (asked.dryRunRequested && subject.effect !== 'read') {
          assert.ok(action === 'dry_run' || action === 'deny');
        }
        if (isProposalOrDecision) assert.notEqual(action, 'ask');
        assert.equal(code !== undefined, action === 'deny');

        const counted = policy.limitsFor(asked).map(({ key }) => key);
        if (!changes || !enforced) return assert.deepEqual(counted, []);
        const expected = limits.filter(
          ({ dimension, match }) =>
            dimension === 'global' || (match === 'x_like_tweet' && subject.name === 'x_like_tweet'),
        );
        for (const key of ['max_mutations_per_hour', ...expected.map((one) => one.key)]) {
          assert.ok(counted.includes(key));
        }
      }),
      RUNS,
    );
  });

  it('is not loosened by another deny, dry-run or ask rule, list entry, template, limit or dry run', async () => {
    const addition = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({ rule: rule.filter(({ action }) => action !== 'allow'), at: fc.nat(6) }),
      },
      fc.record({ blocked: fc.constantFrom(...names) }),
      fc.record({ approval: fc.constantFrom(...names) }),
      fc.record({ template: fc.constantFrom(...TEMPLATE_NAMES) }),
      fc.record({ limit }),
      fc.constant({ dryRun: true }),
    );
    await fc.assert(
      fc.asyncProperty(input, addition, calls, async (given, added, asking) => {
        const { policy } = given;
        // A template is added to none: taking another in its place is no addition.
        const base = 'template' in added ? { ...given, policy: { ...policy, template: NONE } } : given;
        const { blocked_tools, require_approval_for } = policy;
        const [before, after] = await compileBoth(base, {
          ...('rule' in added && { rules: policy.rules.toSpliced(added.at, 0, added.rule) }),
          ...('blocked' in added && { blocked_tools: [...blocked_tools, added.blocked] }),
          ...('approval' in added && { require_approval_for: [...require_approval_for, added.approval] }),
          ...('template' in added && { template: added.template }),
          ...('limit' in added && { limits: [...policy.limits, added.limit] }),
          ...('dryRun' in added && { dry_run_mutations: true }),
        });
        for (const asked of asking) {
          assert.ok(isStricter(after, before, asked));
          const now = countersOf(after, asked);
          assert.ok(countersOf(before, asked).every((counter) => now.includes(counter)));
        }
      }),
      RUNS,
    );
  });

  it('is loosened by an allow rule only where it matches, and only from what comes after it', async () => {
    const allow = rule.map((one) => ({ ...one, action: 'allow' as const, enabled: true }));
    await fc.assert(
      fc.asyncProperty(input, allow, calls, async (given, added, asking) => {
        const { rules, enforce_for_mutations } = given.policy;
        const [before, after] = await compileBoth(given, { rules: [...rules, added] });
        // The same rule alone, as a denial: it denies exactly the calls it matches or cannot evaluate.
        const alone = await tryCompile({
          ...given,
          policy: { ...EMPTY, rules: [{ ...added, action: 'deny' }] },
        });
        // Everything that comes before it, and nothing that comes after it.
        const earlier = rules.filter(({ priority }) => priority <= added.priority);
        const upTo = await tryCompile({
          ...given,
          policy: { ...given.policy, rules: earlier, template: NONE, require_approval_for: [] },
        });
        fc.pre(alone !== undefined && upTo !== undefined);
        for (const asked of asking) {
          const now = after.decide(asked);
          const own = alone.decide({ ...asked, paused: false, dryRunRequested: false });
          if (!enforce_for_mutations || own.rule !== added.id) {
            assert.deepEqual(now, { ...before.decide(asked), policyVersion: after.version });
          } else if (own.code === 'policy_error') {
            assert.ok(isStricter(after, before, asked));
          } else {
            assert.equal(now.action, upTo.decide(asked).action);
          }
          assert.deepEqual(countersOf(after, asked), countersOf(before, asked));
        }
      }),
      RUNS,
    );
  });
});

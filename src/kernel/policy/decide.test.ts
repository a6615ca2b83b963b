import { describe, expect, it } from 'vitest';
import { ask, CATALOGUE, callOf, compile, subjectOf } from './policy.fixture.ts';
import { unreadablePolicy } from './preview.ts';

const rule = (id: string, action: string, rest: object = {}) => ({ id, action, ...rest });

describe('defaults', () => {
  it.each([
    ['x_post_tweet', 'ask', 'template:safe_default:writes'],
    ['x_v2_dm_send_to_participant', 'ask', 'template:safe_default:messages'],
    ['x_ads_campaign_create', 'ask', 'template:safe_default:enterprise'],
    ['x_like_tweet', 'allow', 'default'],
    ['x_search_tweets', 'allow', 'default'],
    ['x_delete_tweet', 'ask', 'hard:destroy_approval'],
    ['delete_code', 'ask', 'hard:destroy_approval'],
    ['runs_create', 'allow', 'default'],
    ['github_issues_create', 'allow', 'default'],
    ['create_code', 'allow', 'default'],
    ['suggest_new_code', 'allow', 'default'],
    ['approve_item', 'allow', 'default'],
    ['order_clawdbot', 'allow', 'default'],
  ])('%s gives %s by %s', async (tool, action, by) => {
    const policy = await compile({});
    expect(ask(policy, tool)).toMatchObject({ action, rule: by, policyVersion: policy.version });
  });

  it('gives the documented reason when a listed tool is routed', async () => {
    const decision = ask(
      await compile({ require_approval_for: ['x_post_tweet', 'x_reply_to_tweet'] }),
      'x_post_tweet',
    );
    expect(decision).toMatchObject({ action: 'ask', reason: "tool 'x_post_tweet' requires approval" });
    expect(decision.trace.map((step) => step.rule)).toEqual([
      'template:safe_default:writes',
      'list:require_approval_for',
      'default',
    ]);
  });
});

describe('hard rules', () => {
  const off = { enforce_for_mutations: false, template: 'none', blocked_tools: ['x_like_tweet'] };

  it('asks for every change of toolkit x in Composer mode, regardless of the rules', async () => {
    const policy = await compile({ rules: [rule('open', 'allow')] }, { mode: 'composer' });
    expect(ask(policy, 'x_like_tweet')).toMatchObject({ action: 'ask', rule: 'hard:composer_approval' });
    expect(ask(policy, 'runs_create').action).toBe('allow');
    expect(ask(policy, 'x_search_tweets').action).toBe('allow');
    expect(ask(policy, 'approve_item').action).toBe('allow');
  });

  it('asks for every change of toolkit x while approval mode is on', async () => {
    const policy = await compile({ template: 'none' }, { approvalMode: true });
    expect(ask(policy, 'x_like_tweet')).toMatchObject({ action: 'ask', rule: 'hard:approval_mode' });
    expect(ask(policy, 'create_code').action).toBe('allow');
  });

  it('still hold when enforcement is off, while rules, lists and limits do not', async () => {
    const rules = [rule('no', 'deny')];
    const policy = await compile({ ...off, rules }, { mode: 'composer' });
    expect(ask(policy, 'x_like_tweet')).toMatchObject({ action: 'ask', rule: 'hard:composer_approval' });
    expect(ask(policy, 'delete_code').action).toBe('ask');
    expect(ask(policy, 'create_code').action).toBe('allow');
    expect(policy.limitsFor(callOf('create_code'))).toEqual([]);
  });

  it('keep a dry run in force when enforcement is off', async () => {
    expect(ask(await compile({ ...off, dry_run_mutations: true }), 'create_code').action).toBe('dry_run');
  });

  it('refuse every change while paused, and nothing else', async () => {
    const policy = await compile({ rules: [rule('open', 'allow')] });
    for (const subject of CATALOGUE) {
      const decision = policy.decide(callOf(subject.name, { paused: true }));
      const isChange = subject.effect === 'change' || subject.effect === 'destroy';
      expect(decision.action, subject.name).toBe(isChange ? 'deny' : 'allow');
      if (isChange) expect(decision).toMatchObject({ code: 'paused', rule: 'hard:paused' });
    }
  });

  it('deny everything when the policy could not be read', () => {
    const policy = unreadablePolicy('config.toml:3: mode');
    expect(ask(policy, 'x_search_tweets')).toMatchObject({ action: 'deny', code: 'policy_error' });
  });
});

describe('lists and settings', () => {
  it('blocks a listed tool by any of its names, also for reads and proposals', async () => {
    const policy = await compile({ blocked_tools: ['github.issues.create', 'x_search_tweets', 'suggest_*'] });
    expect(ask(policy, 'github_issues_create')).toMatchObject({
      action: 'deny',
      code: 'policy_denied_blocked',
      rule: 'list:blocked_tools',
      reason: "tool 'github_issues_create' is blocked",
    });
    expect(ask(policy, 'x_search_tweets').action).toBe('deny');
    expect(ask(policy, 'suggest_new_code').action).toBe('deny');
  });

  it('does not let an allow rule open a blocked tool or a dry run', async () => {
    const policy = await compile({
      blocked_tools: ['x_like_tweet'],
      dry_run_mutations: true,
      rules: [rule('open', 'allow')],
    });
    expect(ask(policy, 'x_like_tweet').code).toBe('policy_denied_blocked');
    expect(ask(policy, 'runs_create')).toMatchObject({
      action: 'dry_run',
      rule: 'setting:dry_run_mutations',
    });
    expect(ask(policy, 'x_search_tweets').action).toBe('allow');
    expect(ask(policy, 'suggest_new_code').action).toBe('allow');
  });

  it('asks for a listed read and for every tool a pattern fits', async () => {
    const policy = await compile({ require_approval_for: ['x_search_tweets', 'issues_*'] });
    expect(ask(policy, 'x_search_tweets').action).toBe('ask');
    expect(ask(policy, 'github_issues_create').action).toBe('ask');
  });
});

describe('rules', () => {
  it('takes the strictest of all that match, in any order', async () => {
    const rules = [rule('a', 'ask'), rule('b', 'deny', { reason: 'not now' }), rule('c', 'dry_run')];
    for (const order of [rules, [...rules].reverse()]) {
      const decision = ask(await compile({ rules: order }), 'create_code');
      expect(decision).toMatchObject({
        action: 'deny',
        rule: 'b',
        reason: 'not now',
        code: 'policy_denied_user_rule',
      });
      expect(decision.trace).toHaveLength(4);
    }
  });

  it('exempts from what comes after the first allow and from nothing before it', async () => {
    const rules = [
      rule('late-deny', 'deny', { priority: 30, tools: ['x_post_tweet'] }),
      rule('allow', 'allow', { priority: 20, tools: ['x_post_tweet', 'create_code'] }),
      rule('early-ask', 'ask', { priority: 10, tools: ['create_code'] }),
    ];
    const policy = await compile({ rules, require_approval_for: ['x_post_tweet'] });
    expect(ask(policy, 'x_post_tweet')).toMatchObject({ action: 'allow', rule: 'allow' });
    expect(ask(policy, 'create_code')).toMatchObject({ action: 'ask', rule: 'early-ask' });
  });

  it('keeps equal priorities in the order written', async () => {
    const policy = await compile({ rules: [rule('first', 'allow'), rule('second', 'deny')] });
    expect(ask(policy, 'create_code').action).toBe('allow');
  });

  it('evaluates only changes when it names nothing, and reads that it names', async () => {
    const bare = await compile({ rules: [rule('no', 'deny')] });
    expect(ask(bare, 'x_search_tweets').action).toBe('allow');
    expect(ask(bare, 'suggest_new_code').action).toBe('allow');
    expect(ask(bare, 'create_code').action).toBe('deny');
    for (const named of [
      { tools: ['x_search_*'] },
      { categories: ['read'] },
      { effects: ['read'] },
      { toolkits: ['x'] },
    ]) {
      expect(ask(await compile({ rules: [rule('no', 'deny', named)] }), 'x_search_tweets').action).toBe(
        'deny',
      );
    }
    const changes = await compile({ rules: [rule('no', 'deny', { toolkits: ['x'], effects: ['change'] })] });
    expect(ask(changes, 'x_search_tweets').action).toBe('allow');
  });

  it('never routes proposals and decisions, but may deny them', async () => {
    const asking = await compile({ rules: [rule('ask', 'ask', { toolkits: ['research', 'x'] })] });
    expect(ask(asking, 'suggest_new_code').action).toBe('allow');
    expect(ask(asking, 'approve_item').action).toBe('allow');
    const denying = await compile({ rules: [rule('no', 'deny', { tools: ['approve_item'] })] });
    expect(ask(denying, 'approve_item').action).toBe('deny');
  });

  it('looks at modes, principals and its own switch', async () => {
    const rules = [
      rule('mode', 'deny', { modes: ['composer'] }),
      rule('bot', 'deny', { principals: ['agent:bot-*'] }),
      rule('off', 'deny', { enabled: false }),
      rule('people', 'ask', { principals: ['person'] }),
    ];
    const policy = await compile({ rules });
    expect(ask(policy, 'create_code').action).toBe('allow');
    expect(ask(policy, 'create_code', { principal: { kind: 'agent', id: 'bot-7' } }).action).toBe('deny');
    expect(ask(policy, 'create_code', { principal: { kind: 'person', id: 'ada' } }).action).toBe('ask');
    expect(ask(await compile({ rules }, { mode: 'composer' }), 'create_code').action).toBe('deny');
  });

  it('ignores what a client calls itself', async () => {
    const policy = await compile({ rules: [rule('bot', 'deny', { principals: ['agent:bot'] })] });
    expect(
      ask(policy, 'create_code', { principal: { kind: 'agent', id: 'local', label: 'bot' } }).action,
    ).toBe('allow');
  });

  it('evaluates a tool outside the catalogue by its category and effect', async () => {
    const policy = await compile({ rules: [rule('no', 'deny', { categories: ['engage'] })] });
    const subject = { name: 'late_tool', toolkit: 'servers', category: 'engage', effect: 'change' } as const;
    expect(policy.decide({ ...callOf('x_like_tweet'), subject }).action).toBe('deny');
    const changed = { ...subject, category: 'other', effect: 'destroy' } as const;
    expect(policy.decide({ ...callOf('x_like_tweet'), subject: changed }).rule).toBe('hard:destroy_approval');
  });
});

describe("a call's own dry run", () => {
  it('is not asked for, but a denial still refuses it', async () => {
    const policy = await compile({ blocked_tools: ['x_like_tweet'] });
    expect(ask(policy, 'x_delete_tweet', { dryRunRequested: true })).toMatchObject({
      action: 'dry_run',
      rule: 'call:dry_run',
    });
    expect(ask(policy, 'x_post_tweet', { dryRunRequested: true }).action).toBe('dry_run');
    expect(ask(policy, 'x_like_tweet', { dryRunRequested: true }).action).toBe('deny');
    expect(ask(policy, 'x_search_tweets', { dryRunRequested: true }).action).toBe('allow');
  });
});

describe('explain', () => {
  it('lists every rule that could have applied and why it did or did not', async () => {
    const policy = await compile({
      require_approval_for: ['x_post_tweet'],
      rules: [
        rule('bot', 'deny', { principals: ['agent:bot'] }),
        rule('night', 'deny', { schedule: { start: '22:00', end: '06:00' } }),
        rule('link', 'deny', { tools: ['x_post_tweet'], when: 'args.text.contains("http")' }),
        rule('open', 'allow', { tools: ['x_post_tweet'] }),
        rule('after', 'deny'),
      ],
    });
    const { decision, considered, limits } = policy.explain(
      callOf('x_post_tweet', { args: { text: 'hello' } }),
    );
    expect(decision).toEqual(ask(policy, 'x_post_tweet', { args: { text: 'hello' } }));
    expect(considered.map(({ rule: id, applied, why }) => [id, applied, why])).toEqual([
      ['bot', false, 'does not apply to agent:local'],
      ['night', false, 'outside its schedule'],
      ['link', false, 'its condition is false'],
      ['open', true, 'matches'],
      ['after', false, "not evaluated: rule 'open' already allows the call"],
      ['template:safe_default:writes', false, "not evaluated: rule 'open' already allows the call"],
      ['list:require_approval_for', false, "not evaluated: rule 'open' already allows the call"],
      ['default', false, "not evaluated: rule 'open' already allows the call"],
    ]);
    expect(limits.map(({ key }) => key)).toEqual(['template:safe_default:x_changes_per_hour']);
  });

  it('says when enforcement is off', async () => {
    const { considered } = (await compile({ enforce_for_mutations: false })).explain(callOf('create_code'));
    expect(considered[0]).toMatchObject({ rule: 'setting:enforce_for_mutations', applied: false });
  });
});

describe('schemas', () => {
  it('are not read by a policy without conditions', async () => {
    const lazy = CATALOGUE.map((subject) => ({
      ...subject,
      get inputJson(): never {
        throw new Error('the schema was read');
      },
    }));
    const policy = await compile(
      { rules: [rule('no', 'deny', { principals: ['agent:bot'] })] },
      { catalogue: lazy },
    );
    expect(policy.decide({ ...callOf('create_code'), subject: subjectOf('create_code') }).action).toBe(
      'allow',
    );
  });
});

describe('version and status', () => {
  it('changes with any part of the policy and with nothing else', async () => {
    const version = async (...given: Parameters<typeof compile>) => (await compile(...given)).version;
    expect(await version({})).toMatch(/^[0-9a-f]{64}$/);
    expect(await version({})).toBe(await version({ template: 'safe_default', blocked_tools: [] }));
    expect(await version({}, { catalogue: [subjectOf('x_post_tweet')] })).toBe(await version({}));
    const others = [
      await version({ max_mutations_per_hour: 21 }),
      await version({}, { mode: 'composer' }),
      await version({ template: 'none' }),
    ];
    expect(new Set([...others, await version({})]).size).toBe(4);
  });

  it('reports what is configured with the effective mode', async () => {
    const status = (
      await compile(
        { blocked_tools: ['x_like_tweet'], max_mutations_per_hour: 20, rules: [rule('no', 'deny')] },
        { mode: 'composer' },
      )
    ).status();
    expect(status).toMatchObject({
      mode: 'composer',
      approval_mode: true,
      enforce_for_mutations: true,
      blocked_tools: ['x_like_tweet'],
      max_mutations_per_hour: 20,
      template: 'safe_default',
      rules: [{ id: 'no', action: 'deny', priority: 100, enabled: true }],
    });
  });
});

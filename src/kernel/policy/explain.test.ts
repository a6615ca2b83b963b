import { describe, expect, it } from 'vitest';
import { LOCAL_AGENT } from '../../contract/principal.ts';
import { ask, callOf, compile, inputOf, subjectOf } from './policy.fixture.ts';
import { previewRule, unreadablePolicy } from './preview.ts';

const rule = (id: string, action: string, rest: object = {}) => ({ id, action, ...rest });

describe('the reason of a decision', () => {
  it.each([
    [{}, 'allow', "rule 'r' allows it"],
    [{}, 'ask', "tool 'x_like_tweet' requires approval"],
    [{}, 'dry_run', "rule 'r' makes it a dry run"],
    [{}, 'deny', "rule 'r' denies tool 'x_like_tweet'"],
    [{ label: 'Likes' }, 'deny', 'Likes'],
    [{ label: 'Likes', reason: 'not now' }, 'deny', 'not now'],
  ])('is what the rule says, or its label, or names it: %j %s', async (rest, action, reason) => {
    const policy = await compile({ rules: [rule('r', action, { tools: ['x_like_tweet'], ...rest })] });
    expect(ask(policy, 'x_like_tweet')).toMatchObject({ rule: 'r', action, reason });
  });

  it('is never the label of a template, which is not about this call', async () => {
    expect(ask(await compile({}), 'x_post_tweet')).toMatchObject({
      rule: 'template:safe_default:writes',
      reason: "tool 'x_post_tweet' requires approval",
    });
  });
});

describe('an explanation', () => {
  it('says of the list and of the default why they apply', async () => {
    const policy = await compile({ template: 'none', require_approval_for: ['x_like_tweet'] });
    const { considered } = policy.explain(callOf('x_like_tweet'));
    expect(considered.map(({ rule: id, why }) => [id, why])).toEqual([
      ['list:require_approval_for', 'the tool is on the list'],
      ['default', 'no other rule matched'],
    ]);
  });

  it.each([
    ['allow', 1],
    ['ask', 1],
    ['dry_run', 0],
    ['deny', 0],
  ])('of a call with %s names %i limits that it counts in', async (action, count) => {
    const rules = [rule('r', action, { tools: ['x_like_tweet'] })];
    const policy = await compile({ template: 'none', max_mutations_per_hour: 5, rules });
    expect(policy.explain(callOf('x_like_tweet')).limits).toHaveLength(count);
  });

  it('leaves out of a list what is a proposal or a decision', async () => {
    const policy = await compile({ require_approval_for: ['*'], template: 'none' });
    for (const name of ['approve_item', 'suggest_new_code'])
      expect(ask(policy, name).trace.map((step) => step.rule)).toEqual(['default']);
    const off = await compile({ enforce_for_mutations: false, require_approval_for: ['x_like_tweet'] });
    expect(ask(off, 'x_like_tweet').action).toBe('allow');
  });

  it('has no dry-run step for a proposal or a decision', async () => {
    const rules = [rule('dry', 'dry_run', { effects: ['change', 'propose', 'decide'] })];
    const policy = await compile({ rules, template: 'none' });
    expect(ask(policy, 'create_code').action).toBe('dry_run');
    for (const name of ['approve_item', 'suggest_new_code']) expect(ask(policy, name).action).toBe('allow');
  });

  it('needs nothing of a toolkit that adds nothing to policy', async () => {
    const policy = await compile({}, { toolkits: [{ toolkit: 'dev' }] });
    expect(ask(policy, 'runs_create').action).toBe('allow');
  });

  it('shows whether approval mode is on', async () => {
    expect((await compile({})).status()).toMatchObject({ approval_mode: false });
    expect((await compile({}, { approvalMode: true })).status()).toMatchObject({ approval_mode: true });
    expect((await compile({}, { mode: 'composer' })).status()).toMatchObject({ approval_mode: true });
  });

  it('evaluates a tool again whose nature changed under the same name', async () => {
    const rules = [
      rule('kit', 'deny', { toolkits: ['dev'] }),
      rule('kind', 'deny', { categories: ['ads'] }),
      rule('read', 'deny', { effects: ['read'] }),
    ];
    const policy = await compile({ rules, template: 'none' });
    const like = subjectOf('x_like_tweet');
    const decide = (more: object) =>
      policy.decide(callOf('x_like_tweet', { subject: { ...like, ...more } })).rule;
    expect(decide({})).toBe('default');
    expect(decide({ toolkit: 'dev' })).toBe('kit');
    expect(decide({})).toBe('default');
    expect(decide({ category: 'ads' })).toBe('kind');
    expect(decide({})).toBe('default');
    expect(decide({ effect: 'read' })).toBe('read');
  });
});

describe('a rule about modes', () => {
  it('applies in each of those it names, and in no other', async () => {
    const rules = (modes: string[]) => [rule('r', 'deny', { tools: ['create_code'], modes })];
    const decide = async (modes: string[], mode: 'autopilot' | 'composer') =>
      ask(await compile({ rules: rules(modes) }, { mode }), 'create_code').rule;
    expect(await decide(['autopilot', 'composer'], 'composer')).toBe('r');
    expect(await decide(['composer'], 'composer')).toBe('r');
    expect(await decide(['composer'], 'autopilot')).toBe('default');
  });
});

describe('a rule that can never have an effect', () => {
  it.each([
    [{ tools: ['x_like_tweet'], categories: ['ads'] }, 'deny', 'matches no tool'],
    [{ categories: ['ads'], toolkits: ['dev'] }, 'deny', 'matches no tool'],
    [{ toolkits: ['dev'], effects: ['read'] }, 'deny', 'matches no tool'],
    [{ tools: ['approve_item'] }, 'ask', 'has no effect'],
    [{ tools: ['approve_item', 'suggest_new_code'] }, 'dry_run', 'has no effect'],
  ])('is refused: %j %s', async (rest, action, why) => {
    await expect(compile({ rules: [rule('r', action, rest)] })).rejects.toMatchObject({
      problems: [{ path: ['mcp_policy', 'rules', 0], rule: 'r', message: expect.stringContaining(why) }],
    });
  });

  it('is fine as a denial, or where it also matches something else', async () => {
    await compile({ rules: [rule('r', 'deny', { tools: ['approve_item'] })] });
    await compile({ rules: [rule('r', 'ask', { tools: ['approve_item', 'create_code'] })] });
  });

  it('is a problem of the policy and not of a rule where a list has it', async () => {
    const rules = [rule('fine', 'deny', { tools: ['create_code'] })];
    const limits = [{ key: 'l', dimension: 'tool', match: 'nope', max: 1, period_seconds: 1 }];
    const wrong = compile({ blocked_tools: ['nope'], require_approval_for: ['nope'], limits, rules });
    const error = (await wrong.catch((one: unknown) => one)) as { problems: object[] };
    expect(error.problems).toHaveLength(3);
    for (const problem of error.problems) expect(problem).not.toHaveProperty('rule');
    await compile({ require_approval_for: ['*'] });
    await expect(compile({ require_approval_for: ['approve_item'] })).rejects.toThrow(
      'never routed to approval',
    );
    await compile({ rules: [rule('all', 'deny')] }, { catalogue: [] });
  });
});

describe('arguments that are no longer known', () => {
  const decide = async (action: string, assume: 'strictest' | 'loosest', when = 'args.name == "a"') => {
    const rules = [rule('r', action, { tools: ['create_code'], when })];
    const policy = await compile({ rules, require_approval_for: ['create_code'] });
    return ask(policy, 'create_code', { assume });
  };

  it('count as they would decide the strictest or the loosest way', async () => {
    expect(await decide('deny', 'strictest')).toMatchObject({ action: 'deny', depends: ['r'] });
    expect(await decide('deny', 'loosest')).toMatchObject({ action: 'ask', depends: ['r'] });
    expect(await decide('allow', 'strictest')).toMatchObject({ action: 'ask', depends: ['r'] });
    expect(await decide('allow', 'loosest')).toMatchObject({ action: 'allow', depends: ['r'] });
  });

  it('do not matter to a condition that does not read them', async () => {
    const decision = await decide('deny', 'loosest', 'principal.name == "agent:local"');
    expect(decision.action).toBe('deny');
    expect(decision).not.toHaveProperty('depends');
    expect(await decide('deny', 'loosest', 'has(args.name)')).toHaveProperty('depends', ['r']);
  });

  it('make a past call unknown only where they change the decision', async () => {
    const past = { callId: 'a', subject: subjectOf('create_code'), args: undefined, principal: LOCAL_AGENT };
    const calls = [{ ...past, at: new Date('2026-03-02T10:00:00Z') }];
    const own = rule('own', 'deny', { tools: ['create_code'], when: 'args.name == "a"' });
    const written = { rules: [rule('all', 'deny', { tools: ['create_code'] }), own] };
    const candidate = inputOf({ rules: [rule('c', 'deny', { tools: ['x_like_tweet'] })] }).policy.rules[0];
    if (!candidate) throw new Error('no rule');
    expect(await previewRule(inputOf(written), candidate, calls)).toMatchObject({
      unchanged: 1,
      stillAsk: 0,
      unknown: [],
    });
    expect(await previewRule(inputOf({ rules: [own] }), candidate, calls)).toMatchObject({ unknown: ['a'] });
  });
});

describe('a policy that could not be read', () => {
  it('denies, allows no limit, knows no tool, and says why', () => {
    const policy = unreadablePolicy('gone');
    const reason = 'the policy could not be read (gone)';
    const decision = {
      action: 'deny',
      rule: 'hard:unreadable_policy',
      reason,
      code: 'policy_error',
      trace: [{ rule: 'hard:unreadable_policy', source: 'hard', action: 'deny', reason }],
      policyVersion: 'unreadable',
    };
    expect(ask(policy, 'x_search_tweets')).toEqual(decision);
    expect(policy.explain(callOf('x_search_tweets'))).toEqual({ decision, considered: [], limits: [] });
    expect(policy.limits).toEqual([]);
    expect(policy.limitsFor(callOf('x_like_tweet'))).toEqual([]);
    expect(policy.find('x_like_tweet')).toBeUndefined();
    expect(policy.status()).toEqual({ policy_version: 'unreadable', problem: 'gone' });
  });
});

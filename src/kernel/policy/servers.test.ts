import { describe, expect, it } from 'vitest';
import { isNameProblem } from './catalogue.ts';
import { CATALOGUE, callOf, compile, X_POLICY } from './policy.fixture.ts';
import type { Policy, PolicySubject } from './types.ts';

const subject = (name: string, category: string): PolicySubject => ({
  name,
  toolkit: 'files',
  category,
  effect: category === 'server' ? 'change' : 'read',
  inputJson: { type: 'object', properties: {} },
});
const WRITE = subject('files__write', 'server');
const SAMPLING = subject('files.asks.sampling', 'sampling');
const ROOTS = subject('files.asks.roots', 'roots');
const catalogue = [...CATALOGUE, WRITE, SAMPLING, ROOTS];
const rule = (id: string, action: string, rest: object = {}) => ({ id, action, ...rest });
const decide = (policy: Policy, one: PolicySubject) =>
  policy.decide(callOf('x_post_tweet', { subject: one }));

describe('a question of a third-party server', () => {
  it('to use the model of its client is denied unless a rule names it', async () => {
    const policy = await compile({}, { catalogue });
    expect(decide(policy, SAMPLING)).toMatchObject({
      action: 'deny',
      rule: 'default:sampling',
      code: 'policy_denied_hard_rule',
    });
    expect(decide(policy, ROOTS)).toMatchObject({ action: 'allow', rule: 'default' });
    for (const wide of [{ toolkits: ['files'] }, { tools: ['files*'] }, { effects: ['read'] }]) {
      const open = await compile({ rules: [rule('open', 'allow', wide)] }, { catalogue });
      expect(decide(open, SAMPLING).action).toBe('deny');
      expect(decide(open, ROOTS).rule).toBe('open');
    }
    for (const named of [
      { categories: ['sampling'] },
      { tools: ['files.asks.*'] },
      { tools: ['files__write', 'files.asks.sampling'] },
    ]) {
      const open = await compile({ rules: [rule('open', 'allow', named)] }, { catalogue });
      expect(decide(open, SAMPLING)).toMatchObject({ action: 'allow', rule: 'open' });
    }
  });

  it('can be denied by a rule about the server in general', async () => {
    const policy = await compile({ rules: [rule('no', 'deny', { toolkits: ['files'] })] }, { catalogue });
    expect(decide(policy, SAMPLING)).toMatchObject({ action: 'deny', rule: 'no' });
    expect(decide(policy, ROOTS)).toMatchObject({
      action: 'deny',
      rule: 'no',
      reason: "rule 'no' denies tool 'files.asks.roots'",
    });
  });

  it.each([
    ['ask', "tool 'files.asks.roots' requires approval"],
    ['dry_run', "rule 'r' makes it a dry run"],
  ])('is denied where a rule says %s, because it cannot wait', async (action, why) => {
    const policy = await compile({ rules: [rule('r', action, { toolkits: ['files'] })] }, { catalogue });
    expect(decide(policy, ROOTS)).toMatchObject({
      action: 'deny',
      rule: 'r',
      reason: `${why}, and a server's question cannot wait for it`,
      code: 'policy_denied_user_rule',
    });
    expect(decide(policy, WRITE).action).toBe(action);
  });

  it('is denied where a list requires approval for it', async () => {
    const policy = await compile({ require_approval_for: ['files*'] }, { catalogue });
    expect(decide(policy, ROOTS)).toMatchObject({ action: 'deny', rule: 'list:require_approval_for' });
    expect(decide(policy, WRITE).action).toBe('ask');
  });
});

describe('the changes of a server', () => {
  const set = (changes: 'ask' | 'allow' | undefined) => ({
    catalogue,
    toolkits: [X_POLICY, { toolkit: 'files', ...(changes && { changes }) }],
  });
  const READ: PolicySubject = { ...WRITE, name: 'files__read', effect: 'read' };
  const WIPE: PolicySubject = { ...WRITE, name: 'files__wipe', effect: 'destroy' };

  it('ask by default, and explain names the setting', async () => {
    for (const policy of [await compile({}, { catalogue }), await compile({}, set(undefined))]) {
      const { decision, considered } = policy.explain(callOf('x_like_tweet', { subject: WRITE }));
      expect(decision).toMatchObject({
        action: 'ask',
        rule: 'setting:servers.files.changes',
        reason:
          "tool 'files__write' requires approval (changes of the server files ask: servers.files.changes = ask (default))",
      });
      expect(considered.at(-2)).toMatchObject({
        applied: true,
        why: 'servers.files.changes = ask (default)',
      });
      expect(decide(policy, READ)).toMatchObject({ action: 'allow', rule: 'default' });
    }
    const asked = await compile({}, set('ask'));
    expect(decide(asked, WRITE).reason).toContain('servers.files.changes = ask)');
  });

  it('run where a person set it, while destructive calls ask', async () => {
    const policy = await compile({}, set('allow'));
    expect(decide(policy, WRITE)).toMatchObject({ action: 'allow', rule: 'setting:servers.files.changes' });
    expect(decide(policy, WIPE)).toMatchObject({ action: 'ask', rule: 'hard:destroy_approval' });
    const strict = await compile({ require_approval_for: ['files__write'] }, set('allow'));
    expect(decide(strict, WRITE)).toMatchObject({ action: 'ask', rule: 'list:require_approval_for' });
    expect(policy.version).not.toBe((await compile({}, set(undefined))).version);
    expect(policy.status()).toMatchObject({ servers: { files: 'allow' } });
  });

  it('run where a rule allows them, and are off with all enforcement', async () => {
    const rules = [rule('write', 'allow', { tools: ['files__write'] })];
    const policy = await compile({ rules }, set(undefined));
    expect(decide(policy, WRITE)).toMatchObject({ action: 'allow', rule: 'write' });
    expect(decide(policy, { ...WRITE, name: 'files__move' }).action).toBe('ask');
    const off = await compile({ enforce_for_mutations: false }, set(undefined));
    expect(decide(off, WRITE).action).toBe('allow');
    expect(decide(off, WIPE).action).toBe('ask');
  });
});

describe('a condition on the server', () => {
  it('sees which one owns the tool, and none for other tools', async () => {
    const when = 'tool.server == "files" && tool.name.startsWith("files") && tool.toolkit == "files"';
    const policy = await compile({ rules: [rule('no', 'deny', { when })] }, { catalogue });
    expect(decide(policy, WRITE).rule).toBe('no');
    const none = await compile(
      { template: 'none', rules: [rule('no', 'deny', { when: 'tool.server == ""' })] },
      { catalogue },
    );
    expect(decide(none, WRITE).rule).toBe('setting:servers.files.changes');
    expect(none.decide(callOf('x_like_tweet')).rule).toBe('no');
  });
});

describe('a server whose tools are not known yet', () => {
  const expected = ['files'];
  const RULES = [
    rule('write', 'deny', { tools: ['files__write'] }),
    rule('asks', 'deny', { tools: ['files.asks.roots'] }),
    rule('wide', 'deny', { tools: ['files__*'] }),
    rule('all', 'deny', { toolkits: ['files'] }),
    rule('kind', 'deny', { categories: ['roots'] }),
    rule('when', 'deny', { tools: ['files__write'], when: 'args.path == "x"' }),
  ];

  it('can be named by rules, which then have no effect', async () => {
    const policy = await compile({ rules: RULES }, { expected });
    expect(policy.decide(callOf('x_like_tweet')).trace.map((step) => step.rule)).toEqual(['default']);
    expect(decide(policy, WRITE)).toMatchObject({ action: 'ask', rule: 'setting:servers.files.changes' });
  });

  it('can be named by nothing once no server is expected', async () => {
    await expect(compile({ rules: RULES.slice(0, 5) })).rejects.toMatchObject({
      problems: [
        { path: ['mcp_policy', 'rules', 0, 'tools', 0], rule: 'write' },
        { path: ['mcp_policy', 'rules', 1, 'tools', 0], rule: 'asks' },
        { path: ['mcp_policy', 'rules', 2, 'tools', 0], rule: 'wide' },
        { path: ['mcp_policy', 'rules', 3, 'toolkits', 0], rule: 'all' },
        { path: ['mcp_policy', 'rules', 4, 'categories', 0], rule: 'kind' },
      ],
    });
  });

  it('can have tools on a list, which holds as soon as one of them is called', async () => {
    const READ = subject('files__read', 'server');
    const one = await compile({ blocked_tools: ['files__write'] }, { expected });
    expect(decide(one, WRITE).rule).toBe('list:blocked_tools');
    expect(decide(one, READ).rule).toBe('setting:servers.files.changes');
    const all = await compile({ blocked_tools: ['files__*'] }, { expected });
    for (const tool of [WRITE, READ]) expect(decide(all, tool).rule).toBe('list:blocked_tools');
    expect(all.decide(callOf('x_like_tweet')).rule).toBe('default');
  });

  it('excuses no other name', async () => {
    for (const bad of [
      { tools: ['x_pots_tweet'] },
      { tools: ['myfiles__write'] },
      { tools: ['notfiles.asks'] },
      { categories: ['nothing'] },
      { toolkits: ['nothing'] },
    ])
      await expect(compile({ rules: [rule('bad', 'deny', bad)] }, { expected })).rejects.toThrow('unknown');
  });

  it('does not disable a rule that also names known tools', async () => {
    const rules = [rule('both', 'deny', { tools: ['x_like_tweet', 'files__write'] })];
    const policy = await compile({ rules }, { expected });
    expect(policy.decide(callOf('x_like_tweet')).rule).toBe('both');
  });
});

it('a name is a problem only where one was found', () => {
  expect([isNameProblem(undefined), isNameProblem([]), isNameProblem({ problem: 'p' })]).toEqual([
    false,
    false,
    true,
  ]);
});

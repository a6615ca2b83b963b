import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../contract/json.ts';
import { ask, callOf, compile } from './policy.fixture.ts';

const deny = (tool: string, when: string) =>
  compile({ template: 'none', rules: [{ id: 'r', action: 'deny', tools: [tool], when }] });

const ANY = { toolkit: 'any', category: 'any', effect: 'change' } as const;

describe('a condition', () => {
  it('may use optional values and lists of mixed kinds', async () => {
    const when = 'args.?media_ids.orValue(["none"])[0] == "none" && [1, "a"].size() == 2';
    expect(ask(await deny('x_post_tweet', when), 'x_post_tweet', { args: { text: '' } }).action).toBe('deny');
  });

  it.each<[string, string, JsonObject, boolean]>([
    ['x_post_tweet', 'args.text.contains("crypto")', { text: 'buy crypto' }, true],
    ['x_post_tweet', 'args.text.contains("crypto")', { text: 'hello' }, false],
    [
      'x_post_tweet',
      'has(args.media_ids) && args.media_ids.exists(m, m.startsWith("v"))',
      { text: '', media_ids: ['a', 'v1'] },
      true,
    ],
    [
      'x_post_tweet',
      'has(args.media_ids) && args.media_ids.exists(m, m.startsWith("v"))',
      { text: '' },
      false,
    ],
    ['x_ads_campaign_create', 'args.days == 7 && args.days + 1 > 7', { budget: 1, days: 7 }, true],
    ['x_ads_campaign_create', 'args.days % 2 == 0', { budget: 1, days: 7 }, false],
    ['x_ads_campaign_create', 'args.budget > 100', { budget: 100.5, days: 1 }, true],
    ['x_ads_campaign_create', 'args.budget * 2.0 > 100.0', { budget: 40, days: 1 }, false],
    ['approve_item', 'args.id > 3', { id: 4 }, true],
    [
      'create_code',
      'tool.name == "create_code" && tool.effect == "change" && tool.toolkit == "research"',
      { name: 'a' },
      true,
    ],
    ['create_code', 'principal.kind == "agent" && principal.id == "local"', { name: 'a' }, true],
    ['create_code', 'now > timestamp("2026-03-02T09:59:59Z")', { name: 'a' }, true],
    ['create_code', 'now.getHours("Europe/Berlin") == 11', { name: 'a' }, true],
  ])('of %s, %s, with %j gives %s', async (tool, when, args, denied) => {
    expect(ask(await deny(tool, when), tool, { args }).action).toBe(denied ? 'deny' : 'allow');
  });

  it('denies when it cannot be evaluated, regardless of its action', async () => {
    const when = 'now.getHours("Nowhere/Here") > 3';
    for (const action of ['allow', 'ask', 'dry_run', 'deny']) {
      const policy = await compile({
        rules: [
          { id: 'r', action, when },
          { id: 'open', action: 'allow' },
        ],
      });
      const decision = ask(policy, 'create_code', { args: { name: 'a' } });
      expect(decision).toMatchObject({ action: 'deny', rule: 'r', code: 'policy_error' });
      expect(decision.reason).toMatch(/^rule 'r' could not be evaluated \(/);
    }
  });

  it('denies when an argument is not what the schema promised', async () => {
    const decision = ask(await deny('x_post_tweet', 'args.text.contains("a")'), 'x_post_tweet', { args: {} });
    expect(decision).toMatchObject({
      code: 'policy_error',
      reason: "rule 'r' could not be evaluated (No such key: text)",
    });
  });

  it('names the plain denial when another rule could not be evaluated', async () => {
    const rules: JsonObject[] = [
      { id: 'broken', action: 'ask', priority: 1, when: 'now.getHours("Nowhere/Here") > 3' },
      { id: 'no', action: 'deny', priority: 2 },
    ];
    expect(ask(await compile({ rules }), 'create_code')).toMatchObject({
      rule: 'no',
      code: 'policy_denied_user_rule',
    });
  });

  it('does not see the properties every object has', async () => {
    const rules = [
      {
        id: 'r',
        action: 'deny',
        tools: ['x_search_tweets'],
        when: 'args.query == "constructor" && !has(args.max_results)',
      },
    ];
    expect(ask(await compile({ rules }), 'x_search_tweets', { args: { query: 'constructor' } }).action).toBe(
      'deny',
    );
  });

  it('sees the name of the principal, and may use optional values and mixed lists', async () => {
    const cases = [
      ['principal.name == "agent:local"', true],
      ['args.?media_ids.hasValue()', false],
      ['[1, "a"].size() == 2', true],
      ['args.?nothing.orValue("a") == "a"', undefined],
    ] as const;
    for (const [when, denied] of cases) {
      const policy = deny('x_post_tweet', when);
      if (denied === undefined)
        await expect(policy).rejects.toThrow('no tool of this rule takes args.nothing');
      else
        expect(ask(await policy, 'x_post_tweet', { args: { text: '' } }).action).toBe(
          denied ? 'deny' : 'allow',
        );
    }
  });

  it('may read anything of a tool whose arguments are not described', async () => {
    const catalogue = [{ ...ANY, name: 'free', inputJson: { type: 'object' } }];
    const rules = [{ id: 'r', action: 'deny', tools: ['free'], when: 'args.x == "a" && args.y.z == "b"' }];
    const policy = await compile({ rules }, { catalogue });
    const call = callOf('create_code', { subject: catalogue[0], args: { x: 'a', y: { z: 'b' } } });
    expect(policy.decide(call).rule).toBe('r');
  });

  it('names an argument that was meant, and none where nothing is near', async () => {
    await expect(deny('x_post_tweet', 'args.txet == ""')).rejects.toThrow(
      "no tool of this rule takes args.txet at column 6; did you mean 'text'?",
    );
    await expect(deny('x_post_tweet', 'args.qqqqqqqqq == ""')).rejects.toThrow(
      /no tool of this rule takes args\.qqqqqqqqq at column 6$/,
    );
  });

  it('is helped where it mixes integers with decimals', async () => {
    const mixed = [
      'args.days + 1.5 > 2.0',
      'args.days == 1.5',
      'args.budget * 2 > 1.0',
      'args.budget == 2',
      'args.budget in [1, 2]',
    ];
    for (const when of mixed)
      await expect(deny('x_ads_campaign_create', when)).rejects.toThrow('write integers as 3.0');
    await expect(deny('x_ads_campaign_create', 'args.days + "1" == "2"')).rejects.toThrow(
      /int \+ string at column \d+$/,
    );
  });

  it('reads integers also where another rule of the tool has no condition', async () => {
    const rules: JsonObject[] = [
      { id: 'plain', action: 'ask', tools: ['x_ads_campaign_create'] },
      { id: 'odd', action: 'deny', tools: ['x_ads_campaign_create'], when: 'args.days % 2 == 1' },
    ];
    const args = { budget: 1, days: 7 };
    expect(ask(await compile({ rules }), 'x_ads_campaign_create', { args })).toMatchObject({
      rule: 'odd',
      code: 'policy_denied_user_rule',
    });
  });

  it('is not asked where the rule is about someone else', async () => {
    const when = 'now.getHours("Nowhere/Here") > 3';
    const rules = [{ id: 'bot', action: 'deny', principals: ['agent:bot'], when }];
    const policy = await compile({ rules });
    expect(ask(policy, 'create_code', { args: { name: 'a' } })).toMatchObject({ action: 'allow' });
    const bot = { kind: 'agent', id: 'bot' } as const;
    expect(ask(policy, 'create_code', { principal: bot })).toMatchObject({ code: 'policy_error' });
  });

  it('that fails first is the one that is named', async () => {
    const when = 'now.getHours("Nowhere/Here") > 3';
    const rules = ['a', 'b'].map((id) => ({ id, action: 'deny', when }));
    expect(ask(await compile({ rules }), 'create_code')).toMatchObject({ rule: 'a', code: 'policy_error' });
  });

  it('must come out as true or false, also where that shows only in the call', async () => {
    await expect(deny('x_post_tweet', 'args.text')).rejects.toThrow('but it is of type string');
    const two = { id: 'r', action: 'deny', tools: ['delete_code', 'x_delete_tweet'] };
    const rules = [{ ...two, when: 'has(args.id) ? args.id : true' }];
    await expect(compile({ rules })).rejects.toThrow();
  });

  it('may be open in what its tools do not agree on', async () => {
    const catalogue = [
      {
        ...ANY,
        name: 'one',
        inputJson: { type: 'object', properties: { v: { type: 'integer' } }, required: ['v'] },
      },
      {
        ...ANY,
        name: 'two',
        inputJson: { type: 'object', properties: { v: { type: 'boolean' } }, required: ['v'] },
      },
    ];
    const rules = [{ id: 'r', action: 'deny', tools: ['one', 'two'], when: 'args.v' }];
    const policy = await compile({ rules }, { catalogue });
    const decide = (v: boolean | number) =>
      policy.decide(callOf('create_code', { subject: catalogue[1], args: { v } }));
    expect(decide(true).rule).toBe('r');
    expect(decide(false).rule).toBe('default');
    expect(decide(3)).toMatchObject({ action: 'deny', code: 'policy_error' });
  });
});

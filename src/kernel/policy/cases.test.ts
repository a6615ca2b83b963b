import { describe, expect, it } from 'vitest';
import { parseCases, runCases } from './cases.ts';
import { CATALOGUE, compile } from './policy.fixture.ts';

const options = { now: new Date('2026-03-02T10:00:00Z'), toolNames: CATALOGUE.map(({ name }) => name) };

const TABLE = `
[[cases]]
name = "posts wait"
tool = "x_post_tweet"
args = { text = "hi" }
expect = "ask"
rule = "template:safe_default:writes"

[[cases]]
tool = "github.issues.create"
args = { title = "t" }
principal = "agent:bot"
now = 2026-03-02T23:30:00Z
expect = "deny"

[[cases]]
tool = "x_delete_tweet"
args = { tweet_id = "1" }
dry_run = true
expect = "dry_run"

[[cases]]
tool = "create_code"
paused = true
expect = "deny"
`;

const night = { id: 'night', action: 'deny', schedule: { start: '22:00', end: '06:00' } };

describe('a table of expected decisions', () => {
  it('passes when the policy decides as written', async () => {
    const results = runCases(await compile({ rules: [night] }), parseCases(TABLE, 'cases.toml'), options);
    expect(results.map(({ name, passed, problem }) => [name, passed, problem])).toEqual([
      ['posts wait', true, undefined],
      ['2: github.issues.create', true, undefined],
      ['3: x_delete_tweet', true, undefined],
      ['4: create_code', true, undefined],
    ]);
  });

  it('says what was decided instead, and by which rule', async () => {
    const cases = parseCases(
      JSON.stringify({
        cases: [
          { tool: 'x_post_tweet', expect: 'allow' },
          { tool: 'x_post_tweet', expect: 'ask', rule: 'mine' },
          { tool: 'x_post_tweat', expect: 'ask' },
        ],
      }),
      'cases.json',
    );
    expect(
      runCases(await compile({}), cases, options).map(({ passed, problem }) => [passed, problem]),
    ).toEqual([
      [
        false,
        "expected allow, got ask by template:safe_default:writes (tool 'x_post_tweet' requires approval)",
      ],
      [false, 'expected rule mine, but template:safe_default:writes decided'],
      [false, "unknown tool 'x_post_tweat'; did you mean 'x_post_tweet'?"],
    ]);
  });

  it("checks arguments with the tool's own schema where one is given", async () => {
    const cases = parseCases('[[cases]]\ntool = "x_post_tweet"\nexpect = "ask"', 'c.toml');
    const refuse = {
      ...options,
      validate: () => ({ ok: false as const, issues: [{ path: 'text', message: 'is missing' }] }),
    };
    expect(runCases(await compile({}), cases, refuse)[0]).toMatchObject({
      passed: false,
      problem: 'invalid arguments: text is missing',
    });
  });

  it('is refused with the place when it is written wrong', () => {
    expect(() => parseCases('[[cases]]\ntool = "a"\nexpects = "ask"', 'c.toml')).toThrow(
      /c\.toml: cases\.0\.expect: /,
    );
    expect(() => parseCases('cases = []', 'c.toml')).toThrow(/c\.toml: cases: /);
    expect(() => parseCases('', 'c.json')).toThrow('c.json: no cases found; begin each with [[cases]]');
    expect(() => parseCases('[]', 'c.json')).toThrow('c.json: no cases found');
    expect(() => parseCases('{"cases": [', 'c.json')).toThrow('c.json: invalid JSON: ');
    expect(() => parseCases('[[cases]]\ntool = ', 'c.toml')).toThrow('c.toml:2: invalid TOML: ');
  });
});

describe('a case', () => {
  const parsed = (one: object) =>
    parseCases(
      JSON.stringify({ cases: [{ tool: 'create_code', expect: 'allow', ...one }] }),
      'cases.json',
    )[0];

  it('has the time and the principal it names', () => {
    expect(parsed({ now: '2026-03-02T23:00:00+01:00' })?.now).toEqual(new Date('2026-03-02T22:00:00Z'));
    expect(parsed({ principal: 'person:ada' })?.principal).toEqual({ kind: 'person', id: 'ada' });
    expect(parsed({})?.principal).toEqual({ kind: 'agent', id: 'local' });
  });

  it('says which of them is not one', () => {
    expect(() => parsed({ now: 'noon' })).toThrow('cases.json: cases.0.now: ');
    expect(() => parsed({ principal: 'ada' })).toThrow(
      'cases.json: cases.0.principal: must be a principal such as agent:local',
    );
  });

  it.each(['', ' \n ', 'null', '[]', '3'])('is not found in %j', (text) => {
    expect(() => parseCases(text, 'cases.json')).toThrow('cases.json: no cases found');
  });

  it('of a tool that is like no other suggests none', async () => {
    const cases = parseCases(JSON.stringify({ cases: [{ tool: 'qqqqqq', expect: 'ask' }] }), 'cases.json');
    const [result] = runCases(await compile({}), cases, options);
    expect(result?.problem).toBe("unknown tool 'qqqqqq'");
  });
});

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../contract/json.ts';
import { PolicyError } from './catalogue.ts';
import { compile } from './policy.fixture.ts';

const messageOf = async (written: JsonObject): Promise<string> => {
  const error = await compile(written).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(PolicyError);
  return (error as PolicyError).message;
};

const when = (expression: string, rest: JsonObject = {}): JsonObject => ({
  rules: [{ id: 'r', action: 'deny', tools: ['x_post_tweet'], ...rest, when: expression }],
});

describe('names', () => {
  it.each<[JsonObject, string]>([
    [
      { blocked_tools: ['x_post_tweat'] },
      "mcp_policy.blocked_tools[0]: unknown tool 'x_post_tweat'; did you mean 'x_post_tweet'?",
    ],
    [
      { require_approval_for: ['create_code', 'post_tweet'] },
      "mcp_policy.require_approval_for[1]: unknown tool 'post_tweet'; did you mean 'x_post_tweet'?",
    ],
    [{ blocked_tools: ['y_*'] }, "mcp_policy.blocked_tools[0]: no tool matches the pattern 'y_*'"],
    [
      { rules: [{ id: 'r', action: 'deny', tools: ['github.issue.create'] }] },
      "mcp_policy.rules[0].tools[0]: unknown tool 'github.issue.create'; did you mean 'github.issues.create'?",
    ],
    [
      { rules: [{ id: 'r', action: 'deny', categories: ['writes'] }] },
      "mcp_policy.rules[0].categories[0]: unknown category 'writes'; did you mean 'write'?",
    ],
    [
      { rules: [{ id: 'r', action: 'deny', toolkits: ['reserch'] }] },
      "mcp_policy.rules[0].toolkits[0]: unknown toolkit 'reserch'; did you mean 'research'?",
    ],
    [
      { rules: [{ id: 'r', action: 'deny', principals: ['agnet:bot'] }] },
      "mcp_policy.rules[0].principals[0]: unknown kind of principal 'agnet'; did you mean 'agent'?",
    ],
    [
      { rules: [{ id: 'r', action: 'deny', principals: ['agent:'] }] },
      "mcp_policy.rules[0].principals[0]: 'agent:' has no name after the colon",
    ],
    [
      { limits: [{ key: 'l', dimension: 'tool', match: 'x_lik_tweet', max: 1, period_seconds: 60 }] },
      "mcp_policy.limits[0].match: unknown tool 'x_lik_tweet'; did you mean 'x_like_tweet'?",
    ],
    [
      { limits: [{ key: 'l', dimension: 'category', match: 'zebra', max: 1, period_seconds: 60 }] },
      "mcp_policy.limits[0].match: unknown category 'zebra'",
    ],
    [
      { limits: [{ key: 'l', dimension: 'global', match: 'x', max: 1, period_seconds: 60 }] },
      "mcp_policy.limits[0].match: a global limit counts everything; 'x' cannot be matched",
    ],
  ])('%j is refused', async (written, message) => {
    expect(await messageOf(written)).toBe(message);
  });

  it('accepts documented names, policy names, aliases and patterns anywhere', async () => {
    const written = {
      blocked_tools: ['github.issues.create'],
      require_approval_for: ['runs.create', 'x_ads_*'],
      rules: [
        {
          id: 'r',
          action: 'ask',
          tools: ['issues_create', 'runs.*'],
          principals: ['agent', 'system:*', '*'],
        },
      ],
      limits: [{ key: 'l', dimension: 'tool', match: 'github.issues.create', max: 1, period_seconds: 60 }],
    };
    await expect(compile(written)).resolves.toBeDefined();
  });
});

describe('contradictions', () => {
  it.each<[JsonObject, string]>([
    [
      { blocked_tools: ['x_post_tweet'], require_approval_for: ['x_post_tweet'] },
      "mcp_policy.require_approval_for[0]: tool 'x_post_tweet' is also in blocked_tools; keep it in one of them",
    ],
    [
      { blocked_tools: ['github.issues.create'], require_approval_for: ['github_*'] },
      "mcp_policy.require_approval_for[0]: tool 'github_issues_create' is also in blocked_tools; keep it in one of them",
    ],
    [
      { require_approval_for: ['approve_item'] },
      "mcp_policy.require_approval_for[0]: 'approve_item' files a proposal or is a decision; it is never routed to approval",
    ],
    [
      {
        rules: [
          { id: 'a', action: 'deny' },
          { id: 'a', action: 'ask' },
        ],
      },
      "mcp_policy.rules[1].id: rule 'a' already exists, as number 1",
    ],
    [
      { rules: [{ id: 'a', action: 'deny', tools: ['x_post_tweet'], effects: ['read'] }] },
      "mcp_policy.rules[0]: rule 'a' matches no tool: its tools, categories, toolkits and effects have none in common",
    ],
    [
      { rules: [{ id: 'a', action: 'ask', effects: ['propose', 'decide'] }] },
      "mcp_policy.rules[0]: rule 'a' has no effect: proposals and decisions never require approval or become dry runs; use deny",
    ],
    [
      {
        limits: [
          { key: 'a', dimension: 'global', max: 1, period_seconds: 1 },
          { key: 'a', dimension: 'global', max: 2, period_seconds: 1 },
        ],
      },
      "mcp_policy.limits[1].key: limit 'a' already exists, as number 1",
    ],
    [
      { limits: [{ key: 'max_mutations_per_hour', dimension: 'global', max: 1, period_seconds: 1 }] },
      "mcp_policy.limits[0].key: 'max_mutations_per_hour' is taken; choose another key",
    ],
  ])('%j is refused', async (written, message) => {
    expect(await messageOf(written)).toBe(message);
  });

  it('lists all mistakes together', async () => {
    const message = await messageOf({
      blocked_tools: ['nope'],
      rules: [
        { id: 'a', action: 'deny', tools: ['nope'], enabled: false },
        { id: 'b', action: 'deny', when: '1 +' },
      ],
      limits: [{ key: 'l', dimension: 'toolkit', match: 'nope', max: 1, period_seconds: 60 }],
    });
    expect(message.split('\n').map((line) => line.split(': ')[0])).toEqual([
      'mcp_policy.blocked_tools[0]',
      'mcp_policy.rules[0].tools[0]',
      'mcp_policy.rules[1].when',
      'mcp_policy.limits[0].match',
    ]);
  });
});

describe('conditions that cannot be right', () => {
  it.each<[string, JsonObject, string]>([
    ['args.text +', {}, 'Unexpected token: EOF at column 12'],
    ['args.text ==\n"a" &&', {}, 'Unexpected token: EOF at line 2, column 7'],
    ['args.txt == "a"', {}, "no tool of this rule takes args.txt at column 6; did you mean 'text'?"],
    ['has(args.txt)', {}, "no tool of this rule takes args.txt at column 10; did you mean 'text'?"],
    [
      'args.?txt.orValue("") == "a"',
      {},
      "no tool of this rule takes args.txt at column 7; did you mean 'text'?",
    ],
    ['args.text > 3', {}, 'no such overload: string > int at column 1'],
    ['args.text', {}, 'the condition must be true or false, but it is of type string'],
    ['arguments.text == "a"', {}, 'Unknown variable: arguments at column 1'],
    ['tool == "x_post_tweet"', {}, 'no such overload: $tool == string at column 1'],
    ['principal.label == "a"', {}, 'No such key: label at column 11'],
    [
      'args.media_ids.size() > 2',
      {},
      "args.media_ids at column 6 may be absent in a call of 'x_post_tweet'; write has(args.media_ids) && … before it",
    ],
    [
      'args.in_reply_to_id == "1"',
      { tools: ['x_post_tweet', 'x_reply_to_tweet'] },
      "args.in_reply_to_id at column 6 may be absent in a call of 'x_post_tweet'; write has(args.in_reply_to_id) && … before it",
    ],
    [
      '!has(args.media_ids) && args.media_ids.size() > 2',
      {},
      "args.media_ids at column 30 may be absent in a call of 'x_post_tweet'; write has(args.media_ids) && … before it",
    ],
    [
      'args.budget == 3',
      { tools: ['x_ads_campaign_create'] },
      'no such overload: double == int (write integers as 3.0 when mixed with decimals) at column 1',
    ],
    [
      'args.options.draft',
      { tools: ['github_issues_create'] },
      "args.options at column 6 may be absent in a call of 'github_issues_create'; write has(args.options) && … before it",
    ],
    [
      'args.text.contains("a") && args.text.matches("(?=a)")',
      {},
      'the pattern at column 46 is not a regular expression of RE2: error parsing regexp: invalid or unsupported Perl syntax: `(?=`',
    ],
    ['args.text.matches(3)', {}, "found no matching overload for 'string.matches(int)' at column 1"],
    [
      'args.text. // matches\nmatches("a")',
      {},
      'matches() at line 1, column 1 cannot be read; write .matches( without a comment inside',
    ],
    [
      'has(args.options) && args.options.drafft',
      { tools: ['github_issues_create'] },
      "no tool of this rule takes args.options.drafft at column 35; did you mean 'draft'?",
    ],
  ])('%j with %j is refused with its place', async (expression, rest, message) => {
    expect(await messageOf(when(expression, rest))).toBe(`mcp_policy.rules[0].when: ${message}`);
  });

  it.each<[string, JsonObject]>([
    ['has(args.media_ids) && args.media_ids.size() > 2', {}],
    ['!has(args.media_ids) || args.media_ids.size() > 2', {}],
    ['has(args.media_ids) ? args.media_ids.size() > 2 : false', {}],
    ['args.?media_ids.orValue([]).size() > 2', {}],
    ['args["text"].matches("(?i)buy now")', {}],
    ['("a matches b" + args.text).matches("a matches") && ["x"].exists(x, x . matches("x"))', {}],
    ['args.text.matches("(" + args.text)', {}],
    ['args.days + 1 > 8 && args.budget > 100.0', { tools: ['x_ads_campaign_create'] }],
    ['has(args.options) && args.options.draft', { tools: ['github_issues_create'] }],
    ['has(args.text) && args.text.contains("a")', { tools: ['x_post_tweet', 'x_like_tweet'] }],
    [
      'tool.category == "write" && principal.name == "agent:local" && now.getHours("Europe/Berlin") > 8',
      { toolkits: ['x'], tools: ['*'] },
    ],
  ])('%j is accepted', async (expression, rest) => {
    await expect(compile(when(expression, rest))).resolves.toBeDefined();
  });
});

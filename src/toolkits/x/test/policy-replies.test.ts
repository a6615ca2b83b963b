import { afterEach, describe, expect, it } from 'vitest';
import { connectStdio, createHome, type Home } from '../../../../test/e2e/support.ts';

/** The documented replies of the policy engine, field for field; meta is compared by its documented fields. */
describe('replies of the policy engine', () => {
  let home: Home | undefined;
  afterEach(() => home?.close());

  const replies = async (config: string, calls: readonly (readonly [string, Record<string, unknown>])[]) => {
    home = createHome(`toolkits = ["x"]\n${config}`);
    const session = await connectStdio(home);
    const answers = [];
    for (const [name, args] of calls) {
      const { structuredContent, isError } = await session.client.callTool({ name, arguments: args });
      const { meta, ...rest } = structuredContent as { meta: Record<string, unknown> };
      expect(meta).toMatchObject({
        tool_version: '1.0',
        elapsed_ms: expect.any(Number),
        approval_mode: expect.any(Boolean),
      });
      answers.push({ ...rest, isError, mode: meta.mode });
    }
    await session.close();
    return answers;
  };

  it('for a routed call', async () => {
    const [reply] = await replies('[mcp_policy]\nrequire_approval_for = ["x_post_tweet"]\n', [
      ['x_post_tweet', { text: 'Hello!' }],
    ]);
    expect(reply).toEqual({
      success: true,
      data: {
        routed_to_approval: true,
        approval_queue_id: 1,
        reason: "tool 'x_post_tweet' requires approval",
      },
      isError: false,
      mode: 'autopilot',
    });
  });

  it('for a dry run', async () => {
    const [reply] = await replies('[mcp_policy]\ndry_run_mutations = true\n', [
      ['x_post_tweet', { text: 'Hello!' }],
    ]);
    expect(reply).toEqual({
      success: true,
      data: { dry_run: true, would_execute: 'x_post_tweet', params: '{"text":"Hello!"}' },
      isError: false,
      mode: 'autopilot',
    });
  });

  it('for the hourly limit', async () => {
    const calls = [
      ['x_bookmark_tweet', { tweet_id: '1234567890' }],
      ['x_like_tweet', { tweet_id: '1234567890' }],
    ] as const;
    const [, reply] = await replies('[mcp_policy]\ntemplate = "none"\nmax_mutations_per_hour = 1\n', calls);
    expect(reply).toEqual({
      success: false,
      data: null,
      error: {
        code: 'policy_denied_rate_limited',
        message: 'Policy denied: rate limited',
        retryable: false,
        rate_limit_reset: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:00:00Z$/),
        policy_decision: 'denied',
        detail: { limit: 'max_mutations_per_hour', max: 1, period_seconds: 3600 },
      },
      isError: true,
      mode: 'autopilot',
    });
  });

  it('for a blocked tool', async () => {
    const [reply] = await replies('[mcp_policy]\nblocked_tools = ["x_like_tweet"]\n', [
      ['x_like_tweet', { tweet_id: '1' }],
    ]);
    expect(reply).toMatchObject({
      success: false,
      data: null,
      error: { code: 'policy_denied_blocked', retryable: false, policy_decision: 'denied' },
      isError: true,
    });
  });

  it('for Composer mode, which asks for every change', async () => {
    const [reply] = await replies('mode = "composer"\n', [['x_like_tweet', { tweet_id: '1234567890' }]]);
    expect(reply).toMatchObject({ success: true, data: { routed_to_approval: true }, mode: 'composer' });
  });

  it('for a window of the schedule', async () => {
    const days = '["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]';
    const rule = `[[mcp_policy.rules]]\nid = "always"\naction = "deny"\ntools = ["x_like_tweet"]\nreason = "not now"\n[mcp_policy.rules.schedule]\nstart = "00:00"\nend = "00:00"\ndays = ${days}\n`;
    const [reply] = await replies(rule, [['x_like_tweet', { tweet_id: '1234567890' }]]);
    expect(reply).toMatchObject({
      success: false,
      error: {
        code: 'policy_denied_user_rule',
        policy_decision: 'denied',
        message: expect.stringContaining('not now'),
      },
    });
  });
});

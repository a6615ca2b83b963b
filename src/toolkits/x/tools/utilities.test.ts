import { afterEach, describe, expect, it } from 'vitest';
import { codeOf, openXKit, type XKit, type XKitOptions } from '../test/support/kit.ts';

describe('the utility tools', () => {
  let kit: XKit;
  const open = async (options: XKitOptions = {}): Promise<void> => {
    kit = await openXKit(options);
  };
  afterEach(() => kit[Symbol.asyncDispose]());

  it('tell the mode in force', async () => {
    await open({ mode: 'composer' });
    expect(await kit.data('get_mode', {})).toMatchObject({ mode: 'composer', approval_mode: true });
  });

  it('name the sandbox as the provider, with what it allows', async () => {
    await open();
    expect(await kit.data('get_capabilities', {})).toMatchObject({
      tier: 'Sandbox',
      can_reply: true,
      provider: { backend: 'sandbox', mutations_available: true, unsupported_methods: [] },
      llm_configured: false,
      problems: [],
    });
  });

  it('answer even when X is not configured, and say so in the data', async () => {
    await open({ config: { x_api: { provider_backend: 'x_api' } } });
    const capabilities = await kit.data('get_capabilities', {});
    expect(capabilities).toMatchObject({ can_reply: false, provider: { backend: 'x_api' } });
    expect(await kit.data('health_check', {})).toMatchObject({
      status: 'degraded',
      server: { status: 'ok' },
      x: { status: 'degraded', error: { code: 'x_not_configured' } },
    });
    expect(codeOf((await kit.call('x_get_bookmarks', {})).outcome)).toBe('x_not_configured');
  });

  it('name the scraper as risky and unable to change anything', async () => {
    await open({ config: { x_api: { provider_backend: 'scraper' } } });
    expect(await kit.data('get_capabilities', {})).toMatchObject({
      can_reply: false,
      provider: { backend: 'scraper', mutations_available: false, risk_level: 'elevated' },
    });
    // There is no account to ask for, which is no illness.
    expect(await kit.data('health_check', {})).toMatchObject({
      status: 'ok',
      x: { status: 'not_checked', backend: 'scraper' },
    });
    const { outcome } = await kit.call('x_post_tweet', { text: 'Not through the scraper' });
    expect(codeOf(outcome)).toBe('scraper_mutation_blocked');
  });

  it('report health', async () => {
    await open();
    expect(await kit.data('health_check', {})).toMatchObject({
      status: 'ok',
      x: { backend: 'sandbox', username: 'adamarsh_dev' },
      llm: { status: 'not_configured' },
    });
  });

  it('find contradictions and gaps in the configuration', async () => {
    await open({
      config: {
        limits: { min_action_delay_seconds: 9, max_action_delay_seconds: 3, max_tweets_per_day: 1 },
        schedule: { preferred_times: ['09:00', '10:00'] },
        llm: { provider: 'anthropic' },
      },
    });
    const { valid, errors, warnings } = await kit.data('validate_config', {});
    expect(valid).toBe(false);
    const paths = (list: unknown) => new Set((list as { path: string }[]).map(({ path }) => path));
    expect(paths(errors)).toEqual(
      new Set(['limits.min_action_delay_seconds', 'schedule.preferred_times', 'llm.api_key']),
    );
    expect(paths(warnings)).toEqual(new Set(['business.product_name', 'business.product_keywords']));
  });

  it('find nothing wrong with a fresh installation', async () => {
    await open();
    expect(await kit.data('validate_config', {})).toMatchObject({ valid: true, errors: [] });
  });

  it('show how much of each limit is used', async () => {
    await open({ config: { limits: { max_tweets_per_day: 3 } }, policy: { max_mutations_per_hour: 7 } });
    await kit.data('x_post_tweet', { text: 'One of three' });
    const { rate_limits } = await kit.data('get_rate_limits', {});
    expect(rate_limits).toContainEqual(
      expect.objectContaining({ action: 'tweet', used: 1, max: 3, remaining: 2 }),
    );
    expect(await kit.data('get_policy_status', {})).toMatchObject({
      max_mutations_per_hour: 7,
      mode: 'autopilot',
      rate_limit: { used: 1, max: 7, period_seconds: 3600 },
    });
  });

  it('count calls and errors of this toolkit', async () => {
    await open();
    await kit.call('get_mode', {});
    await kit.call('x_post_tweet', { text: 'x'.repeat(300) });
    await kit.kernel.flush();
    const { metrics } = await kit.data('get_mcp_tool_metrics', { days: 1 });
    expect(metrics).toContainEqual(
      expect.objectContaining({
        tool_name: 'x_post_tweet',
        total_calls: 1,
        failure_count: 1,
        success_rate: 0,
      }),
    );
    const { errors } = await kit.data('get_mcp_error_breakdown', { since_hours: 1 });
    expect(errors).toMatchObject([{ tool_name: 'x_post_tweet', error_code: 'tweet_too_long', count: 1 }]);
  });

  it('tell a broken store as db_error', async () => {
    await open();
    await kit.call('get_stats', {});
    await kit.database.db.schema.dropTable('x_posts').execute();
    expect(codeOf((await kit.call('get_stats', {})).outcome)).toBe('db_error');
    expect(codeOf((await kit.call('get_recent_replies', {})).outcome)).toBe('db_error');
  });
});

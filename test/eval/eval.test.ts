import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, describe, expect, it } from 'vitest';
import { type App, openApp } from '../../src/app/app.ts';
import { createServed } from '../../src/app/serving.ts';
import { sharedSandbox } from '../../src/toolkits/x/emulator/start.ts';
import { serveOnHttp } from '../../src/transports/http.ts';
import { evaluate, type Scenario, type Step } from './harness.ts';

/** The documented codes, written out: what the source says of itself would prove nothing. */
const DOCUMENTED = new Set([
  'x_rate_limited',
  'x_auth_expired',
  'x_forbidden',
  'x_account_restricted',
  'x_network_error',
  'x_not_configured',
  'x_api_error',
  'scraper_mutation_blocked',
  'db_error',
  'validation_error',
  'invalid_input',
  'tweet_too_long',
  'llm_error',
  'llm_not_configured',
  'unsupported_media_type',
  'file_read_error',
  'media_upload_error',
  'thread_partial_failure',
  'policy_error',
  'policy_denied_blocked',
  'policy_denied_rate_limited',
  'policy_denied_hard_rule',
  'policy_denied_user_rule',
  'context_error',
  'recommendation_error',
  'topic_error',
  'not_found',
  'serialization_error',
]);

const OPEN = '[mcp_policy]\ntemplate = "none"\n';

describe('profiles under evaluation', () => {
  let close: (() => Promise<void>) | undefined;
  afterEach(async () => {
    await close?.();
    close = undefined;
  });

  const open = async (config: string): Promise<{ app: App; client: Client }> => {
    const home = mkdtempSync(join(tmpdir(), 'countersign-eval-'));
    writeFileSync(join(home, 'config.toml'), `toolkits = ["x"]\n${config}\n[log]\nlevel = "error"\n`);
    const app = await openApp({ env: { COUNTERSIGN_HOME: home, HOME: home } });
    const listening = await serveOnHttp(
      await createServed(app, { toolkits: ['x'], profile: 'admin', discovery: false }),
      { host: '127.0.0.1', port: 0 },
    );
    const client = new Client({ name: 'eval', version: '1.0.0' });
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${listening.port}/mcp`)),
    );
    await client.listTools();
    close = async () => {
      await client.close();
      await listening.close();
      await app.close();
      rmSync(home, { recursive: true, force: true });
    };
    return { app, client };
  };

  const passes = async (client: Client, scenario: Scenario): Promise<void> => {
    const gates = await evaluate(client, scenario, DOCUMENTED);
    expect(gates.notes, scenario.name).toEqual([]);
    expect(gates.schemaValidity).toBeGreaterThanOrEqual(0.95);
    expect(gates.unknownErrors).toBeLessThanOrEqual(0.05);
    expect(gates.conformance).toBe(1);
    expect(gates.errorCodeAccuracy).toBe(1);
  };

  it('reads: an agent looks around without changing anything', async () => {
    const { client } = await open(OPEN);
    await passes(client, {
      name: 'reads',
      steps: [
        { tool: 'get_capabilities' },
        { tool: 'health_check' },
        { tool: 'get_tweet_by_id', args: { tweet_id: '1234567890' }, data: { id: '1234567890' } },
        { tool: 'x_search_tweets', args: { query: 'uptime', max_results: 10 } },
        { tool: 'x_get_home_timeline' },
        { tool: 'x_get_user_by_username', args: { username: 'benno_ships' } },
        { tool: 'x_get_user_by_username', args: { username: 'nobody_here_at' }, code: 'not_found' },
        { tool: 'x_search_tweets', args: { query: 'uptime', max_results: 1000 }, code: 'invalid_input' },
        { tool: 'generate_tweet', args: { topic: 'uptime' }, code: 'llm_not_configured' },
      ],
    });
  });

  it('approval: an agent proposes, a person decides, the record shows both', async () => {
    const { app, client } = await open(
      '[mcp_policy]\ntemplate = "safe_default"\nblocked_tools = ["x_follow_user"]\n',
    );
    await passes(client, {
      name: 'approval',
      steps: [
        {
          tool: 'x_post_tweet',
          args: { text: 'Please approve me' },
          data: { routed_to_approval: true, approval_queue_id: 1 },
        },
        { tool: 'get_pending_count', data: { pending_count: 1 } },
        { tool: 'approve_item', args: { id: 1 }, code: 'policy_denied_hard_rule' },
        { tool: 'x_follow_user', args: { target_user_id: '2001000002' }, code: 'policy_denied_blocked' },
        {
          tool: 'get_pending_count',
          data: { pending_count: 0 },
          before: async () => {
            expect((await app.kernel.approvals.approve(1, app.person)).outcome).toMatchObject({
              status: 'ok',
            });
          },
        },
        { tool: 'x_post_tweet', args: { text: 'x'.repeat(281) }, code: 'tweet_too_long' },
      ],
    });
  });

  it('authorization: what X refuses reaches the agent with the documented code', async () => {
    const { app, client } = await open(OPEN);
    const sandbox = await sharedSandbox({ db: app.database.db as never, now: app.now });
    const fault = (kind: string) => async (): Promise<void> => {
      await sandbox.control('fault', { kind, times: 3 });
    };
    const clear = async (): Promise<void> => void (await sandbox.control('clear_faults'));
    const search: Step = { tool: 'x_search_tweets', args: { query: 'uptime' } };
    const failing = (kind: string, code: string): Step => ({
      ...search,
      code,
      before: async () => {
        await clear();
        await fault(kind)();
      },
    });
    await passes(client, {
      name: 'authorization',
      steps: [
        search,
        failing('forbidden', 'x_forbidden'),
        failing('rate_limited', 'x_rate_limited'),
        failing('suspended', 'x_account_restricted'),
        failing('unauthorized', 'x_auth_expired'),
        failing('bad_request', 'x_api_error'),
        { ...search, before: clear },
      ],
    });
  });

  it('providers: the scraper says what it cannot do, with the documented words', async () => {
    const { client } = await open(`[x_api]\nprovider_backend = "scraper"\n${OPEN}`);
    await passes(client, {
      name: 'providers',
      steps: [
        { tool: 'get_capabilities' },
        { tool: 'x_like_tweet', args: { tweet_id: '1234567890' }, code: 'scraper_mutation_blocked' },
        { tool: 'x_post_tweet', args: { text: 'Not by scraping' }, code: 'scraper_mutation_blocked' },
      ],
    });
    const { structuredContent } = await client.callTool({ name: 'get_capabilities', arguments: {} });
    expect((structuredContent as { data: { provider: object } }).data.provider).toMatchObject({
      backend: 'scraper',
      mutations_available: false,
      risk_level: 'elevated',
      data_confidence: 'medium',
      unsupported_methods: expect.arrayContaining([
        'get_user_mentions',
        'get_home_timeline',
        'get_me',
        'get_bookmarks',
      ]),
    });
  });

  it('knows every documented code by the committed manifest', () => {
    const { tools } = JSON.parse(readFileSync('docs/generated/mcp-manifest-admin.json', 'utf8')) as {
      tools: { possible_error_codes: string[] }[];
    };
    for (const { possible_error_codes } of tools)
      for (const code of possible_error_codes) expect(DOCUMENTED).toContain(code);
  });
});

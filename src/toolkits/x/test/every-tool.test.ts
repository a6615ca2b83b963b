import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { argsOf, type CallWorld, GENERATED_CALLS } from '../../../../test/support/calls/x.ts';
import { type App, openApp } from '../../../app/app.ts';
import { createServed } from '../../../app/serving.ts';
import type { JsonObject } from '../../../contract/json.ts';
import { serveOnHttp } from '../../../transports/http.ts';
import { sharedSandbox } from '../emulator/start.ts';
import { liveWorld, putMedia } from './support/call-world.ts';
import { startModel, type TestModel } from './support/model.ts';

interface Envelope {
  readonly success: boolean;
  readonly data: JsonObject;
  readonly error?: { readonly code: string; readonly message: string };
  readonly meta: JsonObject;
}

describe('all tools of toolkit x, through a real client on the sandbox', () => {
  let app: App;
  let model: TestModel;
  let clients: Record<'admin' | 'api-readonly', Client>;
  let closeAll: () => Promise<void>;
  let world: CallWorld;

  beforeAll(async () => {
    const home = mkdtempSync(join(tmpdir(), 'countersign-x-'));
    model = await startModel(() => 'A plain answer that says something of its own.');
    writeFileSync(join(home, 'config.toml'), configOf(model));
    putMedia(home);
    app = await openApp({ env: { COUNTERSIGN_HOME: home, HOME: home } });
    const opened = await Promise.all([connect(app, 'admin'), connect(app, 'api-readonly')]);
    clients = { admin: opened[0].client, 'api-readonly': opened[1].client };
    closeAll = async () => {
      for (const one of opened) await one.close();
      await app.close();
      await model.close();
      rmSync(home, { recursive: true, force: true });
    };
    const sandbox = await sharedSandbox({ db: app.database.db as never, now: app.now });
    world = await liveWorld(app, home, model, sandbox);
  });
  afterAll(() => closeAll());

  /** Calls as an agent; what waits for a person is approved and must then have happened. */
  const succeed = async (name: string, args: JsonObject): Promise<void> => {
    const client = name === 'x_get_me' ? clients['api-readonly'] : clients.admin;
    // The client checks structured content against the listed output schema and throws when it does not match.
    const { structuredContent } = await client.callTool({ name, arguments: args });
    const { success, data, error } = structuredContent as unknown as Envelope;
    expect(success, `${name}: ${error?.code} ${error?.message}`).toBe(true);
    if (data.routed_to_approval !== true) return;
    const { outcome } = await app.kernel.approvals.approve(Number(data.approval_queue_id), app.person);
    expect(outcome, name).toMatchObject({ status: 'ok' });
  };

  it('are listed by profile: 139 for admin and the one more of api-readonly', async () => {
    const names = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);
    const all = new Set([...(await names(clients.admin)), ...(await names(clients['api-readonly']))]);
    expect(all.size).toBe(140);
  });

  it('succeed with an answer that fits their output schema', async () => {
    const generated: readonly string[] = GENERATED_CALLS.map(([name]) => name);
    const { tools } = await clients.admin.listTools();
    const decisions = new Set(['approve_item', 'approve_all', 'reject_item']);
    for (const name of generated) await succeed(name, await argsOf(world, name));
    for (const { name } of [...tools, { name: 'x_get_me' }]) {
      if (generated.includes(name) || decisions.has(name)) continue;
      await succeed(name, await argsOf(world, name));
    }
  }, 240_000);

  it('leave the decision tools to the person at the client', async () => {
    for (const name of ['approve_item', 'reject_item', 'approve_all']) {
      const id = await world.pending();
      const { structuredContent } = await clients.admin.callTool({
        name,
        arguments: name === 'approve_all' ? {} : { id },
      });
      expect(structuredContent, name).toMatchObject({ success: true });
    }
  });

  it('say of every reply that it came from the sandbox: failures, and calls inside a call, too', async () => {
    const draft = { tweet_id: '1890000000037000111', text: 'Nobody answered this one yet' };
    const calls: [string, JsonObject, boolean][] = [
      ['x_search_tweets', { query: 'uptime' }, true],
      ['get_capabilities', {}, true],
      ['health_check', {}, true],
      ['get_tweet_by_id', { tweet_id: '99' }, false],
      ['x_like_tweet', { tweet_id: '99' }, false],
      ['propose_and_queue_replies', { drafts: [draft] }, true],
      ['approve_item', { id: await world.pending() }, true],
    ];
    for (const [name, args, success] of calls) {
      const { structuredContent } = await clients.admin.callTool({ name, arguments: args });
      expect(structuredContent, name).toMatchObject({
        success,
        meta: { provider_backend: 'sandbox', sandbox: true },
      });
    }
  });
});

const configOf = (model: TestModel): string =>
  [
    'toolkits = ["x"]',
    '[mcp_policy]\ntemplate = "none"\nmax_mutations_per_hour = 100000',
    '[business]\nproduct_name = "Tidepool"\nproduct_keywords = ["uptime", "status"]\nindustry_topics = ["monitoring"]',
    '[targets]\naccounts = ["benno_ships"]',
    `[llm]\n${Object.entries(model.settings)
      .map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
      .join('\n')}`,
    '[limits]\nmax_replies_per_day = 1000\nmax_tweets_per_day = 1000\nmax_threads_per_week = 1000\nmax_replies_per_author_per_day = 1000\nmin_action_delay_seconds = 0\nmax_action_delay_seconds = 0',
    '[log]\nlevel = "error"',
  ].join('\n');

async function connect(app: App, profile: 'admin' | 'api-readonly') {
  const served = await createServed(app, { toolkits: ['x'], profile, discovery: false });
  const listening = await serveOnHttp(served, { host: '127.0.0.1', port: 0 });
  const client = new Client(
    { name: 'e2e', version: '1.0.0' },
    { capabilities: { elicitation: { form: {} } } },
  );
  client.setRequestHandler('elicitation/create', async () => ({
    action: 'accept',
    content: { confirm: true },
  }));
  await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${listening.port}/mcp`)));
  await client.listTools();
  return {
    client,
    async close() {
      await client.close();
      await listening.close();
    },
  };
}

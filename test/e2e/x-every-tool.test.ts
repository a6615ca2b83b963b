import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type App, openApp } from '../../src/app.ts';
import type { JsonObject } from '../../src/contract/json.ts';
import { createServed } from '../../src/serving.ts';
import { serveOnHttp } from '../../src/transports/http.ts';
import { type CallWorld, curatedCalls } from '../support/x-curated-calls.ts';
import { fillIds, GENERATED_CALLS, NAMED_POSTS } from '../support/x-generated-calls.ts';
import { startModel, type TestModel } from '../support/x-model.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

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
  const known: Record<string, string> = {};

  beforeAll(async () => {
    const home = mkdtempSync(join(tmpdir(), 'countersign-x-'));
    model = await startModel(() => 'A plain answer that says something of its own.');
    writeFileSync(join(home, 'config.toml'), configOf(model));
    mkdirSync(join(home, 'media'));
    writeFileSync(join(home, 'media', 'dot.png'), PNG);
    app = await openApp({ env: { COUNTERSIGN_HOME: home, HOME: home } });
    const opened = await Promise.all([connect(app, 'admin'), connect(app, 'api-readonly')]);
    clients = { admin: opened[0].client, 'api-readonly': opened[1].client };
    closeAll = async () => {
      for (const one of opened) await one.close();
      await app.close();
      await model.close();
      rmSync(home, { recursive: true, force: true });
    };
    world = await prepareWorld(app, home, model);
    const sandbox = await app.hostFor((await app.inventory.load('x')).toolkit).sandbox?.('x');
    const look = await sandbox?.control('look', { collection: 'posts' });
    const items = (look?.items ?? []) as { id: string; text: string }[];
    for (const [name, start] of Object.entries(NAMED_POSTS))
      known[name] = items.find(({ text }) => text.startsWith(start))?.id ?? '';
  });
  afterAll(() => closeAll());

  /** Calls as an agent; what waits for a person is approved and must then have happened. */
  const succeed = async (name: string, args: JsonObject): Promise<void> => {
    const client = name === 'x_get_me' ? clients['api-readonly'] : clients.admin;
    // The client checks structured content against the listed output schema and throws when it does not fit.
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
    const curated = curatedCalls(world);
    const generated = new Map(GENERATED_CALLS.map(([name, args]) => [name as string, args]));
    const { tools } = await clients.admin.listTools();
    const decisions = new Set(['approve_item', 'approve_all', 'reject_item']);
    for (const name of [...generated.keys()]) await succeed(name, fillIds(generated.get(name) ?? {}, known));
    for (const { name } of [...tools, { name: 'x_get_me' }]) {
      if (generated.has(name) || decisions.has(name)) continue;
      // Only a reply to one's own post can be hidden.
      const hide = { endpoint: `/2/tweets/${known.$spam}/hidden`, body: '{"hidden":true}' };
      await succeed(name, name === 'x_put' ? hide : ((await curated[name]?.()) ?? {}));
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

  it('say of every reply that it came from the sandbox', async () => {
    const { structuredContent } = await clients.admin.callTool({
      name: 'x_search_tweets',
      arguments: { query: 'uptime' },
    });
    expect(structuredContent).toMatchObject({ meta: { provider_backend: 'sandbox' } });
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

async function prepareWorld(app: App, dataDir: string, model: TestModel): Promise<CallWorld> {
  const invoke = async (tool: string, args: JsonObject) => {
    const bound = await app.inventory.resolve(tool);
    if (!bound) throw new Error(`No tool ${tool}`);
    return app.kernel.invoke({ bound, args, principal: app.person, transport: 'test' });
  };
  const data = async (tool: string, args: JsonObject): Promise<JsonObject> => {
    const { outcome } = await invoke(tool, args);
    if (outcome.status !== 'ok') throw new Error(`${tool}: ${JSON.stringify(outcome)}`);
    return outcome.data as JsonObject;
  };
  const [first] = (await data('x_search_tweets', { query: 'monitoring' })).tweets as {
    id: string;
    author_id: string;
  }[];
  if (!first) throw new Error('The sandbox has no post to work with.');
  const own = await data('x_post_tweet', { text: 'A post to work with' });
  return {
    post: first.id,
    user: first.author_id,
    own: String(own.id),
    dataDir,
    data,
    callId: async (tool, args) => (await invoke(tool, args)).callId,
    pending: async () =>
      (
        await app.kernel.approvals.propose({
          tool: 'x_like_tweet',
          args: { tweet_id: first.id },
          requester: { kind: 'agent', id: 'other' },
          reason: 'asked',
        })
      ).id,
    answerOnce: (text) => model.answerOnce(text),
  };
}

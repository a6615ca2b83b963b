import { join } from 'node:path';
import SqliteFile from 'libsql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectStdio, createHome, type Home, type Server, startUp } from './support.ts';

describe('an agent and its own call', () => {
  let home: Home;
  let server: Server;

  beforeAll(async () => {
    home = createHome('toolkits = ["x", "dev"]\n');
    server = await startUp(home);
  });
  afterAll(async () => {
    await server.stop();
    home.close();
  });

  const pending = () =>
    JSON.parse(home.cli('approvals', 'list', '--json')) as { id: number; uuid: string; state: string }[];
  const route = async () => {
    const session = await server.connect('http');
    await session.client.callTool({ name: 'x_post_tweet', arguments: { text: `Wait ${Math.random()}` } });
    await session.close();
    const newest = pending()
      .sort((a, b) => a.id - b.id)
      .at(-1);
    if (!newest) throw new Error('Nothing was routed.');
    return newest;
  };

  it('cannot be approved by MCP tool, by REST, by discovery or under another client name', async () => {
    const { id } = await route();
    const refused = { success: false, error: { code: 'policy_denied_hard_rule', policy_decision: 'denied' } };
    const http = await server.connect('http');
    for (const [name, args] of [
      ['approve_item', { id }],
      ['approve_all', {}],
      ['reject_item', { id }],
    ] as const) {
      expect((await http.client.callTool({ name, arguments: args })).structuredContent, name).toMatchObject(
        refused,
      );
    }
    await http.close();
    const rest = await fetch(`${server.url}/tools/approve_item`, {
      method: 'POST',
      body: JSON.stringify({ arguments: { id } }),
      headers: { 'content-type': 'application/json', 'user-agent': 'somebody-else' },
    });
    expect(await rest.json()).toMatchObject(refused);
    const discovery = await connectStdio(home, ['--discovery']);
    const inner = await discovery.client.callTool({
      name: 'call_tool',
      arguments: { name: 'approve_item', arguments: { id } },
    });
    expect(inner.structuredContent).toMatchObject(refused);
    const nested = await discovery.client.callTool({
      name: 'call_tool',
      arguments: { name: 'call_tool', arguments: { name: 'approve_item', arguments: { id } } },
    });
    expect(nested.isError).toBe(true);
    await discovery.close();
    expect(pending().find((one) => one.id === id)?.state).toBe('pending');
  });

  it('cannot be approved with an agent token on the person’s own routes', async () => {
    const { id } = await route();
    const token = /cs_\S+/.exec(home.cli('agents', 'add', 'sly'))?.[0] ?? '';
    const attempts: Record<string, string>[] = [
      { authorization: `Bearer ${token}` },
      { cookie: `countersign_session=${token}` },
      {},
    ];
    for (const headers of attempts) {
      const response = await fetch(`${server.url}/api/inbox/${id}/approve`, { method: 'POST', headers });
      expect(response.status).toBe(401);
    }
    expect(pending().find((one) => one.id === id)?.state).toBe('pending');
  });

  it('can be approved by its human through the client’s own dialog, once, on both protocol generations', async () => {
    for (const mode of ['legacy', 'auto'] as const) {
      const { id } = await route();
      const questions: string[] = [];
      const session = await server.connect('http', {
        capabilities: { elicitation: { form: {} } },
        versionNegotiation: { mode },
      });
      session.client.setRequestHandler('elicitation/create', async ({ params }) => {
        questions.push(params.message);
        return { action: 'accept', content: { confirm: true } };
      });
      const { structuredContent } = await session.client.callTool({
        name: 'approve_item',
        arguments: { id },
      });
      expect(structuredContent, mode).toMatchObject({ success: true });
      expect(questions[0]).toContain('Wait');
      await session.close();
      expect(JSON.parse(home.cli('approvals', 'show', String(id), '--json'))).toMatchObject({
        state: 'done',
      });
    }
  });

  it('is not covered by a yes that was given before it was queued', async () => {
    const first = await route();
    const questions: string[] = [];
    let sneaked: { id: number } | undefined;
    const session = await server.connect('http', { capabilities: { elicitation: { form: {} } } });
    session.client.setRequestHandler('elicitation/create', async ({ params }) => {
      questions.push(params.message);
      // While the person reads, the agent queues another call; asked again, the person says no.
      sneaked ??= await route();
      return { action: 'accept', content: { confirm: questions.length === 1 } };
    });
    const { isError } = await session.client.callTool({ name: 'approve_all', arguments: {} });
    await session.close();
    expect(isError).toBe(true);
    expect(questions).toHaveLength(2);
    expect(questions[0]).not.toContain(`#${sneaked?.id} `);
    expect(questions[1]).toContain(`#${sneaked?.id} `);
    const states = new Map(pending().map(({ id, state }) => [id, state]));
    expect([states.get(first.id), states.get(sneaked?.id ?? 0)]).toEqual(['pending', 'pending']);
  });

  it('stays as it is when the human says no or closes the dialog', async () => {
    const { id } = await route();
    for (const answer of [
      { action: 'decline' as const },
      { action: 'cancel' as const },
      { action: 'accept' as const, content: { confirm: false } },
    ]) {
      const session = await server.connect('http', { capabilities: { elicitation: { form: {} } } });
      session.client.setRequestHandler('elicitation/create', async () => answer);
      const { isError } = await session.client.callTool({ name: 'approve_item', arguments: { id } });
      expect(isError).toBe(true);
      await session.close();
    }
    expect(pending().find((one) => one.id === id)?.state).toBe('pending');
  });

  it('is approved from the command line and the agent sees the result', async () => {
    const { id, uuid } = await route();
    expect(home.cli('approvals', 'approve', String(id))).toContain('done');
    const session = await server.connect('http');
    const { structuredContent } = await session.client.callTool({
      name: 'approval_get',
      arguments: { approval_id: uuid },
    });
    expect(structuredContent).toMatchObject({ state: 'done', outcome: { status: 'ok' } });
    await session.close();
    expect(home.failing('approvals', 'approve', String(id))).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('already done'),
    });
    expect(home.cli('audit', 'verify')).toContain('No problems found.');
  });

  it('is shown to its own agent only when it waits, and reading that leaves evidence', async () => {
    const { id } = await route();
    const { token } = JSON.parse(home.cli('agents', 'add', 'reader', '--json')) as { token: string };
    const uri = 'countersign://approvals/pending';
    const read = async (options = {}) => {
      const session = await server.connect('http', options);
      const { contents } = await session.client.readResource({ uri });
      await session.close();
      return JSON.parse((contents[0] as { text: string }).text) as { id: number }[];
    };
    expect((await read()).map((one) => one.id)).toContain(id);
    expect(await read({ token })).toEqual([]);
    const store = new SqliteFile(join(home.dir, 'countersign.db'), { readonly: true });
    const rows = store
      .prepare("select body from audit_log where body like '%/pending%' order by seq")
      .all([]) as { body: string }[];
    store.close();
    expect(rows.map(({ body }) => JSON.parse(body))).toMatchObject([
      { kind: 'read', principal: 'agent:local', transport: 'http', extra: { resource: uri } },
      { kind: 'read', principal: 'agent:reader', transport: 'http', extra: { resource: uri } },
    ]);
    expect(JSON.parse(home.cli('audit', 'verify', '--json'))).toMatchObject({ ok: true });
  });
});

describe('an agent whose token is revoked', () => {
  it('is refused immediately, also in the stdio session it has open', async () => {
    const home = createHome('toolkits = ["x"]\n');
    const { token } = JSON.parse(home.cli('agents', 'add', 'robin', '--json')) as { token: string };
    const session = await connectStdio(home, [], { token });
    const call = () => session.client.callTool({ name: 'get_mode', arguments: {} });
    expect((await call()).isError).not.toBe(true);
    home.cli('agents', 'revoke', 'robin');
    await expect(call()).rejects.toThrow(/invalid or revoked/);
    await expect(session.client.listTools()).rejects.toThrow(/invalid or revoked/);
    await session.close();
    home.close();
  });
});

describe('where dialogs are disabled', () => {
  it('an agent that claims to have a person at hand is refused all the same', async () => {
    const home = createHome('toolkits = ["x"]\n[approvals]\ndialogs = false\n');
    const session = await connectStdio(home, [], { capabilities: { elicitation: { form: {} } } });
    let asked = 0;
    session.client.setRequestHandler('elicitation/create', async () => {
      asked += 1;
      return { action: 'accept', content: { confirm: true } };
    });
    await session.client.callTool({ name: 'x_post_tweet', arguments: { text: 'Wait for a person' } });
    const { structuredContent } = await session.client.callTool({ name: 'approve_all', arguments: {} });
    await session.close();
    home.close();
    expect(structuredContent).toMatchObject({ success: false, error: { code: 'policy_denied_hard_rule' } });
    expect(asked).toBe(0);
  });
});

describe('an agent with a standing approval', () => {
  let home: Home;
  beforeAll(() => {
    home = createHome('toolkits = ["x"]\n');
  });
  afterAll(() => home.close());

  it('is asked for every text with a link that a service would make of it to another host', async () => {
    const add = ['approvals', 'standing', 'add', '--agent', 'local', '--tool', 'x_post_tweet', '--yes'];
    home.cli(...add, '--where', 'text:links_only:acme.dev', '--uses', '100');
    const { client, close } = await connectStdio(home);
    const isAsked = async (text: string): Promise<boolean> => {
      const { structuredContent } = await client.callTool({ name: 'x_post_tweet', arguments: { text } });
      return JSON.stringify(structuredContent).includes('approval_queue_id');
    };
    const texts = [
      '[a](https://acme.dev/)[login](https://evil.com/2)',
      'https://acme.dev/"https://evil.com',
      '<https://acme.dev/|x><https://evil.com|y>',
      'https://acme.dev:443@evil.com',
      'https://acme.dev/\u200bhttps://evil。com',
      'https:\\\\evil.com',
    ];
    for (const text of texts) expect(await isAsked(text), text).toBe(true);
    expect(await isAsked('New today (https://acme.dev/report.pdf), more at acme.dev.')).toBe(false);
    await close();
  });
});

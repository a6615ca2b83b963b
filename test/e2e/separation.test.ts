import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import SqliteFile from 'libsql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startXWire } from '../../src/toolkits/x/test/support/wire.ts';
import { cliCommand, connectStdio, createHome, type Home, type Server, startUp } from './support.ts';

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
      // Everything that names the decider says how it was decided: a file of a project may have answered.
      const decider = expect.stringMatching(/^person:.+ \(dialog of e2e\/1\.0\.0\)$/);
      const { decidedBy, callId, state } = JSON.parse(home.cli('approvals', 'show', String(id), '--json'));
      expect([state, decidedBy]).toEqual(['done', decider]);
      expect(home.cli('approvals', 'show', String(id))).toMatch(/Decided by .*\(dialog of e2e\/1\.0\.0\)/);
      expect(home.cli('audit', 'story', callId)).toContain('(dialog of e2e/1.0.0) approved');
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

describe('a dialog about a live call', () => {
  /** Posts as an agent and answers every dialog with yes, as a hook in a project's settings does. */
  const approveByHook = async (dialogs: string) => {
    const wire = await startXWire();
    const home = createHome(`toolkits = ["x"]\n${wire.settings}\n${dialogs}`);
    writeFileSync(join(home.dir, 'x-tokens.json'), wire.tokens, { mode: 0o600 });
    const server = await startUp(home);
    const session = await server.connect('stdio', { capabilities: { elicitation: { form: {}, url: {} } } });
    let asked = 0;
    session.client.setRequestHandler('elicitation/create', async () => {
      asked += 1;
      return { action: 'accept', content: { confirm: true } };
    });
    const call = async (name: string, args = {}) =>
      (await session.client.callTool({ name, arguments: args })).structuredContent as {
        success: boolean;
        error?: { code: string; message: string };
      };
    try {
      await call('x_post_tweet', { text: 'From a project with a hook' });
      wire.sent.length = 0;
      const replies = [];
      for (const [name, args] of [
        ['approve_item', { id: 1 }],
        ['approve_all', {}],
        ['reject_item', { id: 1 }],
      ] as const)
        replies.push(await call(name, args));
      const [item] = JSON.parse(home.cli('approvals', 'list', '--state', 'all', '--json'));
      const posts = wire.sent.filter(({ method }) => method === 'POST').length;
      return { replies, asked, item, posts, url: server.url.replace('127.0.0.1', 'localhost') };
    } finally {
      await session.close();
      await server.stop();
      home.close();
      await wire.close();
    }
  };

  it('decides nothing: the refusal names the inbox, and the approval is still pending', async () => {
    const { replies, asked, item, posts, url } = await approveByHook('');
    expect(replies).toMatchObject(
      replies.map(() => ({
        success: false,
        error: {
          code: 'policy_denied_hard_rule',
          message: expect.stringContaining(
            `It stays pending. A person decides in the inbox at ${url}/inbox/1`,
          ),
        },
      })),
    );
    expect({ asked, posts, state: item.state }).toEqual({ asked: 0, posts: 0, state: 'pending' });
  });

  it('decides it where the owner set dialogs to "all"', async () => {
    const { replies, item, posts } = await approveByHook('[approvals]\ndialogs = "all"\n');
    expect(replies[0]).toMatchObject({ success: true });
    expect({ posts, state: item.state }).toEqual({ posts: 1, state: 'done' });
    expect(item.decidedBy).toContain('(dialog of ');
  });
});

describe('where dialogs are disabled', () => {
  it('an agent that claims to have a person at hand is refused all the same', async () => {
    const home = createHome('toolkits = ["x"]\n[approvals]\ndialogs = "off"\n');
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
    expect(JSON.stringify(structuredContent)).toContain('the Countersign inbox (a person starts it with');
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

describe('a command that decides', () => {
  let home: Home;
  beforeAll(async () => {
    home = createHome('toolkits = ["x"]\n');
    const session = await connectStdio(home, []);
    for (const text of ['One', 'Two', 'Three'])
      await session.client.callTool({ name: 'x_post_tweet', arguments: { text } });
    await session.close();
  });
  afterAll(() => home.close());

  const run = (args: readonly string[], env: Record<string, string>) => {
    const started = cliCommand(home, args, env);
    const { status, stdout, stderr } = spawnSync(started.command, started.args, {
      env: started.env,
      encoding: 'utf8',
    });
    return { status, text: `${stdout}${stderr}` };
  };
  const states = () =>
    (JSON.parse(home.cli('approvals', 'list', '--state', 'all', '--json')) as { id: number; state: string }[])
      .sort((a, b) => a.id - b.id)
      .map(({ state }) => state);
  const DECIDING: readonly (readonly string[])[] = [
    ['approvals', 'approve', '1'],
    ['approvals', 'approve', '--all'],
    ['approvals', 'reject', '1'],
    ['approvals', 'reject', '--all'],
    ['approvals', 'edit', '1', '--args', '{"text":"Another"}'],
    ['approvals', 'permit', 'x_post_tweet', '--args', '{"text":"Four"}'],
    ['approvals', 'standing', 'add', '--from', '1', '--yes'],
    ['approvals', 'settle', '00000000-0000-7000-8000-000000000000', '--happened'],
    ['review'],
    ['resume'],
    ['agents', 'resume', 'local'],
    ['servers', 'trust', 's', '--yes'],
    ['servers', 'add', 's', '--yes', '--', 'true'],
    ['servers', 'import', '--yes'],
    ['call', 'approve_item', '--args', '{"id":1}'],
    ['call', 'approve_all'],
    ['x', 'post', 'Five', '--approve'],
  ];

  it.each([
    ['CLAUDECODE', '1'],
    ['AI_AGENT', 'claude-code_2-1-326_agent'],
    ['CODEX_SANDBOX', 'seatbelt'],
    ['GEMINI_CLI', '1'],
    ['OPENCODE', '1'],
    ['CURSOR_AGENT', '1'],
  ])('is refused in the shell of an agent (%s), even where no terminal is needed', (name, value) => {
    const { status, text } = run(['approvals', 'approve', '1'], { [name]: value });
    expect({ status, text }).toMatchObject({ status: 1, text: expect.stringContaining(name) });
    expect(text).toContain('A person decides in the Countersign inbox');
    expect(states()).toEqual(['pending', 'pending', 'pending']);
  });

  it('is refused in every form in the shell of an agent, and so is a link that signs in', () => {
    home.cli('pause');
    const before = home.cli('approvals', 'list', '--state', 'pending', '--json');
    for (const args of [...DECIDING, ['open', '--no-browser']]) {
      const { status, text } = run(args, { CLAUDECODE: '1' });
      expect({ status, text }, args.join(' ')).toMatchObject({
        status: 1,
        text: expect.stringContaining('CLAUDECODE says that an AI agent runs it'),
      });
    }
    expect(JSON.parse(home.cli('status', '--json'))).toMatchObject({ paused: true });
    const after = JSON.parse(home.cli('approvals', 'list', '--state', 'pending', '--json')) as object[];
    // What --approve would have approved is pending like any other call.
    expect(after.filter((one) => !JSON.stringify(one).includes('Five'))).toEqual(JSON.parse(before));
    home.cli('resume');
    home.cli('approvals', 'reject', '4');
  });

  it('needs a terminal on both sides, unless the owner set without_terminal', () => {
    const needs = { COUNTERSIGN_APPROVALS__WITHOUT_TERMINAL: 'false' };
    for (const args of [
      ['approvals', 'approve', '1'],
      ['resume'],
      ['call', 'approve_item', '--args', '{"id":1}'],
    ])
      expect(run(args, needs), args.join(' ')).toMatchObject({
        status: 1,
        text: expect.stringContaining('needs a terminal on standard input and output'),
      });
    expect(states()[0]).toBe('pending');
    // What only looks, or only tightens, needs neither.
    for (const args of [['approvals', 'list'], ['pause'], ['approvals', 'withdraw', '3']])
      expect(run(args, { ...needs, CLAUDECODE: '1' }).status, args.join(' ')).toBe(0);
    home.cli('resume');
    const { command, args, env } = cliCommand(home, ['approvals', 'approve', '1'], needs);
    const line = [command, ...args].map((part) => `'${part}'`).join(' ');
    const atTerminal = spawnSync('script', ['-qefc', line, '/dev/null'], {
      env,
      encoding: 'utf8',
      input: '',
    });
    expect(atTerminal.stdout).toContain('1: done.');
    expect(run(['approvals', 'approve', '2'], {}).text).toContain('2: done.');
    expect(states().slice(0, 2)).toEqual(['done', 'done']);
  });
});

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectStdio, createHome, type Home, type Server, startUp } from './support.ts';

interface Row {
  readonly id: number;
  readonly state: string;
  readonly kind: string;
  readonly tool: string;
  readonly requester: string;
}

// Every route that approves, with signatures required and no key at hand: each is refused, and nothing is lost.
describe('without a passkey', () => {
  let home: Home;
  let server: Server;
  let id: number;
  let decidedBefore: readonly number[] = [];
  let api: (path: string, body: object) => Promise<{ status: number; body: Record<string, unknown> }>;

  const approvals = (): Row[] => JSON.parse(home.cli('approvals', 'list', '--state', 'all', '--json'));
  const newest = (): number => Math.max(...approvals().map((one) => one.id));
  const code = 'signature_required';
  const isOpen = ({ state }: Row): boolean => ['pending', 'rejected'].includes(state);

  const MAX_PENDING = 20;
  const CONFIG = `toolkits = ["x", "research"]
[mcp_policy]
require_approval_for = ["x_post_tweet", "x_like_tweet"]
[approvals]
max_pending_per_agent = ${MAX_PENDING}
passkey = `;
  /** Approved while that took no signature, to be undone when it does. */
  let posted: number;

  beforeAll(async () => {
    home = createHome(`${CONFIG}"off"\n`);
    home.cli('research', 'create', join(home.dir, 'study.qdp'), '--approve');
    const before = await connectStdio(home);
    await before.client.callTool({ name: 'x_post_tweet', arguments: { text: 'Before passkeys' } });
    await before.close();
    posted = approvals().find(({ state }) => state === 'pending')?.id ?? 0;
    home.cli('approvals', 'approve', String(posted));
    decidedBefore = approvals().map((one) => one.id);
    writeFileSync(join(home.dir, 'config.toml'), `${CONFIG}"always"\n`);
    server = await startUp(home);
    const session = await server.connect('http');
    await session.client.callTool({ name: 'x_post_tweet', arguments: { text: 'Wait for a signature' } });
    await session.close();
    id = approvals().find(({ state }) => state === 'pending')?.id ?? 0;
    const { url } = JSON.parse(home.cli('open', '--no-browser', '--json')) as { url: string };
    const link = new URL(url);
    const signedIn = await fetch(`${server.url}${link.pathname}${link.search}`, { redirect: 'manual' });
    const [cookie = ''] = signedIn.headers.getSetCookie();
    const base = server.url + (/Path=([^;]+)/i.exec(cookie)?.[1] ?? '');
    const headers = { cookie: cookie.split(';')[0] ?? '', 'content-type': 'application/json' };
    const { csrf } = (await (await fetch(`${base}/session`, { headers })).json()) as { csrf: string };
    api = async (path, body) => {
      const sent = {
        method: 'POST',
        headers: { ...headers, 'x-csrf-token': csrf },
        body: JSON.stringify(body),
      };
      const answer = await fetch(base + path, sent);
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
    };
  });
  afterAll(async () => {
    const decided = approvals().filter((one) => !decidedBefore.includes(one.id) && !isOpen(one));
    await server.stop();
    home.close();
    expect(decided).toEqual([]);
  });

  it('the command line approves nothing, and prints the link', () => {
    for (const args of [[String(id)], ['--all']]) {
      const { status, stdout, stderr } = home.failing('approvals', 'approve', ...args);
      expect(status).toBe(1);
      expect(stdout + stderr).toMatch(
        new RegExp(`needs your passkey. Sign: http://localhost:\\d+/inbox/${id}`),
      );
    }
    const permit = ['approvals', 'permit', 'x_post_tweet', '--args', '{"text":"later"}', '--for', 'local'];
    expect(home.failing(...permit)).toMatchObject({ status: 1, stderr: expect.stringContaining('/inbox/') });
  });

  it('the inbox, its batch and a button that approves in one step are refused', async () => {
    expect(await api(`/inbox/${id}/approve`, {})).toMatchObject({ status: 428, body: { code } });
    expect(await api('/inbox/approve', { ids: [id] })).toMatchObject({ body: { results: [{ id, code }] } });
    const call = { arguments: { text: 'At once' }, approve: true };
    expect(await api('/tools/x_post_tweet', call)).toMatchObject({ status: 428, body: { code } });
    expect(await api('/tools/approve_item', { arguments: { id } })).toMatchObject({
      body: { code },
    });
  });

  it('agents’ approve tools, by MCP and REST, are refused with the link', async () => {
    const session = await server.connect('http');
    for (const [name, args] of [
      ['approve_item', { id }],
      ['approve_all', {}],
    ] as const) {
      const { structuredContent } = await session.client.callTool({ name, arguments: args });
      expect(structuredContent, name).toMatchObject({
        success: false,
        error: { code, message: expect.stringContaining(`/inbox/${id}`) },
      });
    }
    await session.close();
    const rest = await fetch(`${server.url}/tools/approve_item`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ arguments: { id } }),
    });
    expect(await rest.json()).toMatchObject({ error: { code } });
  });

  it('no dialog asks yes or no; a client that opens links gets the address', async () => {
    const asked: { mode?: string; url?: string }[] = [];
    for (const elicitation of [{ form: {} }, { form: {}, url: {} }] as Record<
      string,
      Record<string, never>
    >[]) {
      const session = await server.connect('http', { capabilities: { elicitation } });
      session.client.setRequestHandler('elicitation/create', async ({ params }) => {
        asked.push(params as { mode?: string; url?: string });
        return { action: 'accept', content: { confirm: true } };
      });
      const { structuredContent } = await session.client.callTool({
        name: 'approve_item',
        arguments: { id },
      });
      expect(structuredContent).toMatchObject({ success: false, error: { code } });
      await session.close();
    }
    expect(asked).toMatchObject([{ mode: 'url', url: expect.stringContaining(`/inbox/${id}`) }]);
  });

  it('undo makes its call pending and approves nothing', async () => {
    expect(approvals().find((one) => one.id === posted)?.state).toBe('done');
    expect(await api(`/inbox/${posted}/undo`, {})).toMatchObject({ status: 428, body: { code } });
  });

  it('options that approve immediately, and review, are refused with the link', () => {
    const post = home.failing('x', 'post', 'From the terminal', '--approve');
    expect(post).toMatchObject({ status: 1, stderr: expect.stringContaining('/inbox/') });
    expect(home.failing('review')).toMatchObject({ status: 2, stderr: expect.stringContaining('terminal') });
    const json = home.failing('--json', 'approvals', 'approve', String(id));
    expect(json.status).toBe(1);
    expect(JSON.parse(json.stdout || json.stderr)).toMatchObject({ error: { code } });
  });

  it('a research suggestion is approved by signature only', async () => {
    const session = await server.connect('http');
    const wanted = { name: 'Trust', rationale: 'Several people speak of it' };
    await session.client.callTool({ name: 'suggest_new_code', arguments: wanted });
    await session.close();
    const { body } = await api('/tools/approve_suggestion', {
      arguments: { suggestion_id: String(newest()) },
    });
    expect(body).toMatchObject({ code });
  });

  it('scheduling leaves the permit of the post pending until it is signed', async () => {
    const at = new Date(Date.now() + 3_600_000).toISOString();
    home.failing('x', 'schedule', 'add', 'Later today', '--at', at, '--approve');
    const permits = approvals().filter(({ kind, tool }) => kind === 'permit' && tool === 'x_post_tweet');
    expect(permits.length).toBeGreaterThan(0);
    expect(permits.every(({ state }) => state === 'pending')).toBe(true);
  });

  it('nothing is remembered: a standing approval is refused', async () => {
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const predicates = [{ arg: 'tweet_id', op: 'any' }];
    const draft = { agent: 'agent:local', tool: 'x_like_tweet', predicates, until, uses: 3 };
    expect(await api('/standing', { draft })).toMatchObject({
      body: { code: 'not_allowed', error: expect.stringContaining('signed each time') },
    });
    expect(await api('/standing', { draft, approve: { id, version: 1 } })).toMatchObject({
      body: { code: 'not_allowed' },
    });
    const add = ['approvals', 'standing', 'add', '--from', String(id), '--yes'];
    expect(home.failing(...add)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('signed each time'),
    });
  });

  it('a signature by a key that is not enrolled is signature_invalid', async () => {
    const made = { authenticatorData: 'AAAA', clientData: 'AAAA', signature: 'AAAA' };
    expect(await api('/inbox/sign/finish', { nonce: 'n', credential: 'AAAA', ...made })).toMatchObject({
      body: { code: 'signature_invalid' },
    });
    expect(await api('/inbox/sign', { items: [{ id, version: 1 }] })).toMatchObject({ status: 428 });
  });

  it('an MCP client learns that its agent is paused, or has asked for too much', async () => {
    const session = await server.connect('http');
    const post = async (text: string) => {
      const { structuredContent } = await session.client.callTool({
        name: 'x_post_tweet',
        arguments: { text },
      });
      return (structuredContent as { error?: { code: string } }).error?.code;
    };
    home.cli('agents', 'pause', 'local');
    await expect.poll(() => post('Paused'), { timeout: 30_000 }).toBe('agent_paused');
    home.cli('agents', 'resume', 'local');
    await expect.poll(() => post('Resumed'), { timeout: 30_000 }).not.toBe('agent_paused');
    let last: string | undefined;
    for (let at = 0; at <= MAX_PENDING && last !== 'quota_exceeded'; at += 1) last = await post(`Post ${at}`);
    expect(last).toBe('quota_exceeded');
    await session.close();
  });

  it('rejecting needs no signature, one by one or together', async () => {
    expect(await api(`/inbox/${newest()}/reject`, {})).toMatchObject({ body: { state: 'rejected' } });
    const filter = { state: 'pending', tool: 'x_post_tweet', agent: 'agent:local' };
    const matching = approvals().filter(
      ({ state, tool, requester }) =>
        state === 'pending' && tool === filter.tool && requester === filter.agent,
    );
    expect(matching.length).toBeGreaterThan(1);
    expect(await api('/inbox/reject-matching', { filter, total: matching.length })).toMatchObject({
      body: { rejected: matching.length },
    });
  });

  it('a server does not start where another process holds the port on ::1', async () => {
    const other = createServer();
    await new Promise<void>((ready) => other.listen({ host: '::1', port: 0 }, ready));
    const address = other.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const { status, stderr } = home.failing('up', '--port', String(port));
    await new Promise((closed) => other.close(closed));
    expect(status).toBe(1);
    expect(stderr).toContain(String(port));
  });
});

// A new route that approves belongs into the list above, so this one fails until it is there.
it('every place that approves is known', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
    (name) => /\.tsx?$/.test(name) && !/\.test\.ts$|[\\/]test[\\/]/.test(name),
  );
  const approving = files.filter((name) =>
    /\bapprovals\s*\.approve\(/.test(readFileSync(join('src', name), 'utf8')),
  );
  expect(approving.sort()).toEqual([
    'cli/act.ts',
    'cli/commands/review.ts',
    'cli/signature.ts',
    'toolkits/research/suggestions/decide.ts',
    'toolkits/x/content/compose.ts',
    'toolkits/x/tools/approvals.ts',
    'web/api/approve.ts',
    'web/api/holds.ts',
    'web/api/pages.ts',
    'web/api/standing.ts',
    'web/api/undo.ts',
  ]);
});

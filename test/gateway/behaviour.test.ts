import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { readServerLog } from '../../src/gateway/server-log.ts';
import { isAlive, openScripted, reader, type ScriptedPlace, tool } from './scripted.ts';
import { serve } from './support.ts';

let place: ScriptedPlace;
afterEach(() => place.close());

const open = async (
  answers: Record<string, Record<string, unknown>>,
  settings = '',
  env = {},
): Promise<void> => {
  const tools = [reader('look'), tool('act'), tool('mirror', { inputSchema: { type: 'object' } })];
  place = await openScripted({ tools, answers }, settings, env);
  await place.trust('s');
};

describe('a change', () => {
  it('is indeterminate when the server dies during it, and is not sent again', async () => {
    await open({ act: { exit: 1 } });
    const { outcome } = await place.call('s__act', {});
    expect(outcome).toMatchObject({ status: 'indeterminate', fault: { code: 'indeterminate' } });
    expect(place.calls()).toHaveLength(1);
    const [call] = await place.app.kernel.telemetry.calls({ tool: 's__act' });
    expect(await place.app.kernel.settle(call?.callId ?? '', true, place.app.person)).toBe(true);
  });

  it('is indeterminate when the server does not answer in time', async () => {
    await open({ act: { hang: true } }, 'timeout_seconds = 0.3\n');
    expect((await place.call('s__act', {})).outcome).toMatchObject({ status: 'indeterminate' });
    expect((await place.call('s__look', {})).outcome).toMatchObject({ status: 'ok' });
    expect(place.calls().map(({ name }) => name)).toEqual(['act', 'look']);
  });

  it('is failed when the server answers with an error, and stays so under the same key', async () => {
    await open({ act: { error: { code: -32603, message: 'out of paper' } } });
    const { outcome } = await place.call('s__act', {}, { idempotencyKey: 'k' });
    expect(outcome).toMatchObject({
      status: 'failed',
      fault: { code: 'server_error', detail: { rpc_code: -32603 } },
      data: { isError: true, content: [{ text: 'out of paper' }] },
    });
  });

  it('is sent once for two calls with one idempotency key', async () => {
    await open({});
    const both = [
      place.call('s__act', {}, { idempotencyKey: 'k' }),
      place.call('s__act', {}, { idempotencyKey: 'k' }),
    ];
    const outcomes = (await Promise.all(both)).map(({ outcome }) => outcome);
    expect(outcomes.map(({ status }) => status)).toEqual(['ok', 'ok']);
    expect(place.calls()).toHaveLength(1);
  });

  it('with an answer that is no result is indeterminate', async () => {
    await open({ act: { raw: '{"jsonrpc":"2.0","id":ID,"result":"yes"}' } });
    expect((await place.call('s__act', {})).outcome).toMatchObject({ status: 'indeterminate' });
  });
});

describe('a read', () => {
  it('is sent once more when the server died under it', async () => {
    await open({ look: { exit: 1 } });
    const { outcome } = await place.call('s__look', {});
    expect(outcome).toMatchObject({ status: 'failed', fault: { code: 'server_unavailable' } });
    expect(place.calls()).toHaveLength(2);
  });
});

describe('results', () => {
  it('reach the client with every field, known to the SDK or not', async () => {
    const result = {
      content: [
        { type: 'text', text: 'a', annotations: { priority: 1 }, _meta: { own: 1 } },
        { type: 'resource_link', uri: 'file:///a', name: 'a' },
        { type: 'hologram', data: 'x' },
      ],
      structuredContent: [1, 2],
      _meta: { 'example.org/key': { deep: true }, 'countersign/evidence_hash': 'forged' },
      novel: { field: 1 },
    };
    await open({ look: { result } });
    const gateway = await serve(place.app, ['s']);
    const reply = await fetch(gateway.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 's__look', arguments: {} },
      }),
    });
    const { result: got } = (await reply.json()) as { result: typeof result };
    await gateway.close();
    expect(got).toMatchObject({ content: result.content, structuredContent: [1, 2], novel: { field: 1 } });
    expect(got._meta).toMatchObject({ 'example.org/key': { deep: true } });
    expect(got._meta['countersign/evidence_hash']).not.toBe('forged');
  });

  it('with _meta: null are passed on without it', async () => {
    await open({ look: { raw: '{"jsonrpc":"2.0","id":ID,"result":{"content":[],"_meta":null}}' } });
    expect((await place.call('s__look', {})).outcome).toMatchObject({ status: 'ok', data: { content: [] } });
  });

  it('come after the progress that the server sent before them', async () => {
    const progress = [1, 2, 3].map((done) => ({ progress: done, total: 3, message: `step ${done}` }));
    await open({ look: { progress, result: { content: [] } } });
    const seen: unknown[] = [];
    await place.call('s__look', {}, { onProgress: (one) => seen.push(one) });
    expect(seen).toEqual(progress.map(({ progress: done, total, message }) => ({ done, total, message })));
  });

  it('that are too long are cut, and their whole can be read page by page by their caller', async () => {
    const text = 'Long '.repeat(40_000);
    await open({ look: { result: { content: [{ type: 'text', text }] } } }, 'max_result_kb = 4\n');
    const { outcome } = await place.call('s__look', {});
    if (outcome.status !== 'ok') throw new Error(outcome.status);
    expect(JSON.stringify(outcome.data).length).toBeLessThan(6_000);
    const artifact = (outcome.data as { _meta: Record<string, string> })._meta['countersign/artifact'] ?? '';
    let whole = '';
    for (let offset: number | null = 0; offset !== null; ) {
      const page = (await place.call('gateway_result_read', { artifact, offset })).outcome;
      if (page.status !== 'ok') throw new Error(page.status);
      const data = page.data as { text: string; next_offset: number | null };
      whole += data.text;
      offset = data.next_offset;
    }
    expect(JSON.parse(whole).content[0].text).toBe(text);
    const stranger = { principal: { kind: 'agent' as const, id: 'other' } };
    expect((await place.call('gateway_result_read', { artifact }, stranger)).outcome).toMatchObject({
      fault: { code: 'not_found' },
    });
  });

  it('are cut where what is long is not text, and errors too', async () => {
    const long = 'x'.repeat(200_000);
    const result = { content: [{ type: 'text', text: 'short' }], _meta: { long }, other: long };
    const error = { code: -32_000, message: long, data: { long } };
    await open({ look: { result }, act: { error } }, 'max_result_kb = 4\n');
    const { outcome } = await place.call('s__look', {});
    expect(outcome).toMatchObject({ status: 'ok', data: { content: [{ text: 'short' }, {}] } });
    expect(JSON.stringify(outcome).length).toBeLessThan(6_000);
    const failed = await place.call('s__act', {});
    expect(failed.outcome.status).toBe('failed');
    expect(JSON.stringify(failed.outcome).length).toBeLessThan(300_000);
  });

  it('are masked where a pattern of the configuration matches, errors too', async () => {
    const result = { content: [{ type: 'text', text: 'card 4111-1111-1111-1111 ok' }] };
    const error = { code: -32_000, message: 'no card 4111-1111-1111-1111' };
    await open({ look: { result }, act: { error } }, "mask = ['\\d{4}(-\\d{4}){3}']\n");
    expect((await place.call('s__look', {})).outcome).toMatchObject({
      data: { content: [{ text: 'card [masked] ok' }] },
    });
    expect((await place.call('s__act', {})).outcome).toMatchObject({
      data: { content: [{ text: 'no card [masked]' }] },
    });
    const broken =
      "[servers.s]\ncommand = 'x'\nmask = ['a', '(?=b)']\n[servers.s.reconcile.act]\ntool = 'look'\n";
    await expect(place.reopen(`${broken}done_if = "^\${args.a}+("\n`)).rejects.toThrow(
      /config\.toml:3: servers\.s\.mask\[1\]: is not a regular expression of RE2: .*`\(\?=`[\s\S]*servers\.s\.reconcile\.act\.done_if: is not .*missing closing \)/,
    );
    await place.reopen();
  });

  it('are masked, and conditions evaluated, without holding up other calls', async () => {
    // Patterns and texts on which an engine that backtracks takes longer than any call.
    const words = `${'a'.repeat(200_000)}!`;
    const content = [
      { type: 'text', text: words },
      { type: 'text', text: `${'a.'.repeat(60_000)} ada@acme.dev ${'a@'.repeat(60_000)}` },
    ];
    const rule = `[[mcp_policy.rules]]
id = "words"
tools = ["s__mirror"]
when = 'has(args.text) && !args.text.matches("^(\\\\w+\\\\s?)+$")'
action = "deny"
`;
    const email = String.raw`[\w.]+@[\w.]+\.[a-z]+`;
    const masks = String.raw`['^(\w+\s?)+$', '(\S+\s?)+ bob', '${email}']`;
    const settings = `mask = ${masks}\n${rule}`;
    await open({ look: { result: { content } }, act: { result: { content: [] } } }, settings);
    const [masked, denied, other] = await Promise.all([
      place.call('s__look', {}),
      place.call('s__mirror', { text: `${'a'.repeat(100_000)}!` }),
      place.call('s__act', {}),
    ]);
    expect(masked.outcome).toMatchObject({ status: 'ok' });
    const shown = JSON.stringify(masked.outcome);
    expect(shown.includes('[masked]') && !shown.includes('acme.dev')).toBe(true);
    expect(denied.outcome).toMatchObject({ status: 'refused' });
    expect(other.outcome).toMatchObject({ status: 'ok' });
    expect((await place.call('s__mirror', { text: 'only words' })).outcome.status).toBe('ok');
  });
});

describe('arguments', () => {
  it('reach the server as the caller wrote them, dry_run included', async () => {
    await open({});
    const args = { dry_run: false, Ünïcode: [1, 2.5, null], nested: { a: { b: [] } } };
    const meta = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
    await place.call('s__mirror', args, { meta });
    expect(place.calls()).toMatchObject([{ name: 'mirror', arguments: args, _meta: meta }]);
  });

  it('are evaluated by conditions over their types and over the server', async () => {
    const rule = `
[[mcp_policy.rules]]
id = "long"
tools = ["s__act"]
when = 'tool.server == "s" && has(args.text) && args.text.size() > 3'
action = "deny"
`;
    await open({});
    await place.reopen(`${readFileSync(join(place.dir, 'config.toml'), 'utf8')}${rule}`);
    expect((await place.call('s__act', { text: 'long text' })).outcome).toMatchObject({
      status: 'refused',
      rule: 'long',
    });
    expect((await place.call('s__act', { text: 'abc' })).outcome).toMatchObject({ status: 'ok' });
    expect(place.calls()).toHaveLength(1);
  });
});

describe('secrets', () => {
  it('reach the server and nothing else', async () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference as it is written in the file
    const settings = '[servers.s.env]\nAPI_TOKEN = "${env:PLANTED}"\n';
    await open({ look: { env: 'API_TOKEN', stderr: 'token is s3cr3t-planted-value' } }, settings, {
      PLANTED: 's3cr3t-planted-value',
    });
    const { outcome } = await place.call('s__look', {});
    expect(outcome).toMatchObject({ status: 'ok', data: { content: [{ text: '[secret]' }] } });
    await expect.poll(() => readServerLog(place.dir, 's', 50).join('\n')).toContain('token is [secret]');
    await place.app.kernel.flush();
    const { db } = place.app.database;
    const stored = await Promise.all([
      db.selectFrom('audit_log').select('body').execute(),
      db.selectFrom('audit_payloads').selectAll().execute(),
      db.selectFrom('calls').selectAll().execute(),
    ]);
    expect(JSON.stringify(stored)).not.toContain('s3cr3t');
    expect(JSON.stringify(place.app.config.masked())).not.toContain('s3cr3t');
  });

  it('are hidden in every form, in progress, errors, definitions and what is cut from the log', async () => {
    const secret = 'pl"nted\\s3cr3t/val+ue';
    const forms = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)];
    const encoded = ['', 'a', 'ab', 'ada:'].flatMap((before) =>
      (['base64', 'base64url', 'hex'] as const).map((encoding) =>
        Buffer.from(`${before}${secret} and more`).toString(encoding),
      ),
    );
    const said = [...forms, ...encoded].join(' ');
    const key = `-----BEGIN KEY-----\n${'s3cr3tLine'.repeat(5)}\n-----END KEY-----`;
    // biome-ignore lint/suspicious/noTemplateCurlyInString: references as they are written in the file
    const settings = '[servers.s.env]\nAPI_TOKEN = "${env:PLANTED}"\nKEY = "${env:KEY}"\n';
    const answers = {
      look: {
        progress: [{ progress: 1, message: said }],
        result: { content: [{ type: 'text', text: said }] },
        stderr: `${'x'.repeat(16 * 1024 - 9)}${secret}\n${key}`,
      },
      act: { error: { code: -32_000, message: said, data: { said } } },
    };
    const tools = [reader('look', { description: `Uses ${secret}.` }), tool('act')];
    place = await openScripted({ tools, answers }, settings, { PLANTED: secret, KEY: key });
    await place.trust('s');
    const seen: unknown[] = [];
    const ends = [
      await place.call('s__look', {}, { onProgress: (one) => seen.push(one) }),
      await place.call('s__act', {}),
    ];
    expect(ends.map(({ outcome }) => outcome.status)).toEqual(['ok', 'failed']);
    await expect.poll(() => readServerLog(place.dir, 's', 50).join('\n')).toContain('END KEY');
    await place.app.kernel.flush();
    const { db } = place.app.database;
    const stored = await Promise.all([
      db.selectFrom('audit_payloads').selectAll().execute(),
      db
        .selectFrom('gateway_definitions' as never)
        .selectAll()
        .execute(),
    ]);
    const shown = JSON.stringify([seen, ends, stored, readServerLog(place.dir, 's', 50)]);
    expect(shown).toContain('[secret]');
    for (const part of ['s3cr3t', 'pl\\"nt', 'cGwi', ...encoded.map((text) => text.slice(8, 24))])
      expect(shown).not.toContain(part);
  });

  it('that are not set keep the server from starting and say so', async () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference as it is written in the file
    place = await openScripted({ tools: [] }, '[servers.s.env]\nKEY = "${secret:NONE}"\n');
    const upstream = await place.app.gateway?.upstream('s');
    await expect(upstream?.ready()).rejects.toThrow(
      'servers.s.env.KEY refers to secret:NONE, which is not set; run `countersign secrets set NONE`.',
    );
    expect(place.pids()).toEqual([]);
  });
});

describe('processes', () => {
  it('end with the application, grandchildren and those that ignore SIGTERM included', async () => {
    place = await openScripted({ tools: [reader('look')], grandchild: true, stubborn: true });
    await place.trust('s');
    const pids = place.pids();
    expect(pids).toHaveLength(2);
    expect(pids.every(isAlive)).toBe(true);
    await place.reopen();
    expect(pids.filter(isAlive)).toEqual([]);
  });

  it('are restarted before the next call when a person asks, and no agent can', async () => {
    await open({});
    await place.call('s__look', {});
    expect((await place.call('server_restart', { server: 's' })).outcome).toMatchObject({
      fault: { code: 'not_allowed' },
    });
    const [first] = place.pids();
    const asked = await place.call('server_restart', { server: 's' }, { principal: place.app.person });
    expect(asked.outcome).toMatchObject({ status: 'ok' });
    const next = async () => {
      await place.call('s__look', {});
      return place.pids().length;
    };
    await expect.poll(next, { timeout: 20_000, interval: 300 }).toBe(2);
    expect(isAlive(first ?? 0)).toBe(false);
  });

  it('are stopped when idle and started again by the next call', async () => {
    await open({}, 'idle_seconds = 0.2\n');
    await place.call('s__look', {});
    await expect.poll(() => place.pids().filter(isAlive), { timeout: 20_000 }).toEqual([]);
    expect((await place.call('s__look', {})).outcome.status).toBe('ok');
    expect(place.pids()).toHaveLength(2);
  });

  it('that fail immediately are started with growing pauses, and the refusal says when', async () => {
    await open({});
    await place.reopen();
    place.script({ tools: [reader('look')], dieAtStart: true });
    const outcomes = [];
    for (let n = 0; n < 6; n += 1) outcomes.push((await place.call('s__look', {})).outcome);
    expect(outcomes.every((one) => 'fault' in one && one.fault.code === 'server_unavailable')).toBe(true);
    expect(JSON.stringify(outcomes.at(-1))).toContain('failed');
    expect(place.pids().length).toBeLessThan(12);
  });

  it('that flood their stderr keep neither the call nor the log from ending', async () => {
    await open({ look: { flood: 20_000, result: { content: [] } } });
    expect((await place.call('s__look', {})).outcome.status).toBe('ok');
    expect(readServerLog(place.dir, 's', 1_000_000).join('\n').length).toBeLessThan(2_000_000);
  });
});

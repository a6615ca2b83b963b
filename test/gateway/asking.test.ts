import { resolve } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { afterEach, describe, expect, it } from 'vitest';
import { EVERYTHING, openPlace, type Place, SAMPLING_RULE, serve, stdioServer } from './support.ts';

const PLAIN = resolve('test/gateway/modern-server.mjs');
const ASK = 'may_ask = ["elicitation", "sampling", "roots"]\n';
const CLIENTS = [
  ['modern', { versionNegotiation: { mode: { pin: '2026-07-28' } } } as const],
  ['legacy', {}],
] as const;

let place: Place | undefined;
afterEach(async () => {
  await place?.close();
  place = undefined;
});

const answering = (client: Client, names: string[]): void => {
  client.setRequestHandler('elicitation/create', () => {
    const name = names.shift();
    return name === undefined ? { action: 'decline' } : { action: 'accept', content: { name } };
  });
};

describe.each(CLIENTS)('a %s client', (_era, options) => {
  const capabilities = { elicitation: { form: {} }, sampling: {}, roots: {} };

  it('answers two questions of a modern server in one admitted call', async () => {
    place = await openPlace(`${stdioServer('p', PLAIN, 'modern')}${ASK}`);
    await place.trust('p');
    const gateway = await serve(place.app, ['p']);
    const client = await gateway.connect({ ...options, capabilities });
    answering(client, ['Ada', 'Grace']);
    const result = await client.callTool({ name: 'p__greet_two', arguments: {} });
    expect(result.content).toEqual([{ type: 'text', text: 'first=Ada second=Grace' }]);
    const calls = await place.app.kernel.telemetry.calls({ tool: 'p__greet_two' });
    expect(calls.map(({ status }) => status)).toEqual(['ok']);
    await client.close();
    await gateway.close();
  });

  it('answers what a legacy server pushes: elicitation, sampling and roots', async () => {
    place = await openPlace(`${stdioServer('e', EVERYTHING)}${ASK}${SAMPLING_RULE}`);
    const upstream = await place.app.gateway?.upstream('e');
    await upstream?.ready();
    // It adds these tools after its first listing, once it knows what its client can do.
    await expect.poll(() => upstream?.live.has('trigger-sampling-request'), { timeout: 60_000 }).toBe(true);
    await place.trust('e');
    const gateway = await serve(place.app, ['e']);
    const client = await gateway.connect({ ...options, capabilities });
    client.setRequestHandler('elicitation/create', () => ({
      action: 'accept',
      content: { name: 'Ada', check: true },
    }));
    // The server asks for the roots whenever it likes, so they may come up in any call.
    client.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///work', name: 'work' }] }));
    client.setRequestHandler('sampling/createMessage', () => ({
      role: 'assistant',
      model: 'test-model',
      content: { type: 'text', text: 'a sampled sentence' },
    }));
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(['e__trigger-elicitation-request', 'e__trigger-sampling-request']),
    );
    const asked = await client.callTool({ name: 'e__trigger-elicitation-request', arguments: {} });
    expect(JSON.stringify(asked.content)).toContain('Ada');
    const sampled = await client.callTool({
      name: 'e__trigger-sampling-request',
      arguments: { prompt: 'Say something', maxTokens: 10 },
    });
    expect(JSON.stringify(sampled.content)).toContain('a sampled sentence');
    await client.close();
    await gateway.close();
  });

  it('is asked nothing that it did not declare', async () => {
    place = await openPlace(`${stdioServer('p', PLAIN, 'modern')}${ASK}`);
    await place.trust('p');
    const gateway = await serve(place.app, ['p']);
    const client = await gateway.connect(options);
    // The server's own protocol error: it learns that no client can be asked.
    await expect(client.callTool({ name: 'p__greet_two', arguments: {} })).rejects.toThrow(/capabilit/i);
    await client.close();
    await gateway.close();
  });

  it('is asked nothing where the configuration does not allow it', async () => {
    place = await openPlace(stdioServer('p', PLAIN, 'modern'));
    await place.trust('p');
    const gateway = await serve(place.app, ['p']);
    const client = await gateway.connect({ ...options, capabilities });
    answering(client, ['Ada', 'Grace']);
    // The server's own protocol error: it learns that no client can be asked.
    await expect(client.callTool({ name: 'p__greet_two', arguments: {} })).rejects.toThrow(/capabilit/i);
    await client.close();
    await gateway.close();
  });
});

it('gives an answer only to the call and the principal that were asked', async () => {
  place = await openPlace(`${stdioServer('p', PLAIN, 'modern')}${ASK}`);
  await place.trust('p');
  const gateway = await serve(place.app, ['p']);
  const send = async (params: object) => {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
      'io.modelcontextprotocol/clientInfo': { name: 't', version: '1' },
    };
    const reply = await fetch(gateway.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'p__greet_two',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'p__greet_two', arguments: {}, _meta: meta, ...params },
      }),
    });
    const text = await reply.text();
    return JSON.parse(text.replace(/^[\s\S]*?data: /, '')) as {
      result?: Record<string, string>;
      error?: { code: number };
    };
  };
  const first = await send({});
  expect(first.result).toMatchObject({ resultType: 'input_required' });
  const requestState = first.result?.requestState ?? '';
  const inputResponses = { first: { action: 'accept', content: { name: 'Ada' } } };
  expect((await send({ requestState: `${requestState}x`, inputResponses })).error?.code).toBe(-32602);
  expect((await send({ requestState, inputResponses, arguments: { other: 1 } })).error).toBeDefined();
  expect((await send({ requestState, inputResponses })).result).toMatchObject({
    resultType: 'input_required',
  });
  // Used once: the same answer again belongs to no question.
  expect((await send({ requestState, inputResponses })).error?.code).toBe(-32602);
  await gateway.close();
});

describe('sampling', () => {
  const capabilities = { elicitation: { form: {} }, sampling: {}, roots: {} };
  const rule = (more: string) =>
    `\n[[mcp_policy.rules]]\nid = "completions"\ntools = ["e.asks.sampling"]\n${more}\naction = "allow"\n`;

  async function sample(rules: string, maxTokens = 10): Promise<{ text: string; asked: number }> {
    place = await openPlace(`${stdioServer('e', EVERYTHING)}${ASK}${rules}`);
    const upstream = await place.app.gateway?.upstream('e');
    await upstream?.ready();
    await expect.poll(() => upstream?.live.has('trigger-sampling-request'), { timeout: 60_000 }).toBe(true);
    await place.trust('e');
    const gateway = await serve(place.app, ['e']);
    const client = await gateway.connect({ capabilities });
    let asked = 0;
    client.setRequestHandler('roots/list', () => ({ roots: [] }));
    client.setRequestHandler('sampling/createMessage', () => {
      asked += 1;
      return { role: 'assistant', model: 'm', content: { type: 'text', text: 'a sampled sentence' } };
    });
    const result = await client
      .callTool({ name: 'e__trigger-sampling-request', arguments: { prompt: 'Say it', maxTokens } })
      .then(JSON.stringify, String);
    await client.close();
    await gateway.close();
    return { text: result, asked };
  }

  const questions = () => place?.app.kernel.telemetry.calls({ tool: 'e.asks.sampling' });

  it('is refused without a rule, also where another rule allows every tool of the server', async () => {
    const broad =
      '\n[[mcp_policy.rules]]\nid = "all"\ntoolkits = ["e"]\neffects = ["read", "change"]\naction = "allow"\n';
    expect((await sample(broad)).asked).toBe(0);
    const [call] = (await questions()) ?? [];
    expect(call).toMatchObject({ status: 'refused', rule: 'default:sampling' });
    const detail = await place?.app.kernel.telemetry.call(call?.callId ?? '');
    expect(JSON.stringify(detail?.args)).toContain('Say it');
  });

  it('is allowed by a rule over its arguments, and question and answer are evidence of the call', async () => {
    const allowed = await sample(rule("when = 'has(args.maxTokens) && args.maxTokens <= 100.0'"));
    expect(allowed.text).toContain('a sampled sentence');
    const [call] = (await questions()) ?? [];
    expect(call).toMatchObject({ status: 'ok', rule: 'completions', principal: 'agent:local' });
    const detail = await place?.app.kernel.telemetry.call(call?.callId ?? '');
    expect(JSON.stringify(detail?.args)).toContain('Say it');
    expect(JSON.stringify(detail?.result)).toContain('a sampled sentence');
    const [whole] = (await place?.app.kernel.telemetry.calls({ tool: 'e__trigger-sampling-request' })) ?? [];
    const row = await place?.app.database.db
      .selectFrom('calls')
      .select('parent_id')
      .where('call_id', '=', call?.callId ?? '')
      .executeTakeFirst();
    expect(row?.parent_id).toBe(whole?.callId);
  });

  it('is refused where the condition is false, and where a rule would make it wait for a person', async () => {
    expect((await sample(rule("when = 'has(args.maxTokens) && args.maxTokens <= 100.0'"), 500)).asked).toBe(
      0,
    );
    await place?.close();
    expect((await sample(rule('').replace('"allow"', '"ask"'))).asked).toBe(0);
    expect(await place?.app.kernel.approvals.list({ states: ['pending'] })).toEqual([]);
  });
});

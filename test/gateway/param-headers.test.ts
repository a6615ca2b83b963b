import { afterEach, expect, it } from 'vitest';
import { openScripted, reader, type ScriptedPlace } from './scripted.ts';
import { serve } from './support.ts';

let place: ScriptedPlace;
let gateway: Awaited<ReturnType<typeof serve>>;
afterEach(async () => {
  await gateway.close();
  await place.close();
});

const MODERN = { versionNegotiation: { mode: { pin: '2026-07-28' } } } as const;
const inputSchema = {
  type: 'object',
  properties: { region: { type: 'string', 'x-mcp-header': 'Region' }, text: { type: 'string' } },
};

async function open(): Promise<void> {
  place = await openScripted({ tools: [reader('look', { inputSchema })] });
  await place.trust('s');
  gateway = await serve(place.app, ['s']);
}

async function post(
  args: object,
  headers: Record<string, string>,
): Promise<{ status: number; code?: number }> {
  const response = await fetch(gateway.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 's__look',
      ...headers,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 7,
      method: 'tools/call',
      params: {
        name: 's__look',
        arguments: args,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': {},
          'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
        },
      },
    }),
  });
  const body = (await response.text()).replace(/^[\s\S]*?(?=\{)/, '');
  return { status: response.status, code: JSON.parse(body).error?.code };
}

it.each<[string, object, Record<string, string>]>([
  ['is missing', { region: 'eu' }, {}],
  ['differs from its argument', { region: 'eu' }, { 'mcp-param-region': 'us' }],
  ['repeats an argument that is not there', { text: 'x' }, { 'mcp-param-region': 'eu' }],
])('refuses a call whose header %s, and sends nothing', async (_title, args, headers) => {
  await open();
  expect(await post(args, headers)).toEqual({ status: 400, code: -32_020 });
  expect(place.calls()).toEqual([]);
});

it.each<[string, object, Record<string, string>]>([
  ['as it is', { region: 'eu' }, { 'mcp-param-region': 'eu' }],
  ['encoded', { region: 'Zürich' }, { 'mcp-param-region': '=?base64?WsO8cmljaA==?=' }],
  ['not at all, like its argument', {}, {}],
])('serves a call whose header repeats its argument %s', async (_title, args, headers) => {
  await open();
  expect(await post(args, headers)).toEqual({ status: 200, code: undefined });
  expect(place.calls().map(({ arguments: sent }) => sent)).toEqual([args]);
});

it('serves clients of the SDK, which send the headers themselves', async () => {
  await open();
  const client = await gateway.connect(MODERN);
  await client.listTools();
  const { content } = await client.callTool({ name: 's__look', arguments: { region: 'eu' } });
  expect(content).toEqual([{ type: 'text', text: 'done' }]);
  await client.close();
});

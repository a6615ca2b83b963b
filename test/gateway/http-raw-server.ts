import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const MODERN = '2026-07-28';

/** What the server does with one `tools/call` that it received. */
export interface RawCall {
  readonly id: number;
  readonly name: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

export interface RawServer {
  readonly url: string;
  /** Names of the tools that were called, in order. */
  readonly called: string[];
  /** Event IDs that clients wanted to continue after. */
  readonly resumed: string[];
  close(): Promise<void>;
}

const result = (id: number | string, body: object) => JSON.stringify({ jsonrpc: '2.0', id, result: body });

/** An event stream with one answer in it. */
export const answer = (id: number | string, text = 'done', event = ''): string =>
  `${event}data: ${result(id, { resultType: 'complete', content: [{ type: 'text', text }] })}\n\n`;

/** Begins the answer of a call and never gives it. */
export function begin({ response }: Pick<RawCall, 'response'>, first = ': here\n\n'): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(first);
}

/** A server without any SDK on HTTP, which can end its answers where none would. */
export async function openRawServer(
  era: 'legacy' | 'modern',
  tools: readonly object[],
  onCall: (call: RawCall, count: number) => void,
  onResume?: (after: string, response: ServerResponse) => void,
): Promise<RawServer> {
  const called: string[] = [];
  const resumed: string[] = [];
  const capabilities = { tools: {} };
  const info = { name: 'raw', version: '1.0.0' };
  const http = createServer(async (request, response) => {
    const after = request.headers['last-event-id'];
    if (request.method !== 'POST') {
      if (typeof after !== 'string' || !onResume) return response.writeHead(405).end();
      resumed.push(after);
      return onResume(after, response);
    }
    let text = '';
    for await (const chunk of request) text += chunk;
    const { id, method, params } = JSON.parse(text);
    if (id === undefined) return response.writeHead(202).end();
    const reply = (body: object) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(result(id, { resultType: 'complete', ...body }));
    };
    const refuse = () => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_601, message: 'unknown' } }));
    };
    if (method === 'server/discover')
      return era === 'modern'
        ? reply({
            supportedVersions: [MODERN],
            capabilities,
            serverInfo: info,
            ttlMs: 0,
            cacheScope: 'private',
          })
        : refuse();
    if (method === 'initialize')
      return reply({ protocolVersion: params.protocolVersion, capabilities, serverInfo: info });
    if (method === 'tools/list') return reply({ tools, ttlMs: 0, cacheScope: 'private' });
    if (method !== 'tools/call') return refuse();
    called.push(params.name);
    onCall({ id, name: params.name, request, response }, called.length);
  });
  return { called, resumed, ...(await listen(http, '/mcp')) };
}

/** The same on the older transport: one stream for all answers, which ends with the first call. */
export async function openEventServer(tools: readonly object[]): Promise<RawServer> {
  const called: string[] = [];
  let stream: ServerResponse | undefined;
  const http = createServer(async (request, response) => {
    if (request.method === 'GET') {
      stream = response;
      return begin({ response }, 'event: endpoint\ndata: /messages\n\n');
    }
    let text = '';
    for await (const chunk of request) text += chunk;
    const { id, method, params } = JSON.parse(text);
    response.writeHead(202).end();
    const say = (body: object) => stream?.write(`data: ${result(id, body)}\n\n`);
    if (method === 'initialize')
      say({
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'events', version: '1.0.0' },
      });
    else if (method === 'tools/list') say({ tools });
    else if (method === 'tools/call' && called.push(params.name) === 1) stream?.destroy();
    else if (method === 'tools/call') stream?.write(answer(id));
    else if (id !== undefined)
      stream?.write(
        `data: ${JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_601, message: 'unknown' } })}\n\n`,
      );
  });
  return { called, resumed: [], ...(await listen(http, '/sse')) };
}

async function listen(http: Server, path: string): Promise<Pick<RawServer, 'url' | 'close'>> {
  await new Promise<void>((done) => http.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}${path}`,
    close: () =>
      new Promise((done) => {
        http.close(() => done());
        http.closeAllConnections();
      }),
  };
}

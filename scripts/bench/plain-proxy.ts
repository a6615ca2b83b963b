import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';

/** The shortest proxy that the SDK allows, without any governance. Run as a child of the benchmark. */
const [script = ''] = process.argv.slice(2);
const client = new Client({ name: 'proxy', version: '1.0.0' });
await client.connect(new StdioClientTransport({ command: process.execPath, args: [script, '2'] }));

const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
async function open(): Promise<WebStandardStreamableHTTPServerTransport> {
  const server = new Server({ name: 'proxy', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', ({ params }) => client.listTools(params));
  server.setRequestHandler('tools/call', ({ params }) => client.callTool(params) as never);
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => void sessions.set(id, transport),
  });
  await server.connect(transport);
  return transport;
}
const listener = getRequestListener(
  async (request) =>
    (sessions.get(request.headers.get('mcp-session-id') ?? '') ?? (await open())).handleRequest(request),
  { overrideGlobalObjects: false },
);
const server = createServer((request, response) => void listener(request, response));
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));

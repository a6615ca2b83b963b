// A plain server of the SDK, nothing of ours: both protocol generations on stdio, or on HTTP with `http` as argument.
// `modern` refuses clients that open with `initialize`.
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { acceptedContent, createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const legacy = process.argv.includes('modern') ? 'reject' : undefined;
let added = false;

function makeServer() {
  const server = new McpServer(
    { name: 'plain', version: '1.0.0' },
    { capabilities: { tools: { listChanged: true } } },
  );
  const read = { annotations: { readOnlyHint: true } };
  server.registerTool(
    'echo',
    { ...read, description: 'Echoes.', inputSchema: z.object({ text: z.string() }) },
    ({ text }) => ({
      content: [{ type: 'text', text }],
      _meta: { 'example.org/n': text.length },
    }),
  );
  server.registerTool(
    'sum',
    {
      ...read,
      description: 'Adds.',
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      outputSchema: z.object({ sum: z.number() }),
    },
    ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }], structuredContent: { sum: a + b } }),
  );
  server.registerTool(
    'era',
    { ...read, description: 'Which generation.', inputSchema: z.object({}) },
    (_args, context) => ({
      content: [{ type: 'text', text: context.mcpReq.envelope ? 'modern' : 'legacy' }],
    }),
  );
  server.registerTool(
    'slow',
    { ...read, description: 'Waits for a cancel.', inputSchema: z.object({}) },
    (_args, context) =>
      new Promise((resolve) => {
        const done = () => {
          process.stderr.write('cancelled by the client\n');
          resolve({ content: [] });
        };
        context.mcpReq.signal.addEventListener('abort', done);
      }),
  );
  server.registerTool(
    'greet_two',
    { description: 'Asks twice.', inputSchema: z.object({}) },
    (_args, context) => {
      const ask = (name) =>
        inputRequired.elicit({
          message: `What is the ${name} name?`,
          requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
        });
      const { inputResponses } = context.mcpReq;
      const state = context.mcpReq.requestState();
      const first = acceptedContent(inputResponses, 'first');
      if (first)
        return inputRequired({
          inputRequests: { second: ask('second') },
          requestState: `first=${first.name}`,
        });
      const second = acceptedContent(inputResponses, 'second');
      if (second) return { content: [{ type: 'text', text: `${state} second=${second.name}` }] };
      if (inputResponses) return { content: [{ type: 'text', text: 'declined' }], isError: true };
      return inputRequired({ inputRequests: { first: ask('first') } });
    },
  );
  if (added)
    server.registerTool('late', { ...read, description: 'Added.', inputSchema: z.object({}) }, () => ({
      content: [],
    }));
  server.registerResource('greeting', 'plain://greeting', { mimeType: 'text/plain' }, (uri) => ({
    contents: [{ uri: uri.href, text: 'Hello' }],
  }));
  server.registerPrompt('greet', { argsSchema: z.object({ name: z.string() }) }, ({ name }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Greet ${name}` } }],
  }));
  return server;
}

if (process.argv.includes('http')) {
  const handler = createMcpHandler(makeServer, legacy ? { legacy } : {});
  const http = createServer(async (request, response) => {
    if (request.url === '/add') {
      added = true;
      handler.notify.toolsChanged();
      return response.end();
    }
    if (request.headers['x-api-key'] !== (process.env.WANTED_KEY ?? request.headers['x-api-key'])) {
      response.writeHead(401).end();
      return;
    }
    const body = request.method === 'POST' ? Readable.toWeb(request) : undefined;
    const stop = new AbortController();
    response.on('close', () => stop.abort());
    const answer = await handler.fetch(
      new Request(`http://${request.headers.host}${request.url}`, {
        method: request.method,
        headers: request.headers,
        body,
        duplex: 'half',
        signal: stop.signal,
      }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (!answer.body) return response.end();
    Readable.fromWeb(answer.body)
      .on('error', () => {})
      .pipe(response);
  });
  http.listen(0, '127.0.0.1', () => process.stdout.write(`${http.address().port}\n`));
} else serveStdio(makeServer, legacy ? { legacy } : {});

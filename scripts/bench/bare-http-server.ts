import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

/** The SDK's own HTTP handler with one tool. Run as a child of the benchmark. */
const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'bare', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.registerTool(
    'echo',
    {
      description: 'Gives back what it was given.',
      inputSchema: z.object({ text: z.string().optional() }),
      outputSchema: z.object({ success: z.boolean(), data: z.object({ text: z.string() }) }),
    },
    async ({ text = '' }) => {
      const structuredContent = { success: true, data: { text } };
      return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
    },
  );
  return server;
});
const listener = getRequestListener((request) => handler.fetch(request), { overrideGlobalObjects: false });
const server = createServer((request, response) => void listener(request, response));
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));

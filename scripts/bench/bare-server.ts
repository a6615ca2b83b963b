import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

/** The least an SDK server can be: as many tools as ours, no governance. Run as a child of the benchmark. */
const count = Number(process.argv[2] ?? 112);

serveStdio(() => {
  const server = new McpServer({ name: 'bare', version: '1.0.0' }, { capabilities: { tools: {} } });
  for (let index = 0; index < count; index += 1) {
    server.registerTool(
      index === 0 ? 'echo' : `tool_${index}`,
      {
        title: `Tool ${index}`,
        description: 'Gives back what it was given, like any other of these tools.',
        inputSchema: z.object({
          text: z.string().optional(),
          limit: z.number().int().optional(),
          since_id: z.string().optional(),
        }),
        outputSchema: z.object({ success: z.boolean(), data: z.object({ text: z.string() }) }),
      },
      async ({ text = '' }) => {
        const structuredContent = { success: true, data: { text } };
        return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
      },
    );
  }
  return server;
});

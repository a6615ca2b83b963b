// A server of the SDK that has a resource and a prompt, and no tools.
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

serveStdio(() => {
  const server = new McpServer({ name: 'library', version: '1.0.0' });
  server.registerResource('book', 'library://book', { mimeType: 'text/plain' }, (uri) => ({
    contents: [{ uri: uri.href, text: 'Once' }],
  }));
  server.registerPrompt('summarise', {}, () => ({
    messages: [{ role: 'user', content: { type: 'text', text: 'Summarise' } }],
  }));
  return server;
});

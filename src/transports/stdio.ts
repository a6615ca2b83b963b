import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Principal } from '../contract/principal.ts';
import { LineTransport } from './line-transport.ts';
import { createMcpServer } from './mcp-server.ts';
import type { Served } from './served.ts';

/** Serves on this process's own streams until stdin ends. */
export function serveOnStdio(served: Served, principal: Principal): Promise<void> {
  return new Promise((resolve) => {
    const transport = new LineTransport(process.stdin, process.stdout);
    serveStdio(() => createMcpServer(served, { transport: 'stdio', principal }), {
      transport,
      onerror: (error) => served.log.debug('stdio', { error: error.message }),
    });
    process.stdin.once('end', resolve);
    process.stdin.once('close', resolve);
  });
}

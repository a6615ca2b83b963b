import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Principal } from '../contract/principal.ts';
import { LineTransport } from './line-transport.ts';
import { createMcpServer } from './mcp-server.ts';
import type { Served } from './served.ts';
import { closeTasks } from './tasks.ts';

/** Serves on this process's own streams until stdin ends. */
export async function serveOnStdio(served: Served, principal: Principal, token?: string): Promise<void> {
  await new Promise<void>((resolve) => {
    const transport = new LineTransport(process.stdin, process.stdout);
    serveStdio(() => createMcpServer(served, { transport: 'stdio', principal, token }), {
      transport,
      onerror: (error) => served.log.debug('stdio', { error: error.message }),
    });
    process.stdin.once('end', resolve);
    process.stdin.once('close', resolve);
  });
  await closeTasks(served);
}

import { createServer, type Server, type Socket } from 'node:net';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { LOCAL_AGENT } from '../contract/principal.ts';
import { isLoopback } from '../lib/loopback.ts';
import { LineTransport } from './line-transport.ts';
import { createMcpServer } from './mcp-server.ts';
import type { Served } from './served.ts';
import { closeTasks } from './tasks.ts';

export interface TcpOptions {
  readonly host: string;
  readonly port: number;
}

export interface Listening {
  readonly host: string;
  readonly port: number;
  close(): Promise<void>;
}

/** The stdio framing over a socket. Beyond loopback every call must carry an agent's token in its `_meta`. */
export async function serveOnTcp(served: Served, { host, port }: TcpOptions): Promise<Listening> {
  const open = new Set<Socket>();
  const peer = { transport: 'tcp', principal: LOCAL_AGENT, needsToken: !isLoopback(host) };
  const server = createServer((socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    socket.on('error', (error) => served.log.debug('tcp', { error: error.message }));
    socket.setNoDelay(true);
    const transport = new LineTransport(socket, socket);
    const handle = serveStdio(() => createMcpServer(served, peer), {
      transport,
      onerror: (error) => served.log.debug('tcp', { error: error.message }),
    });
    socket.once('close', () => void handle.close());
  });
  const listening = await listen(server, host, port, () => {
    for (const socket of open) socket.destroy();
  });
  return {
    ...listening,
    async close() {
      await listening.close();
      await closeTasks(served);
    },
  };
}

function listen(server: Server, host: string, port: number, drop: () => void): Promise<Listening> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      const address = server.address();
      resolve({
        host,
        port: typeof address === 'object' && address ? address.port : port,
        close: () =>
          new Promise((done) => {
            server.close(() => done());
            drop();
          }),
      });
    });
  });
}

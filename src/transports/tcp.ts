import { createServer, type Server, type Socket } from 'node:net';
import { isLoopback } from '../lib/loopback.ts';
import type { Peer, Served } from './served.ts';
import { LineTransport, serveConnection } from './stdio.ts';
import { closeTasks } from './tasks.ts';

export interface TcpOptions {
  readonly host: string;
  readonly port: number;
  /** How long a line, or silence before a client is known, may last; tests shorten it. */
  readonly slowMs?: number;
}

export interface Listening {
  readonly host: string;
  readonly port: number;
  close(): Promise<void>;
}

/** What a client may make this process keep before it has shown who it is. */
const MAX_UNKNOWN_BYTES = 1024 * 1024;
const SLOW_MS = 60_000;

/** The stdio framing over a socket. Beyond loopback every call must carry an agent's token in its `_meta`. */
export async function serveOnTcp(
  served: Served,
  { host, port, slowMs = SLOW_MS }: TcpOptions,
): Promise<Listening> {
  const open = new Set<Socket>();
  const needsToken = !isLoopback(host);
  const server = createServer((socket) => {
    socket.on('error', (error) => served.log.debug('tcp', { error: error.message }));
    if (open.size >= served.shares.connections) return refuse(socket, served);
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    socket.setNoDelay(true);
    const transport = new LineTransport(socket, socket, MAX_UNKNOWN_BYTES);
    // Where no token is needed, a client that speaks the protocol counts as known.
    if (!needsToken) transport.onread = () => transport.allowLongLines();
    const silentMs = needsToken ? Math.min(slowMs, served.shares.idleMs) : served.shares.idleMs;
    const watch = new SocketWatch(socket, transport, { slowMs, silentMs, idleMs: served.shares.idleMs });
    const peer: Peer = { transport: 'tcp', needsToken, onIdentified: () => watch.trust() };
    const handle = serveConnection(transport, served, peer);
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

function refuse(socket: Socket, { log, shares }: Served): void {
  log.warn('A connection was refused: server.max_connections is reached', { max: shares.connections });
  const message = `This server already has ${shares.connections} connections (server.max_connections). Try again later.`;
  socket.end(`${JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32000, message } })}\n`);
  socket.resume();
}

/** Closes a connection that only occupies its place: silent too long, or ever within the same line. */
class SocketWatch {
  readonly #socket: Socket;
  readonly #transport: LineTransport;
  readonly #idleMs: number;
  readonly #line: NodeJS.Timeout;
  #wasWithinLine = false;

  constructor(
    socket: Socket,
    transport: LineTransport,
    { slowMs, silentMs, idleMs }: { slowMs: number; silentMs: number; idleMs: number },
  ) {
    this.#socket = socket;
    this.#transport = transport;
    this.#idleMs = idleMs;
    socket.setTimeout(silentMs);
    socket.on('timeout', () => {
      if (transport.unanswered === 0) socket.destroy();
    });
    this.#line = setInterval(() => this.#checkLine(), slowMs).unref();
    socket.once('close', () => clearInterval(this.#line));
  }

  /** A known client may send long lines slowly, and wait between calls. */
  trust(): void {
    this.#transport.allowLongLines();
    this.#socket.setTimeout(this.#idleMs);
    clearInterval(this.#line);
  }

  #checkLine(): void {
    const { isWithinLine } = this.#transport;
    if (isWithinLine && this.#wasWithinLine) this.#socket.destroy();
    this.#wasWithinLine = isWithinLine;
  }
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

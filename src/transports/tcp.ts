import { createServer, type Server, type Socket } from 'node:net';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { type Principal, principalName } from '../contract/principal.ts';
import { isLoopback } from '../lib/loopback.ts';
import { ByteShare, Connections } from './connections.ts';
import type { Served } from './served.ts';
import { type LineOptions, LineTransport, serveConnection } from './stdio.ts';
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
/** What all clients together may make it keep of lines that are longer. */
const MAX_LONG_BYTES = 256 * 1024 * 1024;

/** The stdio framing over a socket. Beyond loopback every call must carry an agent's token in its `_meta`. */
export async function serveOnTcp(
  served: Served,
  { host, port, slowMs = SLOW_MS }: TcpOptions,
): Promise<Listening> {
  const open = new Set<Socket>();
  const needsToken = !isLoopback(host);
  const connections = new Connections(served.shares.connections);
  const longLines = new ByteShare(MAX_LONG_BYTES);
  const room: LineOptions['room'] = {
    take: (bytes) => longLines.take('', bytes),
    free: (bytes) => longLines.give('', bytes),
  };
  const server = createServer((socket) => {
    socket.on('error', (error) => served.log.debug('tcp', { error: error.message }));
    if (!connections.add(socket)) return refuse(socket, served);
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    socket.setNoDelay(true);
    const transport = new LineTransport(socket, socket, { maxLine: MAX_UNKNOWN_BYTES, onlyJson: true, room });
    const watch = new SocketWatch(socket, transport, { slowMs, idleMs: served.shares.idleMs });
    // Where no token is needed, a client that speaks the protocol counts as known.
    if (!needsToken) transport.onread = () => watch.welcome();
    let end: (() => void) | undefined;
    const onIdentified = (principal: Principal): void => {
      watch.trust();
      if (end) return;
      const owner = principalName(principal);
      end = connections.serve(socket, owner);
      if (!end)
        throw new ProtocolError(
          ProtocolErrorCode.InvalidRequest,
          `${owner} already has ${connections.share} connections, half of server.max_connections. Close some, or wait.`,
        );
      socket.once('close', end);
    };
    const handle = serveConnection(transport, served, { transport: 'tcp', needsToken, onIdentified });
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
    { slowMs, idleMs }: { slowMs: number; idleMs: number },
  ) {
    this.#socket = socket;
    this.#transport = transport;
    this.#idleMs = idleMs;
    socket.setTimeout(Math.min(slowMs, idleMs));
    socket.on('timeout', () => {
      if (transport.unanswered === 0) socket.destroy();
    });
    this.#line = setInterval(() => this.#checkLine(), slowMs).unref();
    socket.once('close', () => clearInterval(this.#line));
  }

  /** A client that speaks the protocol may send long lines, and wait between calls. */
  welcome(): void {
    this.#transport.allowLongLines();
    this.#socket.setTimeout(this.#idleMs);
  }

  /** One whose principal is known may send them slowly, too. */
  trust(): void {
    this.welcome();
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

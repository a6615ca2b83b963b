import { createServer, type Server } from 'node:http';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import type { ServerNotifier } from '@modelcontextprotocol/server';
import { Hono, type MiddlewareHandler } from 'hono';
import type { Principal } from '../contract/principal.ts';
import { describeDatabaseError } from '../lib/database-error.ts';
import { isLoopback } from '../lib/loopback.ts';
import { type Door, openDoor } from './http-access.ts';
import { createDirectListener, passOnBody, readAll } from './http-direct.ts';
import { createMcpEndpoint, type ServerFor } from './http-mcp.ts';
import { addRestRoutes } from './rest.ts';
import type { Served } from './served.ts';
import type { Listening } from './tcp.ts';

export interface HttpOptions {
  readonly host: string;
  readonly port: number;
  /** More names this server may be called by (a reverse proxy). */
  readonly allowedHosts?: readonly string[];
  /** The web application: everything that is not the agents' API. */
  readonly web?: Hono;
  /** How long a request may take to arrive; tests shorten it. */
  readonly slowMs?: number;
  /** How a protocol server is made; tests wrap it. */
  readonly serverFor?: ServerFor;
  /** Receives the function that notifies open subscriptions that a list changed. */
  readonly onNotifier?: (notifier: ServerNotifier) => void;
}

const KEEP_ALIVE_MS = 75_000;
/** A client that sends more slowly than this only occupies a connection. */
const HEADERS_MS = 20_000;
const REQUEST_MS = 120_000;
const CHECK_MS = 10_000;
const MAX_BODY_BYTES = 16 * 1024 * 1024;

/** The agents' HTTP API: `/mcp`, and the plain endpoints of the QualCoder document. */
function createHttpApp(served: Served, options: HttpOptions) {
  const door = openDoor(served, options);
  const mcp = createMcpEndpoint(served, options.serverFor);
  options.onNotifier?.(mcp.notify);
  const app = new Hono();
  app.onError((error, context) => {
    served.log.error('HTTP request failed', { error, path: context.req.path });
    // Such as while its token is looked up: nothing was done, and the same request may be sent again.
    const problem = describeDatabaseError(error);
    if (problem !== undefined)
      return context.json({ success: false, error: problem, error_code: 'DB_ERROR' }, 503);
    return context.json(
      { success: false, error: 'Internal error. Details are in the server log.', error_code: 'INTERNAL' },
      500,
    );
  });
  app.use(async (context, next) => door.checkAddress(context.req.raw) ?? next());
  app.use('/tools/*', limitBody);
  app.use('/mcp', limitBody);
  app.all('/mcp', (context) =>
    admitted(door, context.req.raw, (principal) => mcp.fetch(context.req.raw, principal)),
  );
  addRestRoutes(app, served, door);
  if (options.web) app.route('/', options.web);
  const web = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  const listener = createDirectListener({
    door,
    log: served.log,
    maxBytes: MAX_BODY_BYTES,
    sessionOf: mcp.sessionOf,
    otherwise: (request, response) => void web(request, response),
  });
  return { listener, close: () => mcp.close() };
}

async function admitted(
  door: Door,
  request: Request,
  go: (principal: Principal) => Promise<Response>,
): Promise<Response> {
  const who = await door.identify(request);
  return who instanceof Response ? who : go(who);
}

/** Where the size is announced, looking at it is enough. A body in parts is read here, as far as it may be long. */
const limitBody: MiddlewareHandler = async ({ req, env }, next) => {
  const { headers } = req.raw;
  if (headers.get('transfer-encoding') === null)
    return Number(headers.get('content-length') ?? 0) <= MAX_BODY_BYTES ? next() : tooLarge();
  const { incoming } = env as HttpBindings;
  const body = await readAll(incoming, MAX_BODY_BYTES);
  if (!(body instanceof Buffer)) return tooLarge();
  passOnBody(incoming, body);
  return next();
};

const tooLarge = (): Response =>
  Response.json(
    {
      success: false,
      error: `The request is larger than ${MAX_BODY_BYTES / 1024 / 1024} MB.`,
      error_code: 'INVALID_INPUT',
    },
    { status: 413 },
  );

/** Listens until closed. */
export async function serveOnHttp(served: Served, options: HttpOptions): Promise<Listening> {
  const { listener, close } = createHttpApp(served, options);
  const listen = async (host: string, port: number): Promise<Server> => {
    const server = createServer({ connectionsCheckingInterval: options.slowMs ?? CHECK_MS }, listener);
    // Only until a request has arrived: its answer may take as long as a person thinks about a dialog.
    server.headersTimeout = options.slowMs ?? HEADERS_MS;
    server.requestTimeout = options.slowMs ?? REQUEST_MS;
    server.maxConnections = served.shares.connections;
    server.on('drop', () => served.log.warn('A connection was refused: server.max_connections is reached'));
    // Longer than clients keep an idle connection: closing it first loses the request they are just sending.
    server.keepAliveTimeout = KEEP_ALIVE_MS;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, resolve);
    });
    return server;
  };
  const servers = await listenOnBoth(options, listen);
  return {
    host: options.host,
    port: portOf(servers[0]) ?? options.port,
    async close() {
      await close();
      for (const server of servers) server.closeAllConnections();
      await Promise.all(servers.map((server) => new Promise<void>((done) => server.close(() => done()))));
    },
  };
}

const portOf = (server: Server | undefined): number | undefined => {
  const address = server?.address();
  return typeof address === 'object' && address ? address.port : undefined;
};

const TRIES = 10;

/**
 * To a browser `localhost` is both 127.0.0.1 and ::1: a process that holds the port on the other one is the same page, with the
 * same passkeys. So both are taken, or neither; a host without IPv6 has only the one.
 */
async function listenOnBoth(
  { host, port }: HttpOptions,
  listen: (host: string, port: number) => Promise<Server>,
): Promise<Server[]> {
  for (let attempt = 1; ; attempt += 1) {
    const first = await listen(host, port);
    if (host !== '127.0.0.1') return [first];
    try {
      return [first, await listen('::1', portOf(first) ?? port)];
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT' || code === 'EINVAL') return [first];
      await new Promise<void>((done) => first.close(() => done()));
      // A port that was chosen for us may be taken on the other address.
      if (port !== 0 || attempt >= TRIES) throw error;
    }
  }
}

/** Beyond loopback agents must show a token, so there must be one; otherwise the server refuses to start. */
export function mustHaveToken(host: string, activeAgents: number): string | undefined {
  if (isLoopback(host) || activeAgents > 0) return undefined;
  return `Refusing to listen on ${host}: addresses beyond this machine require agent tokens, and none exist. Create one with \`countersign agents add NAME\`, or listen on 127.0.0.1.`;
}

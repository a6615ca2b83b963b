import { createServer, type Server, type ServerResponse } from 'node:http';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { isJsonContentType, type ServerNotifier } from '@modelcontextprotocol/server';
import { Hono, type MiddlewareHandler } from 'hono';
import { principalName } from '../contract/principal.ts';
import { describeDatabaseError } from '../lib/database-error.ts';
import { isLoopback } from '../lib/loopback.ts';
import { type Addresses, openDoor, tokenOf } from './http-access.ts';
import { createDirectListener } from './http-direct.ts';
import { Intake } from './http-intake.ts';
import { createMcpEndpoint, type ServerFor } from './http-mcp.ts';
import { type AgentEnv, addRestRoutes } from './rest.ts';
import type { Served } from './served.ts';
import type { Listening } from './tcp.ts';

export interface HttpOptions extends Addresses {
  readonly port: number;
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
/** How often the tokens of open event streams are asked about again. */
const STREAM_CHECK_MS = 2_000;

/** The agents' HTTP API: `/mcp`, and the plain endpoints of the QualCoder document. */
function createHttpApp(served: Served, options: HttpOptions) {
  const door = openDoor(served, options);
  const mcp = createMcpEndpoint(served, options.serverFor);
  options.onNotifier?.(mcp.notify);
  const app = new Hono<AgentEnv>();
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
  const intake = new Intake(served.shares.connections);
  const streams = new OpenStreams(served);
  /** First who is calling, then whether there is room for them, and only then the body. */
  const admit: MiddlewareHandler<AgentEnv> = async (context, next) => {
    const { incoming, outgoing } = context.env;
    const { raw } = context.req;
    const who = await door.identify(raw);
    if (!('kind' in who)) return who;
    const owner = principalName(who);
    if (raw.method === 'POST') {
      if (!isJsonContentType(raw.headers.get('content-type'))) return notJson();
      const body = await intake.receive(incoming, outgoing, owner);
      if (!Buffer.isBuffer(body)) return body;
    }
    context.set('principal', who);
    return intake.begin(incoming, outgoing, owner) ?? next();
  };
  app.use('/tools/*', admit);
  app.use('/mcp', admit);
  app.all('/mcp', (context) =>
    mcp.fetch(context.req.raw, context.get('principal'), () =>
      streams.add(context.env.outgoing, tokenOf(context.req.raw.headers)),
    ),
  );
  addRestRoutes(app, served);
  if (options.web) app.route('/', options.web);
  const web = getRequestListener(
    (request, env) => {
      const { incoming, outgoing } = env as HttpBindings;
      return app.fetch(request, {
        incoming,
        outgoing,
        serve: (owner: string) => intake.begin(incoming, outgoing, owner),
      });
    },
    { overrideGlobalObjects: false },
  );
  const listener = createDirectListener({
    door,
    log: served.log,
    intake,
    sessionOf: mcp.sessionOf,
    otherwise: (request, response) => void web(request, response),
  });
  return {
    listener,
    intake,
    async close() {
      streams.close();
      await mcp.close();
    },
  };
}

/** Ends the event streams of a token that was revoked: no further request comes with which it would be refused. */
class OpenStreams {
  readonly #served: Pick<Served, 'authenticate'>;
  readonly #tokens = new Map<ServerResponse, string>();
  readonly #timer = setInterval(() => void this.#check(), STREAM_CHECK_MS).unref();

  constructor(served: Pick<Served, 'authenticate'>) {
    this.#served = served;
  }

  add(outgoing: ServerResponse, token: string | undefined): void {
    if (token === undefined) return;
    this.#tokens.set(outgoing, token);
    outgoing.once('close', () => this.#tokens.delete(outgoing));
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #check(): Promise<void> {
    for (const token of new Set(this.#tokens.values())) {
      // A database that does not answer says nothing about the token.
      const isValid = await this.#served.authenticate(token).then(Boolean, () => true);
      if (isValid) continue;
      for (const [outgoing, shown] of this.#tokens) if (shown === token) outgoing.destroy();
    }
  }
}

/** A page of any site may send other types without asking first. */
const notJson = (): Response =>
  Response.json(
    {
      success: false,
      error: 'Send the body as JSON, with the header Content-Type: application/json.',
      error_code: 'UNSUPPORTED_MEDIA_TYPE',
    },
    { status: 415 },
  );

/** Listens until closed. */
export async function serveOnHttp(served: Served, options: HttpOptions): Promise<Listening> {
  const { listener, intake, close } = createHttpApp(served, options);
  const listen = async (host: string, port: number): Promise<Server> => {
    const server = createServer({ connectionsCheckingInterval: options.slowMs ?? CHECK_MS }, listener);
    // Only until a request has arrived: its answer may take as long as a person thinks about a dialog.
    server.headersTimeout = options.slowMs ?? HEADERS_MS;
    server.requestTimeout = options.slowMs ?? REQUEST_MS;
    server.prependListener('connection', (socket) => {
      if (intake.accept(socket)) return;
      served.log.warn('A connection was refused: server.max_connections is reached');
      socket.destroy();
    });
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

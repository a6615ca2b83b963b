import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import type { ServerNotifier } from '@modelcontextprotocol/server';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { LOCAL_AGENT } from '../contract/principal.ts';
import { isLoopback } from '../lib/loopback.ts';
import { type Door, openDoor } from './http-door.ts';
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
  /** How a protocol server is made; tests wrap it. */
  readonly serverFor?: ServerFor;
  /** Receives what tells open subscriptions that a list changed. */
  readonly onNotifier?: (notifier: ServerNotifier) => void;
}

const KEEP_ALIVE_MS = 75_000;
const MAX_BODY_BYTES = 16 * 1024 * 1024;

/** The agents' HTTP API: `/mcp`, and the plain endpoints of the QualCoder document. */
function createHttpApp(served: Served, options: HttpOptions): { app: Hono; close(): Promise<void> } {
  const door = openDoor(served, options);
  const mcp = createMcpEndpoint(served, options.serverFor);
  options.onNotifier?.(mcp.notify);
  const app = new Hono();
  app.onError((error, context) => {
    served.log.error('HTTP request failed', { error, path: context.req.path });
    return context.json(
      { success: false, error: 'The server failed; details are in its log.', error_code: 'INTERNAL' },
      500,
    );
  });
  app.use(async (context, next) => door.checkAddress(context.req.raw) ?? next());
  app.use('/tools/*', bodyLimit({ maxSize: MAX_BODY_BYTES, onError: tooLarge }));
  app.use('/mcp', bodyLimit({ maxSize: MAX_BODY_BYTES, onError: tooLarge }));
  app.all('/mcp', (context) =>
    admitted(door, context.req.raw, (principal) => mcp.fetch(context.req.raw, principal)),
  );
  addRestRoutes(app, served, door);
  if (options.web) app.route('/', options.web);
  return { app, close: () => mcp.close() };
}

async function admitted(
  door: Door,
  request: Request,
  go: (principal: typeof LOCAL_AGENT) => Promise<Response>,
): Promise<Response> {
  const who = await door.identify(request);
  return who instanceof Response ? who : go(who);
}

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
  const { app, close } = createHttpApp(served, options);
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  const server = createServer(
    (request: IncomingMessage, response: ServerResponse) => void listener(request, response),
  );
  // A person may think for minutes before answering a client's dialog.
  server.requestTimeout = 0;
  // Longer than clients keep an idle connection: closing it first loses the request they are just sending.
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  const address = server.address();
  return {
    host: options.host,
    port: typeof address === 'object' && address ? address.port : options.port,
    async close() {
      await close();
      server.closeAllConnections();
      await new Promise<void>((done) => server.close(() => done()));
    },
  };
}

/** Beyond loopback agents must show a token, so there must be one; otherwise the server refuses to start. */
export function mustHaveToken(host: string, activeAgents: number): string | undefined {
  if (isLoopback(host) || activeAgents > 0) return undefined;
  return `Refusing to listen on ${host}: beyond this machine every agent needs a token and there is none. Create one with \`countersign agents add NAME\`, or listen on 127.0.0.1.`;
}

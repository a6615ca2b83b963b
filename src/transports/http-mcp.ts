import { randomUUID } from 'node:crypto';
import {
  createMcpHandler,
  isLegacyRequest,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { Principal } from '../contract/principal.ts';
import { principalName } from '../contract/principal.ts';
import { isObject } from '../lib/is-object.ts';
import { hasPrototypeKey } from '../lib/json-shape.ts';
import { wrongParamHeader } from '../lib/param-headers.ts';
import { SessionTransport } from './http-session.ts';
import { createMcpServer } from './mcp-server.ts';
import type { Peer, Served } from './served.ts';
import { listenedResources, subscriptionsOf } from './subscriptions.ts';
import { closeTasks } from './tasks.ts';

export type ServerFor = (served: Served, peer: Peer) => Server;

const SESSION_IDLE_MS = 60 * 60 * 1000;
/** An agent that opens too many loses its own oldest first, unless it used that one within this time. */
const RECLAIM_MS = 10 * 60 * 1000;
const SWEEP_MS = 60 * 1000;

interface Session {
  readonly transport: SessionTransport;
  readonly server: Server;
  readonly owner: string;
  usedAt: number;
}

/**
 * `/mcp` for every generation of client: 2026 requests stand alone, 2025 clients get a session (their dialogs are
 * pushed to them), and a bare JSON-RPC POST without any handshake is answered as plain JSON.
 */
export function createMcpEndpoint(
  served: Served,
  serverFor: ServerFor = (one, peer) => createMcpServer(one, peer),
  now: () => number = Date.now,
) {
  const sessions = new Map<string, Session>();
  const principals = new WeakMap<Request, Principal>();
  const peer = (principal: Principal): Peer => ({ transport: 'http', principal });
  const report = (error: Error): void => served.log.debug('http', { error: error.message });

  const modern = createMcpHandler(
    ({ requestInfo }) => {
      const principal = requestInfo && principals.get(requestInfo);
      if (!principal) throw new Error('A request reached the protocol without a caller.');
      return serverFor(served, peer(principal));
    },
    { legacy: 'reject', onerror: report },
  );

  const { notify } = modern;
  const unwatch = served.watch?.((change) => {
    if (change.kind === 'tools') notify.toolsChanged();
    else if (change.kind === 'prompts') notify.promptsChanged();
    else if (change.kind === 'updated') notify.resourceUpdated(change.uri);
    else notify.resourcesChanged();
  });

  /** The SDK answers a listening client without asking us; the third-party server must be listened to as well. */
  const followWhileOpen = async (request: Request, principal: Principal, body: unknown): Promise<void> => {
    const uris = served.foreign ? listenedResources(body) : [];
    if (uris.length === 0) return;
    const board = subscriptionsOf(served);
    request.signal.addEventListener('abort', () => void board.drop(request), { once: true });
    await board.follow(uris, request, { principal, transport: 'http' });
  };

  const drop = (id: string, { server }: Session): void => {
    sessions.delete(id);
    void server.close();
  };
  const dropIdle = (): void => {
    for (const [id, session] of sessions) if (now() - session.usedAt > SESSION_IDLE_MS) drop(id, session);
  };
  const sweep = setInterval(dropIdle, SWEEP_MS).unref();

  /** Makes room among the principal's own sessions; other principals' are not touched. False when all of them are in use. */
  const hasShare = (owner: string): boolean => {
    dropIdle();
    const own = [...sessions].filter(([, session]) => session.owner === owner);
    if (own.length < served.shares.sessions) return true;
    const [oldest] = own.sort(([, a], [, b]) => a.usedAt - b.usedAt);
    if (!oldest || now() - oldest[1].usedAt <= RECLAIM_MS) return false;
    drop(...oldest);
    return true;
  };

  const openSession = async (principal: Principal): Promise<Session> => {
    const server = serverFor(served, { ...peer(principal), connection: randomUUID() });
    const transport = new SessionTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => {
        sessions.set(id, session);
      },
      onsessionclosed: (id) => {
        sessions.delete(id);
      },
    });
    const session: Session = { transport, server, owner: principalName(principal), usedAt: now() };
    await server.connect(transport);
    return session;
  };

  /** A session belongs to the one who opened it; to anyone else it does not exist. */
  const sessionOf = (id: string, principal: Principal): SessionTransport | undefined => {
    const session = sessions.get(id);
    if (session?.owner !== principalName(principal)) return undefined;
    session.usedAt = now();
    return session.transport;
  };

  const legacy = async (request: Request, principal: Principal, parsedBody: unknown): Promise<Response> => {
    const id = request.headers.get('mcp-session-id');
    if (id !== null) {
      const transport = sessionOf(id, principal);
      if (!transport) return rpcError(404, -32001, 'Session not found');
      return transport.handleRequest(request, { parsedBody });
    }
    if (request.method !== 'POST') return rpcError(405, -32000, 'Method not allowed.');
    if (hasMethod(parsedBody, 'initialize') && acceptsEvents(request)) {
      const owner = principalName(principal);
      if (!hasShare(owner))
        return rpcError(
          429,
          -32000,
          `${owner} already has ${served.shares.sessions} open sessions, the maximum (server.max_sessions_per_agent). Close some, or wait.`,
        );
      const session = await openSession(principal);
      return session.transport.handleRequest(request, { parsedBody });
    }
    return plainJson(request, parsedBody, principal);
  };

  /** No handshake and no event stream: one server for one request, answered as JSON. */
  const plainJson = async (
    request: Request,
    parsedBody: unknown,
    principal: Principal,
  ): Promise<Response> => {
    const server = serverFor(served, peer(principal));
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: undefined,
      enableJsonResponse: true,
    });
    await server.connect(transport);
    try {
      return await transport.handleRequest(acceptingEvents(request), { parsedBody });
    } finally {
      await server.close();
    }
  };

  return {
    notify,
    sessionOf,
    /** `onStream` is called for a request that is answered by events for as long as the client listens. */
    async fetch(request: Request, principal: Principal, onStream?: () => void): Promise<Response> {
      const body = request.method === 'POST' ? await readBody(request) : undefined;
      if (body instanceof Response) return body;
      const parsedBody = body?.value;
      if (request.method === 'GET' || hasMethod(parsedBody, 'subscriptions/listen')) onStream?.();
      if (await isLegacyRequest(request, parsedBody)) return legacy(request, principal, parsedBody);
      const mismatch = await paramMismatch(served, request, parsedBody);
      if (mismatch) return mismatch;
      principals.set(request, principal);
      await followWhileOpen(request, principal, parsedBody);
      return modern.fetch(request, { parsedBody });
    },
    async close(): Promise<void> {
      clearInterval(sweep);
      unwatch?.();
      await modern.close();
      for (const { server } of sessions.values()) await server.close();
      sessions.clear();
      await closeTasks(served);
    },
  };
}

/** Arguments that a tool's schema mirrors in headers must equal them, or a proxy on the way was shown something else. */
async function paramMismatch(served: Served, request: Request, body: unknown): Promise<Response | undefined> {
  if (!served.foreign || !isObject(body) || body.method !== 'tools/call' || !isObject(body.params)) return;
  const { name, arguments: args = {} } = body.params;
  const owned = typeof name === 'string' ? await served.exposure.find(name) : undefined;
  const schema = owned?.tool.definition?.inputSchema;
  if (!isObject(schema) || !isObject(args)) return;
  const wrong = wrongParamHeader(schema, args, request.headers);
  if (wrong === undefined) return;
  const id = typeof body.id === 'string' || typeof body.id === 'number' ? body.id : null;
  return rpcError(400, -32020, `The header ${wrong} does not repeat its argument.`, id);
}

/** Read and parsed here once, so that what the SDK would drop in silence is refused aloud. */
async function readBody(request: Request): Promise<{ value: unknown } | Response> {
  const text = await request.text();
  try {
    const value: unknown = JSON.parse(text);
    if (hasPrototypeKey(text, value)) {
      return rpcError(400, -32600, 'Invalid request: the key "__proto__" is not allowed.');
    }
    return { value };
  } catch {
    return rpcError(400, -32700, 'Parse error: the body is not JSON.');
  }
}

const hasMethod = (body: unknown, method: string): boolean => isObject(body) && body.method === method;

const acceptsEvents = (request: Request): boolean =>
  request.headers.get('accept')?.includes('text/event-stream') ?? false;

function acceptingEvents(request: Request): Request {
  const headers = new Headers(request.headers);
  headers.set('accept', 'application/json, text/event-stream');
  headers.delete('content-length');
  return new Request(request.url, { method: 'POST', headers, signal: request.signal });
}

const rpcError = (
  status: number,
  code: number,
  message: string,
  id: string | number | null = null,
): Response => Response.json({ jsonrpc: '2.0', id, error: { code, message } }, { status });

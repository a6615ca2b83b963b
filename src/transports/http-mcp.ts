import { randomUUID } from 'node:crypto';
import {
  createMcpHandler,
  isLegacyRequest,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { Principal } from '../contract/principal.ts';
import { principalName } from '../contract/principal.ts';
import { hasPrototypeKey } from '../lib/json-shape.ts';
import { createMcpServer } from './mcp-server.ts';
import type { Peer, Served } from './served.ts';
import { closeTasks } from './tasks.ts';

export type ServerFor = (served: Served, peer: Peer) => Server;

const MAX_SESSIONS = 1000;
const SESSION_IDLE_MS = 60 * 60 * 1000;

interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport;
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

  const openSession = async (principal: Principal): Promise<Session> => {
    const server = serverFor(served, peer(principal));
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => {
        sessions.set(id, session);
      },
      onsessionclosed: (id) => {
        sessions.delete(id);
      },
    });
    const session: Session = { transport, server, owner: principalName(principal), usedAt: Date.now() };
    await server.connect(transport);
    dropIdle(sessions);
    return session;
  };

  const legacy = async (request: Request, principal: Principal, parsedBody: unknown): Promise<Response> => {
    const id = request.headers.get('mcp-session-id');
    if (id !== null) {
      const session = sessions.get(id);
      // A session belongs to whoever opened it; to anybody else it does not exist.
      if (!session || session.owner !== principalName(principal))
        return rpcError(404, -32001, 'Session not found');
      session.usedAt = Date.now();
      return session.transport.handleRequest(request, { parsedBody });
    }
    if (request.method !== 'POST') return rpcError(405, -32000, 'Method not allowed.');
    if (isInitialize(parsedBody) && acceptsEvents(request)) {
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
    notify: modern.notify,
    async fetch(request: Request, principal: Principal): Promise<Response> {
      const body = request.method === 'POST' ? await readBody(request) : undefined;
      if (body instanceof Response) return body;
      const parsedBody = body?.value;
      if (await isLegacyRequest(request, parsedBody)) return legacy(request, principal, parsedBody);
      principals.set(request, principal);
      return modern.fetch(request, { parsedBody });
    },
    async close(): Promise<void> {
      await modern.close();
      for (const { server } of sessions.values()) await server.close();
      sessions.clear();
      await closeTasks(served);
    },
  };
}

function dropIdle(sessions: Map<string, Session>): void {
  const oldest = [...sessions.entries()].sort((a, b) => a[1].usedAt - b[1].usedAt);
  for (const [id, session] of oldest) {
    const idle = Date.now() - session.usedAt > SESSION_IDLE_MS;
    if (!idle && sessions.size <= MAX_SESSIONS) break;
    sessions.delete(id);
    void session.server.close();
  }
}

/** Read and parsed here once, so that what the SDK would drop in silence is refused aloud. */
async function readBody(request: Request): Promise<{ value: unknown } | Response> {
  const text = await request.text();
  try {
    const value: unknown = JSON.parse(text);
    if (text.includes('__proto__') && hasPrototypeKey(value)) {
      return rpcError(400, -32600, 'Invalid request: the key "__proto__" is not allowed.');
    }
    return { value };
  } catch {
    return rpcError(400, -32700, 'Parse error: the body is not JSON.');
  }
}

const isInitialize = (body: unknown): boolean =>
  body !== null && typeof body === 'object' && 'method' in body && body.method === 'initialize';

const acceptsEvents = (request: Request): boolean =>
  request.headers.get('accept')?.includes('text/event-stream') ?? false;

function acceptingEvents(request: Request): Request {
  const headers = new Headers(request.headers);
  headers.set('accept', 'application/json, text/event-stream');
  headers.delete('content-length');
  return new Request(request.url, { method: 'POST', headers, signal: request.signal });
}

const rpcError = (status: number, code: number, message: string): Response =>
  Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status });

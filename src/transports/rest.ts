import type { HttpBindings } from '@hono/node-server';
import type { Hono } from 'hono';
import type { JsonObject } from '../contract/json.ts';
import type { Principal } from '../contract/principal.ts';
import { pick } from './call-tool.ts';
import { whenDropped } from './in-flight.ts';
import { listingOf } from './mcp-server.ts';
import type { Served } from './served.ts';

/** A request to the agents' routes, once its sender is known and its body has arrived. */
export type AgentEnv = { Bindings: HttpBindings; Variables: { principal: Principal } };

/** The plain endpoints of the QualCoder document: `GET /`, `GET /tools`, `POST /tools/{name}`. */
export function addRestRoutes(app: Hono<AgentEnv>, served: Served): void {
  app.get('/', async (context, next) => {
    // A browser gets the web application, a program gets the facts.
    if (context.req.header('accept')?.includes('text/html')) return next();
    const challenge = context.req.query('challenge');
    return context.json({
      name: served.name,
      version: served.version,
      mcp_endpoint: 'POST /mcp',
      tools_endpoint: 'GET /tools',
      tools: served.exposure.names.length,
      ...(challenge ? { store: served.proveStore(challenge.slice(0, 100)) } : {}),
    });
  });

  // For load balancers and monitors, which have no token: whether it works, and nothing about what it does.
  app.get('/health', async (context) => {
    const { status, evidence } = await served.health();
    const ok = status === 'ok';
    return context.json({ status: ok ? 'ok' : 'degraded', evidence: evidence ?? null }, ok ? 200 : 503);
  });

  app.get('/tools', async (context) => context.json({ tools: await listingOf(served.exposure) }));

  app.post('/tools/:name', async (context): Promise<Response> => {
    const body = await readBody(context.req.raw);
    if (typeof body === 'string')
      return context.json({ success: false, error: body, error_code: 'INVALID_INPUT' }, 400);
    const { name } = context.req.param();
    let picked: Awaited<ReturnType<typeof pick>>;
    try {
      picked = await pick(served, name, body.arguments ?? {});
    } catch {
      return context.json(
        {
          success: false,
          error: `Tool ${JSON.stringify(name.slice(0, 80))} not found. GET /tools lists the tools.`,
          error_code: 'TOOL_NOT_FOUND',
        },
        404,
      );
    }
    const { owned, args } = picked;
    const result = await served.invoke({
      bound: owned,
      args,
      principal: context.get('principal'),
      transport: 'rest',
      client: context.req.header('user-agent'),
      signal: whenDropped(context.req.raw),
      meta: traceMeta(context.req.header('traceparent')),
      idempotencyKey: context.req.header('idempotency-key') || undefined,
    });
    const { dialect } = owned.toolkit;
    return context.json(dialect.body({ tool: owned.tool, dialect, ...result }, served.modes()));
  });

  // Anything else requested here is a mistake of a program: it must not get the web application's page.
  app.all('/tools/*', async (context) => {
    const { path } = context.req;
    const name = path.slice('/tools/'.length);
    if (path !== '/tools' && !served.exposure.names.includes(name))
      return context.json(
        {
          success: false,
          error: `Nothing at ${JSON.stringify(path.slice(0, 100))}. GET /tools lists the tools.`,
          error_code: 'NOT_FOUND',
        },
        404,
      );
    const allow = path === '/tools' ? 'GET' : 'POST';
    return context.json(
      {
        success: false,
        error: `Use ${allow} ${path}${allow === 'POST' ? ' with the body {"arguments": {…}}' : ''}.`,
        error_code: 'METHOD_NOT_ALLOWED',
      },
      405,
      { allow },
    );
  });
}

async function readBody(request: Request): Promise<{ arguments?: unknown } | string> {
  const text = await request.text();
  if (text.trim() === '') return {};
  try {
    const body: unknown = JSON.parse(text);
    if (body !== null && typeof body === 'object' && !Array.isArray(body)) {
      const [stray] = Object.keys(body);
      if (stray === undefined || 'arguments' in body) return body;
      return `The body has ${JSON.stringify(stray.slice(0, 80))} but no "arguments". Wrap the tool's arguments: {"arguments": {…}}.`;
    }
    return 'The body must be a JSON object such as {"arguments": {…}}.';
  } catch {
    return 'The body is not JSON. Send {"arguments": {…}}.';
  }
}

/** Plain HTTP clients give their trace context in a header, as W3C says. */
const traceMeta = (traceparent: string | undefined): JsonObject | undefined =>
  traceparent === undefined ? undefined : { traceparent };

import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { isObject } from '../../../lib/is-object.ts';
import { put } from '../../../lib/lookup.ts';
import { API_HOST, type Endpoint } from '../endpoints/endpoint.ts';
import { matchEndpoints } from '../endpoints/match.ts';
import { readRequest } from '../endpoints/read.ts';
import type { FaultDoc, JsonDoc } from './documents.ts';
import { problemOf, takeFault } from './faults.ts';
import { readWanted } from './fields.ts';
import type { Answer } from './handler.ts';
import { HANDLERS } from './handlers/index.ts';
import { type Identity, identify } from './identity.ts';
import { appToken, authorize, revoke, token } from './oauth.ts';
import {
  forbidden,
  type Hit,
  invalidRequest,
  notFound,
  Problem,
  tooManyRequests,
  type Windows,
} from './problems.ts';
import { OWN_ID } from './seed/accounts.ts';
import type { World } from './state.ts';

export interface Incoming {
  readonly authorization: string | undefined;
  readonly method: string;
  readonly path: string;
  readonly query: ReadonlyMap<string, string>;
  readonly body: Readonly<Record<string, unknown>> | undefined;
  /** Query and form pairs, which OAuth 1.0a signs. */
  readonly params: readonly (readonly [string, string])[];
}

const MAX_BYTES = 16 * 1024 * 1024;

/** The request in parts, its body by content type. */
async function readIncoming(context: Context): Promise<Incoming> {
  const url = new URL(context.req.url);
  const query = [...url.searchParams];
  const { body, pairs } = await readBody(context);
  return {
    authorization: context.req.header('authorization'),
    method: context.req.method,
    path: url.pathname,
    query: new Map(query),
    body,
    params: [...query, ...pairs],
  };
}

async function readBody(
  context: Context,
): Promise<{ body: Record<string, unknown> | undefined; pairs: [string, string][] }> {
  if (Number(context.req.header('content-length') ?? 0) > MAX_BYTES) {
    throw new Problem(413, {
      title: 'Payload Too Large',
      detail: 'Payload Too Large',
      type: 'about:blank',
      status: 413,
    });
  }
  const type = context.req.header('content-type') ?? '';
  if (type.startsWith('application/json')) return { body: parseJson(await context.req.text()), pairs: [] };
  if (type.startsWith('application/x-www-form-urlencoded')) {
    const pairs = [...new URLSearchParams(await context.req.text())];
    return { body: Object.fromEntries(pairs), pairs };
  }
  if (type.startsWith('multipart/form-data')) {
    const body: Record<string, unknown> = {};
    for (const [name, value] of await context.req.formData()) {
      put(body, name, typeof value === 'string' ? value : new Uint8Array(await value.arrayBuffer()));
    }
    return { body, pairs: [] };
  }
  return { body: undefined, pairs: [] };
}

function parseJson(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value as Record<string, unknown>;
  } catch {
    // Reported below, like any other body that is not an object.
  }
  throw new Problem(400, {
    title: 'Invalid Request',
    detail: 'Requests with bodies must have content-type of application/json and a JSON object.',
    type: 'https://api.x.com/2/problems/invalid-request',
  });
}

export interface AppPorts {
  readonly world: World;
  readonly windows: Windows;
  now(): Date;
  sleep(ms: number): Promise<void>;
}

type Env = { Bindings: HttpBindings };

/** The X API, as far as the table goes. */
export function createApp(ports: AppPorts): Hono<Env> {
  const app = new Hono<Env>();
  app.use('*', async (context, next) => {
    // A page on the web whose name was rebound to this machine must not reach it.
    if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(context.req.header('host') ?? ''))
      throw forbidden('Wrong host');
    await next();
  });
  app.get('/i/oauth2/authorize', async (context) => {
    const incoming = await readIncoming(context);
    return context.redirect(await ports.world.run((state) => authorize(state, incoming.query, ports.now())));
  });
  app.post('/2/oauth2/token', async (context) => {
    const incoming = await readIncoming(context);
    return context.json(await ports.world.run((state) => token(state, formOf(incoming), ports.now())));
  });
  app.post('/2/oauth2/revoke', async (context) => {
    const incoming = await readIncoming(context);
    return context.json(await ports.world.run((state) => revoke(state, formOf(incoming))));
  });
  app.post('/oauth2/token', async (context) => {
    const incoming = await readIncoming(context);
    return context.json(appToken(formOf(incoming), incoming.authorization));
  });
  app.all('*', (context) => serveApi(context, ports));
  app.onError((error, context) => {
    if (error instanceof Problem) return respond(context, error);
    // A bug of the sandbox must look like one, not like an answer of X.
    return context.json(
      { title: 'Sandbox Error', detail: String(error), type: 'about:blank', status: 500 },
      500,
    );
  });
  return app;
}

async function serveApi(context: Context<Env>, ports: AppPorts): Promise<Response> {
  const host = context.req.header('x-sandbox-host') ?? API_HOST;
  const match = matchEndpoints(context.req.method, host, context.req.path);
  if (!match) throw notFound();
  const incoming = await readIncoming(context);
  const endpoint = chooseByBody(match.endpoints, incoming);
  const { fault, identity } = await ports.world.run((state) => ({
    fault: state.all('faults').length > 0 ? takeFault(state, endpoint, context.req.path) : undefined,
    identity: attempt(() => identify({ ...incoming, host }, endpoint, state, ports.now())),
  }));
  if (fault?.kind === 'drop_before') return drop(context);
  if (fault?.kind === 'slow') await ports.sleep(fault.ms ?? 1000);
  const scripted = fault && problemOf(fault, endpoint);
  if (scripted) return respond(context, scripted, scriptedHeaders(fault, scripted, endpoint, ports.now()));
  if (identity instanceof Problem) throw identity;

  const hit = await ports.windows.hit(`${identity.credential}:${endpoint.id}`, endpoint.limit, ports.now());
  if (hit.over) return respond(context, tooManyRequests(), limitHeaders(hit));
  const outcome = await handle(ports, endpoint, match.path, incoming, identity);
  if (fault?.kind === 'drop_after') return drop(context);
  if (fault?.kind === 'garbled')
    return context.body('<html>Over capacity</html>', 200, { 'content-type': 'text/html' });
  return respond(context, outcome, limitHeaders(hit));
}

function handle(
  ports: AppPorts,
  endpoint: Endpoint,
  path: Readonly<Record<string, string>>,
  incoming: Incoming,
  { credential }: Identity,
): Promise<{ readonly status: number; readonly body: JsonDoc } | Problem> {
  const { args, problems } = readRequest(endpoint, { path, query: incoming.query, body: incoming.body });
  if (problems.length > 0) return Promise.resolve(invalidRequest(problems));
  const work = ports.world.run(
    (state): Answer =>
      HANDLERS[endpoint.id]({
        state,
        now: ports.now(),
        endpoint,
        args,
        query: incoming.query,
        wanted: readWanted(incoming.query),
        credential,
        own: OWN_ID,
        body: incoming.body ?? {},
      }),
  );
  return work.then(
    ({ status, body }) => ({ status: status ?? endpoint.success, body }),
    (error: unknown) => {
      if (error instanceof Problem) return error;
      throw error;
    },
  );
}

/** X distinguishes adding and deleting stream rules, and hiding from showing, by the body alone. */
function chooseByBody(endpoints: readonly Endpoint[], incoming: Incoming): Endpoint {
  const fits = endpoints.find((endpoint) =>
    readRequest(endpoint, { path: {}, query: new Map(), body: incoming.body }).problems.every(
      ({ name }) => !isBodyParam(endpoint, name),
    ),
  );
  const chosen = fits ?? endpoints[0];
  if (!chosen) throw notFound();
  return chosen;
}

const isBodyParam = (endpoint: Endpoint, wire: string): boolean =>
  Object.values(endpoint.params).some((param) => param.in === 'body' && param.wire === wire);

function attempt<T>(work: () => T): T | Problem {
  try {
    return work();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

const formOf = (incoming: Incoming): ReadonlyMap<string, string> =>
  new Map(Object.entries(incoming.body ?? {}).map(([key, value]) => [key, String(value)]));

function respond(
  context: Context<Env>,
  reply: { readonly status: number; readonly body: JsonDoc },
  headers: Readonly<Record<string, string>> = {},
): Response {
  return context.body(JSON.stringify(reply.body), reply.status as 200, {
    'content-type': reply.status >= 400 ? 'application/problem+json' : 'application/json; charset=utf-8',
    ...headers,
  });
}

const limitHeaders = ({ limit, remaining, reset }: Hit): Record<string, string> => ({
  'x-rate-limit-limit': String(limit),
  'x-rate-limit-remaining': String(remaining),
  'x-rate-limit-reset': String(reset),
});

function scriptedHeaders(
  fault: FaultDoc,
  { status }: Problem,
  { limit }: Endpoint,
  now: Date,
): Record<string, string> {
  if (status !== 429) return {};
  const reset = Math.floor(now.getTime() / 1000) + (fault.reset_in ?? limit.seconds);
  return limitHeaders({ limit: limit.max, remaining: 0, reset, over: true });
}

/** Cuts the wire: the client gets no answer at all. */
async function drop(context: Context<Env>): Promise<Response> {
  const { RESPONSE_ALREADY_SENT } = await import('@hono/node-server/utils/response');
  context.env.incoming.socket.destroy();
  return RESPONSE_ALREADY_SENT;
}

import {
  type CallToolRequest,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  type Implementation,
  type ProtocolEra,
  ProtocolError,
  ProtocolErrorCode,
  type RequestStateCodec,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Exposure } from '../catalogue/exposure.ts';
import { builtListings, type McpListing, toMcpListing } from '../catalogue/mcp.ts';
import type { JsonObject } from '../contract/json.ts';
import type { Principal } from '../contract/principal.ts';
import { lookup } from '../lib/lookup.ts';
import { type Caller, callTool, identify, TOKEN_KEY } from './call-tool.ts';
import { askForeign } from './foreign.ts';
import type { QuestionState } from './legs.ts';
import type { Peer, Served, ServedChange } from './served.ts';
import { subscriptionsOf } from './subscriptions.ts';
import { addTaskMethods, LEGACY_TASKS, PassingServer, TaskServer, takesTasks } from './tasks.ts';

/** A long listing is still on its way through the pipe when its handler is done; loading must not hold it up. */
const LOAD_AFTER_MS = 100;

/** How long a person may take to answer a client's dialog. */
const QUESTION_SECONDS = 600;

/** By the names of an exposure, which are another list whenever its tools are others. */
const listings = new WeakMap<readonly string[], Promise<McpListing[]>>();

/** A listing is made once, because over HTTP every request has a server of its own. */
export function listingOf(exposure: Exposure): Promise<McpListing[]> {
  const { names } = exposure;
  const known = listings.get(names);
  if (known) return known;
  const made = makeListing(exposure);
  listings.set(names, made);
  return made;
}

async function makeListing(exposure: Exposure): Promise<McpListing[]> {
  const built = builtListings();
  const known = exposure.names.map((name) => built.get(name)).filter((listing) => listing !== undefined);
  if (known.length === exposure.names.length) return known;
  const tools = await exposure.listed();
  return tools.map(
    ({ tool, toolkit }) =>
      // A server's tool may have the name of one of ours.
      (tool.definition ? undefined : built.get(tool.name)) ?? toMcpListing(tool, toolkit.dialect),
  );
}

const codecs = new WeakMap<Served, RequestStateCodec<QuestionState>>();

/** Made once, because over HTTP every request has a server of its own. */
function codecOf(served: Served): RequestStateCodec<QuestionState> {
  const known = codecs.get(served);
  if (known) return known;
  const made = createRequestStateCodec<QuestionState>({
    key: served.stateKey,
    ttlSeconds: QUESTION_SECONDS,
  });
  codecs.set(served, made);
  return made;
}

/** One protocol server for one connection or request; both protocol generations are the SDK's business. */
export function createMcpServer(served: Served, peer: Peer): Server {
  const codec = codecOf(served);
  const long = served.exposure.mayTakeLong;
  const server = new (long ? TaskServer : PassingServer)(
    { name: served.name, version: served.version, title: 'Countersign' },
    {
      capabilities: {
        tools: served.watch ? { listChanged: true } : {},
        resources: served.foreign ? { subscribe: true, listChanged: true } : {},
        prompts: served.foreign ? { listChanged: true } : {},
        ...(served.foreign ? { completions: {}, logging: {} } : {}),
        ...(served.foreign && long ? { tasks: LEGACY_TASKS } : {}),
      },
      instructions: served.instructions,
      requestState: { verify: (state, context) => codec.verify(state, context) },
    },
  );
  const admit: Admit = (context) => identify(served, peer, context.mcpReq._meta?.[TOKEN_KEY]);
  server.setRequestHandler('tools/list', async ({ params }, context) => {
    await admit(context);
    refuseCursor(params);
    const tools = await listingOf(served.exposure);
    // Who lists is about to call: the toolkits are loaded while the client reads. One that cannot be says so when called.
    setTimeout(() => void served.exposure.listed().catch(() => {}), LOAD_AFTER_MS).unref();
    return { tools: tools as never };
  });
  server.setRequestHandler('tools/call', toolCallHandler(served, peer, server));
  server.oninitialized = () => announceChanges(server, served);
  server.onlevel = (level) => served.foreign?.setLogLevel(level);
  if (long) addTaskMethods(server, served, admit);
  const ask: AskForeign = (principal, method, params, context) => {
    const asking = { caller: callerOf(served, server, context), codec };
    return askForeign(served, peer, principal, method, params, context, asking);
  };
  addResources(server, served, peer, admit, ask);
  addPrompts(server, served, admit, ask);
  if (served.foreign) addSubscriptions(server, served, peer, admit, ask);
  if (served.foreign)
    server.setRequestHandler('completion/complete', async ({ params }, context) => {
      const principal = await admit(context);
      const theirs = await ask(principal, 'completion/complete', params, context);
      return (theirs as { completion: { values: string[] } } | undefined) ?? { completion: { values: [] } };
    });
  return server;
}

/** Every list is one page, so no cursor can be ours; the first page again would send its reader in a circle. */
function refuseCursor(params: { readonly cursor?: string } | undefined): void {
  if (params?.cursor !== undefined)
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      'The cursor is invalid: this list has one page. Request it without a cursor.',
    );
}

/** Hands a call of this connection to the kernel. */
export function toolCallHandler(served: Served, peer: Peer, server: Server) {
  const codec = codecOf(served);
  return ({ params }: CallToolRequest, context: ServerContext): ReturnType<typeof callTool> =>
    callTool(served, peer, callerOf(served, server, context), params, context, codec);
}

/**
 * A server for a connection that lasts. A legacy client is notified on it; what a modern one listens to is picked out by
 * the SDK, which over HTTP has a stream of its own for that.
 */
export function createConnectionServer(served: Served, peer: Peer, era: ProtocolEra): Server {
  const server = createMcpServer(served, peer);
  if (era === 'modern') announceChanges(server, served, true);
  return server;
}

function announceChanges(server: Server, served: Served, isModern = false): void {
  const board = subscriptionsOf(served);
  const send = (change: ServedChange): Promise<void> | undefined => {
    if (change.kind === 'tools') return server.sendToolListChanged();
    if (change.kind === 'prompts') return server.sendPromptListChanged();
    if (change.kind !== 'updated') return server.sendResourceListChanged();
    const { uri } = change;
    return isModern || board.has(uri, server) ? server.sendResourceUpdated({ uri }) : undefined;
  };
  const stop = served.watch?.((change) => void send(change)?.catch(() => {}));
  const closed = server.onclose;
  server.onclose = () => {
    stop?.();
    void board.drop(server);
    closed?.();
  };
}

/** Only what a third-party server owns can be followed. */
function addSubscriptions(server: Server, served: Served, peer: Peer, admit: Admit, ask: AskForeign): void {
  const board = subscriptionsOf(served);
  server.setRequestHandler('resources/subscribe', async ({ params }, context) => {
    const principal = await admit(context);
    if (!(await ask(principal, 'resources/subscribe', params, context))) throw resourceNotFound(params.uri);
    board.add(params.uri, server, { principal, transport: peer.transport });
    return {};
  });
  server.setRequestHandler('resources/unsubscribe', async ({ params }, context) => {
    await admit(context);
    await board.remove(params.uri, server);
    return {};
  });
}

const resourceNotFound = (uri: string): ProtocolError =>
  new ProtocolError(ProtocolErrorCode.InvalidParams, `Resource not found: ${uri.slice(0, 200)}`, { uri });

/** Refuses a request without a token where one is needed. */
type Admit = (context: ServerContext) => Promise<Principal>;

/** Asks the third-party server that a request belongs to; undefined when it is no server's. */
type AskForeign = (
  principal: Principal,
  method: Parameters<typeof askForeign>[3],
  params: Record<string, unknown>,
  context: ServerContext,
) => ReturnType<typeof askForeign>;

function callerOf(served: Served, server: Server, context: ServerContext): Caller {
  const { mcpReq } = context;
  // The envelope's keys are plain strings on the wire; its type lists them under computed names.
  const envelope = mcpReq.envelope as { [key: string]: unknown } | undefined;
  const info = (envelope?.[CLIENT_INFO_META_KEY] ?? server.getClientVersion()) as Implementation | undefined;
  const capabilities = (envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities()) as
    | ClientCapabilities
    | undefined;
  return {
    client: info ? `${info.name}/${info.version}` : undefined,
    canAsk: served.dialogs && capabilities?.elicitation !== undefined,
    canLink: served.dialogs && capabilities?.elicitation?.url !== undefined,
    capabilities: (capabilities ?? {}) as JsonObject,
    takesTasks: takesTasks(context),
  };
}

function addResources(server: Server, served: Served, peer: Peer, admit: Admit, ask: AskForeign): void {
  const { resources, foreign } = served;
  const { transport } = peer;
  server.setRequestHandler('resources/list', async ({ params }, context) => {
    await admit(context);
    refuseCursor(params);
    const own = resources.map(({ uri, name, title, description, mimeType }) => ({
      uri,
      name,
      title,
      description,
      mimeType,
    }));
    return { resources: [...own, ...(((await foreign?.list())?.resources ?? []) as never[])] };
  });
  server.setRequestHandler('resources/templates/list', async ({ params }, context) => {
    await admit(context);
    refuseCursor(params);
    return { resourceTemplates: ((await foreign?.list())?.templates ?? []) as never[] };
  });
  server.setRequestHandler('resources/read', async ({ params }, context) => {
    const principal = await admit(context);
    const found = resources.find(({ uri }) => uri === params.uri);
    const theirs = found ? undefined : await ask(principal, 'resources/read', params, context);
    if (theirs) return theirs as never;
    if (!found) throw resourceNotFound(params.uri);
    return {
      contents: [
        { uri: found.uri, mimeType: found.mimeType, text: await found.read({ principal, transport }) },
      ],
    };
  });
}

function addPrompts(server: Server, served: Served, admit: Admit, ask: AskForeign): void {
  const { prompts, foreign } = served;
  server.setRequestHandler('prompts/list', async ({ params }, context) => {
    await admit(context);
    refuseCursor(params);
    const own = prompts.map(({ name, title, description, arguments: args }) => ({
      name,
      title,
      description,
      arguments: [...args],
    }));
    return { prompts: [...own, ...(((await foreign?.list())?.prompts ?? []) as never[])] };
  });
  server.setRequestHandler('prompts/get', async ({ params }, context) => {
    const principal = await admit(context);
    const found = prompts.find(({ name }) => name === params.name);
    const theirs = found ? undefined : await ask(principal, 'prompts/get', params, context);
    if (theirs) return theirs as never;
    if (!found)
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `Prompt not found: ${params.name.slice(0, 80)}`,
      );
    const given = params.arguments ?? {};
    const missing = found.arguments
      .filter(({ name, required }) => required && !lookup(given, name))
      .map(({ name }) => name);
    if (missing.length > 0)
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `The prompt ${found.name} needs: ${missing.join(', ')}`,
      );
    return {
      description: found.description,
      messages: [{ role: 'user', content: { type: 'text', text: found.text(given) } }],
    };
  });
}

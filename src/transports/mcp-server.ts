import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  type Implementation,
  ProtocolError,
  ProtocolErrorCode,
  type RequestStateCodec,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Principal } from '../contract/principal.ts';
import type { Exposure } from '../registry/exposure.ts';
import { builtListings } from '../render/built-listings.ts';
import { type McpListing, toMcpListing } from '../render/mcp.ts';
import { type Caller, callTool, identify, type QuestionState, TOKEN_KEY } from './call-tool.ts';
import type { Peer, Served, ServedResource } from './served.ts';
import { addTaskMethods, TaskServer, takesTasks } from './tasks.ts';

/** A long listing is still on its way through the pipe when its handler is done; loading must not hold it up. */
const LOAD_AFTER_MS = 100;

/** How long a person may take to answer a client's dialog. */
const QUESTION_SECONDS = 600;

const listings = new WeakMap<Exposure, Promise<McpListing[]>>();

/** The listing of an exposure never changes, so it is made once. */
export function listingOf(exposure: Exposure): Promise<McpListing[]> {
  const known = listings.get(exposure);
  if (known) return known;
  const made = makeListing(exposure);
  listings.set(exposure, made);
  return made;
}

async function makeListing(exposure: Exposure): Promise<McpListing[]> {
  const built = builtListings();
  const known = exposure.names.map((name) => built.get(name)).filter((listing) => listing !== undefined);
  if (known.length === exposure.names.length) return known;
  const tools = await exposure.listed();
  return tools.map(({ tool, toolkit }) => built.get(tool.name) ?? toMcpListing(tool, toolkit.dialect));
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
export function createMcpServer(served: Served, peer: Peer, around: Around = (call) => call()): Server {
  const codec = codecOf(served);
  const long = served.exposure.mayTakeLong;
  const server = new (long ? TaskServer : Server)(
    { name: served.name, version: served.version, title: 'Countersign' },
    {
      capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} },
      instructions: served.instructions,
      requestState: { verify: (state, context) => codec.verify(state, context) },
    },
  );
  const admit: Admit = (context) => identify(served, peer, context.mcpReq._meta?.[TOKEN_KEY]);
  server.setRequestHandler('tools/list', async (_request, context) => {
    await admit(context);
    const tools = await listingOf(served.exposure);
    // Who lists is about to call: the toolkits are loaded while the client reads. One that cannot be says so when called.
    setTimeout(() => void served.exposure.listed().catch(() => {}), LOAD_AFTER_MS).unref();
    return { tools: tools as never };
  });
  server.setRequestHandler('tools/call', ({ params }, context) =>
    around(() => callTool(served, peer, callerOf(served, server, context), params, context, codec), context),
  );
  if (long) addTaskMethods(server, served, admit);
  addResources(server, served.resources, peer.transport, admit);
  addPrompts(server, served, admit);
  server.setRequestHandler('completion/complete', () => ({ completion: { values: [] } }));
  return server;
}

/** Sees a call with the protocol's own context; the conformance fixtures need it, the product has none. */
export type Around = (
  call: () => ReturnType<typeof callTool>,
  context: ServerContext,
) => ReturnType<typeof callTool>;

/** Refuses a request without a token where one is needed. */
type Admit = (context: ServerContext) => Promise<Principal>;

function callerOf(served: Served, server: Server, context: ServerContext): Caller {
  const { mcpReq } = context;
  // The envelope's keys are plain strings on the wire; its type lists them under computed names.
  const envelope = mcpReq.envelope as { [key: string]: unknown } | undefined;
  const info = (envelope?.[CLIENT_INFO_META_KEY] ?? server.getClientVersion()) as Implementation | undefined;
  const capabilities = (envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities()) as
    | ClientCapabilities
    | undefined;
  return {
    client: info ? `${info.name}/${info.version}`.slice(0, 120) : undefined,
    canAsk: served.dialogs && capabilities?.elicitation !== undefined,
    takesTasks: takesTasks(context),
  };
}

function addResources(
  server: Server,
  resources: readonly ServedResource[],
  transport: string,
  admit: Admit,
): void {
  server.setRequestHandler('resources/list', async (_request, context) => {
    await admit(context);
    return {
      resources: resources.map(({ uri, name, title, description, mimeType }) => ({
        uri,
        name,
        title,
        description,
        mimeType,
      })),
    };
  });
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }));
  server.setRequestHandler('resources/read', async ({ params }, context) => {
    const principal = await admit(context);
    const found = resources.find(({ uri }) => uri === params.uri);
    if (!found)
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `There is no resource ${params.uri.slice(0, 200)}`,
        { uri: params.uri },
      );
    return {
      contents: [
        { uri: found.uri, mimeType: found.mimeType, text: await found.read({ principal, transport }) },
      ],
    };
  });
}

function addPrompts(server: Server, { prompts }: Served, admit: Admit): void {
  server.setRequestHandler('prompts/list', () => ({
    prompts: prompts.map(({ name, title, description, arguments: args }) => ({
      name,
      title,
      description,
      arguments: [...args],
    })),
  }));
  server.setRequestHandler('prompts/get', async ({ params }, context) => {
    await admit(context);
    const found = prompts.find(({ name }) => name === params.name);
    if (!found)
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `There is no prompt ${params.name.slice(0, 80)}`,
      );
    const given = params.arguments ?? {};
    const missing = found.arguments
      .filter(({ name, required }) => required && !given[name])
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

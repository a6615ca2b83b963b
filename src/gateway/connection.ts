import {
  type Client,
  type ClientCapabilities,
  type OAuthClientProvider,
  type PriorDiscovery,
  SSEClientTransport,
  type StandardSchemaV1,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio';
import type { JsonObject, JsonValue } from '../contract/json.ts';
import type { ServerSettings } from '../contract/servers.ts';
import type { RemoteLogMessage } from '../contract/tool.ts';
import { VERSION } from '../lib/log.ts';
import { lookup } from '../lib/lookup.ts';
import { ChildTransport } from './child.ts';
import { type CallOptions, ChildCalls, GatewayClient } from './child-calls.ts';
import { type Definition, isDefinition, WITHOUT_TOOLS } from './definition.ts';
import { QUESTION_METHODS } from './names.ts';
import { endCutRequests, resumeCalmly } from './streams.ts';
import { fetchRepaired, originalResult, shieldResult } from './wire.ts';

/** A server that never answers a question it does not know is taken for a legacy one after this time. */
const PROBE_MS = 5_000;
const MAX_PAGES = 64;
/** The kernel's deadline ends a call; the SDK's own must never come first. */
const NO_TIMEOUT = 2 ** 31 - 1;

/** Accepts a result as it is: the SDK's own schemas strip what they do not know. */
export const RAW: StandardSchemaV1<unknown, JsonObject> = {
  '~standard': { version: 1, vendor: 'raw', validate: (value) => ({ value: value as JsonObject }) },
};

/** What a server announces of its own accord. */
export type ServerEvent =
  | { readonly kind: 'tools' | 'prompts' | 'resources' }
  | { readonly kind: 'updated'; readonly uri: string };

export interface Connection {
  readonly client: Client;
  readonly pid: number | undefined;
  readonly era: PriorDiscovery;
  readonly definitions: readonly Definition[];
  readonly offers: JsonObject;
  /** Sends one request and gives the result as the server gave it. */
  request(method: string, params: JsonObject, options: RequestOptions): Promise<JsonObject>;
  close(): Promise<void>;
}

export interface RequestOptions extends CallOptions {
  readonly headers?: Readonly<Record<string, string>>;
}

export interface OpenOptions {
  /** With every reference replaced by its value. */
  readonly settings: ServerSettings;
  readonly prior: PriorDiscovery | undefined;
  /** Set for a server that a person signed in to. */
  readonly authorization: OAuthClientProvider | undefined;
  readonly onLog: (text: string) => void;
  /** A legacy server's question; it names no call, so calls to it run one at a time. */
  readonly onAsk: (request: JsonObject) => Promise<JsonObject>;
  /** The server says that one of its lists, or a resource, is another now. */
  readonly onEvent: (event: ServerEvent) => void;
  readonly onMessage: (message: RemoteLogMessage) => void;
  readonly onClose: () => void;
}

/** Starts or reaches a server, agrees on a protocol generation and reads what it offers. */
export async function openConnection(options: OpenOptions): Promise<Connection> {
  const timeout = options.settings.start_seconds * 1000;
  const transport = transportFor(options);
  const client = new GatewayClient(
    { name: 'countersign', version: VERSION },
    {
      capabilities: askCapabilities(options.settings.may_ask),
      versionNegotiation: { mode: 'auto', probe: { timeoutMs: Math.min(PROBE_MS, timeout) } },
      inputRequired: { autoFulfill: false },
    },
  );
  for (const kind of options.settings.may_ask) {
    const method = QUESTION_METHODS[kind];
    client.setRequestHandler(method, { params: RAW }, async (params) => ({
      ...(await options.onAsk({ method, params })),
    }));
  }
  client.onerror = (error) => options.onLog(`[${error.message.split('\n')[0]}]\n`);
  let open = false;
  let calls: ChildCalls | undefined;
  client.onclose = () => {
    if (open) options.onClose();
    calls?.close();
  };
  const close = async (): Promise<void> => {
    open = false;
    await client.close().catch(() => {});
    await transport.close().catch(() => {});
  };
  try {
    await client.connect(transport, { timeout, prior: options.prior });
    endCutRequests(transport);
    const deliver = transport.onmessage;
    if (transport instanceof ChildTransport) calls = new ChildCalls(transport, client);
    transport.onmessage = (message, extra) => {
      if (!calls?.take(message)) deliver?.(shieldResult(message), extra);
    };
    const listed = await readOffers(client, timeout);
    open = true;
    follow(client, options);
    const pid = transport instanceof ChildTransport ? transport.pid : undefined;
    const request: Connection['request'] = (method, params, how) =>
      calls && method === 'tools/call' ? calls.call(params, how) : requestBySdk(client, method, params, how);
    return { client, pid, era: eraOf(client), ...listed, request, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function requestBySdk(
  client: Client,
  method: string,
  params: JsonObject,
  { signal, headers, onProgress }: RequestOptions,
): Promise<JsonObject> {
  const result = await client.request({ method, params }, RAW, {
    signal,
    timeout: NO_TIMEOUT,
    headers,
    onprogress: onProgress && ((progress) => onProgress(progress)),
    allowInputRequired: true,
  });
  return originalResult(result);
}

function transportFor({ settings, onLog, authorization }: OpenOptions): Transport {
  const { env, headers } = settings;
  const { command, args, cwd, url, transport } = settings;
  if (url !== undefined) {
    const how = {
      requestInit: { headers: { ...headers } },
      authProvider: authorization,
      fetch: fetchRepaired,
    };
    return transport === 'sse'
      ? new SSEClientTransport(new URL(url), how)
      : new StreamableHTTPClientTransport(new URL(url), { ...how, reconnectionScheduler: resumeCalmly });
  }
  // The rest of our own environment is not passed on: it may hold the secrets of other servers.
  return new ChildTransport({
    command: command ?? '',
    args,
    cwd,
    env: { ...getDefaultEnvironment(), ...env },
    onLog,
  });
}

/** Declared only where the configuration allows it: a server asks nothing that was not declared to it. */
function askCapabilities(mayAsk: ServerSettings['may_ask']): ClientCapabilities {
  return {
    ...(mayAsk.includes('elicitation') ? { elicitation: { form: {}, url: {} } } : {}),
    ...(mayAsk.includes('sampling') ? { sampling: {} } : {}),
    ...(mayAsk.includes('roots') ? { roots: {} } : {}),
  };
}

function eraOf(client: Client): PriorDiscovery {
  const discover = client.getProtocolEra() === 'modern' ? client.getDiscoverResult() : undefined;
  return discover ? { kind: 'modern', discover } : { kind: 'legacy' };
}

export async function readOffers(
  client: Client,
  timeout: number,
): Promise<Pick<Connection, 'definitions' | 'offers'>> {
  const can = client.getServerCapabilities() ?? {};
  const pages = (wanted: unknown, method: string, key: string): Promise<JsonValue[]> =>
    wanted === undefined ? Promise.resolve([]) : readPages(client, method, key, timeout);
  const [tools, resources, templates, prompts] = await Promise.all([
    pages(can.tools, 'tools/list', 'tools'),
    pages(can.resources, 'resources/list', 'resources').catch(() => []),
    pages(can.resources, 'resources/templates/list', 'resourceTemplates').catch(() => []),
    pages(can.prompts, 'prompts/list', 'prompts').catch(() => []),
  ]);
  // A second tool of the same name could stand for the first in a person's eyes; it is not offered.
  const byName = new Map<string, Definition>();
  for (const tool of tools) if (isDefinition(tool) && !byName.has(tool.name)) byName.set(tool.name, tool);
  const offers = {
    resources,
    templates,
    prompts,
    capabilities: can as JsonObject,
    info: (client.getServerVersion() ?? {}) as unknown as JsonObject,
    instructions: client.getInstructions() ?? null,
  };
  const hasOffers = resources.length + templates.length + prompts.length > 0;
  const definitions = byName.size === 0 && hasOffers ? [WITHOUT_TOOLS] : [...byName.values()];
  return { definitions, offers };
}

async function readPages(client: Client, method: string, key: string, timeout: number): Promise<JsonValue[]> {
  const all: JsonValue[] = [];
  let cursor: JsonValue | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const params = cursor === undefined ? {} : { cursor };
    const result = await client.request({ method, params }, RAW, { timeout });
    const found = lookup(result, key);
    if (Array.isArray(found)) all.push(...found);
    cursor = result.nextCursor;
    if (typeof cursor !== 'string') return all;
  }
  throw new Error(`The server lists more than ${MAX_PAGES} pages of ${key}.`);
}

const CHANGES = {
  tools: 'notifications/tools/list_changed',
  prompts: 'notifications/prompts/list_changed',
  resources: 'notifications/resources/list_changed',
} as const;

function follow(client: Client, { onEvent, onMessage }: OpenOptions): void {
  for (const kind of ['tools', 'prompts', 'resources'] as const)
    client.setNotificationHandler(CHANGES[kind], () => onEvent({ kind }));
  client.setNotificationHandler('notifications/resources/updated', ({ params }) =>
    onEvent({ kind: 'updated', uri: params.uri }),
  );
  client.setNotificationHandler('notifications/message', ({ params: { level, logger, data } }) =>
    onMessage({ level, logger, data: data as JsonValue }),
  );
}

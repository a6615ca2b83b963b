import type { JSONRPCMessage, RequestId, Server, Transport } from '@modelcontextprotocol/server';
import { ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { BoundTool } from '../contract/toolkit.ts';
import { isObject } from '../lib/is-object.ts';
import { callPlainTool } from './call-tool.ts';
import type { Peer, Served } from './served.ts';

type Meta = Readonly<Record<string, unknown>>;

interface PlainCall {
  readonly id: RequestId;
  readonly owned: BoundTool;
  readonly args: Readonly<Record<string, unknown>>;
  readonly meta: Meta | undefined;
}

const MESSAGE: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'params']);
/** What a plain call may have; a task, an answer to a question or an unknown field is the SDK's to check. */
const PARAMS: ReadonlySet<string> = new Set(['name', 'arguments', '_meta']);

/**
 * Hands the plain tool calls of a connection of 2025 straight to the kernel. The SDK checks every message several times
 * over and prepares for questions, tasks and progress: a third of what a call costs. A call that could need any of
 * these, and everything that is not a call, still takes the SDK's way; the client cannot tell the two apart.
 */
export class DirectCalls {
  readonly #transport: Transport;
  readonly #served: Served;
  readonly #peer: Peer;
  readonly #running = new Map<RequestId, AbortController>();
  #server: Server | undefined;
  #client: string | undefined;
  /** The list of names that the tools below belong to: another list means other tools. */
  #names: readonly string[] = [];
  #tools = new Map<string, BoundTool | undefined>();

  constructor(transport: Transport, served: Served, peer: Peer) {
    this.#transport = transport;
    this.#served = served;
    this.#peer = peer;
  }

  /** The SDK's server of this connection; calls are taken once its client has introduced itself. */
  serve(server: Server): void {
    this.#server = server;
  }

  /** Sees every message before the SDK does. To be called when the SDK has attached itself to the transport. */
  attach(): void {
    const transport = this.#transport;
    const { onmessage, onclose } = transport;
    transport.onmessage = (message, extra) => {
      const call = this.#plainCall(message);
      if (call) void this.#answer(call);
      else {
        this.#cancel(message);
        onmessage?.(message, extra);
      }
    };
    transport.onclose = () => {
      for (const stop of this.#running.values()) stop.abort(new Error('The connection was closed.'));
      onclose?.();
    };
  }

  #plainCall(message: JSONRPCMessage): PlainCall | undefined {
    if (!('method' in message) || message.method !== 'tools/call' || !('id' in message)) return undefined;
    const { id } = message;
    const params: unknown = message.params;
    if (!this.#isIntroduced() || !isObject(params)) return undefined;
    if (!hasOnly(message, MESSAGE) || !hasOnly(params, PARAMS)) return undefined;
    const { name, arguments: args = {}, _meta: meta } = params;
    if (typeof name !== 'string' || !isObject(args)) return undefined;
    if (meta !== undefined && !(isObject(meta) && isPlainMeta(meta))) return undefined;
    const owned = this.#plainTool(name);
    return owned && { id, owned, args, meta };
  }

  #isIntroduced(): boolean {
    if (this.#client !== undefined) return true;
    const info = this.#server?.getClientVersion();
    if (!info) return false;
    this.#client = `${info.name}/${info.version}`;
    return true;
  }

  /** Known from the second call on: the first takes the SDK's way while the tool is looked up. */
  #plainTool(name: string): BoundTool | undefined {
    const { exposure } = this.#served;
    if (exposure.options.discovery) return undefined;
    const { names } = exposure;
    if (names !== this.#names) {
      this.#names = names;
      this.#tools = new Map();
    }
    const tools = this.#tools;
    const known = tools.get(name);
    if (known || tools.has(name) || !names.includes(name)) return known;
    exposure.find(name).then(
      (found) => void tools.set(name, found && isPlain(found) ? found : undefined),
      () => {},
    );
    return undefined;
  }

  async #answer({ id, owned, args, meta }: PlainCall): Promise<void> {
    const stop = new AbortController();
    this.#running.set(id, stop);
    let reply: object;
    try {
      const { signal } = stop;
      const request = { args, meta, signal, client: this.#client };
      reply = { result: await callPlainTool(this.#served, this.#peer, owned, request) };
    } catch (error) {
      reply = { error: toRpcError(error) };
    }
    if (this.#running.get(id) === stop) this.#running.delete(id);
    // A client that cancelled waits for no answer.
    if (stop.signal.aborted) return;
    this.#transport.send({ ...reply, jsonrpc: '2.0', id } as JSONRPCMessage).catch(() => {});
  }

  #cancel(message: JSONRPCMessage): void {
    if (this.#running.size === 0 || !('method' in message) || message.method !== 'notifications/cancelled')
      return;
    const { requestId, reason } = (message.params ?? {}) as { requestId?: RequestId; reason?: unknown };
    if (requestId !== undefined) this.#running.get(requestId)?.abort(reason);
  }
}

/** What asks a person or another server, becomes a task or comes from another server needs more than a reply. */
const isPlain = ({ tool, toolkit }: BoundTool): boolean =>
  tool.effect !== 'decide' &&
  !tool.asksClient &&
  !tool.mayTakeLong &&
  !tool.definition &&
  !toolkit.dialect.passOn;

function hasOnly(fields: object, known: ReadonlySet<string>): boolean {
  for (const name in fields) if (!known.has(name)) return false;
  return true;
}

/** A token asks for progress, and what the protocol reserves is the SDK's to read. */
function isPlainMeta(meta: Meta): boolean {
  for (const key in meta)
    if (key === 'progressToken' || key.startsWith('io.modelcontextprotocol/')) return false;
  return true;
}

/** As the SDK reports what a handler throws. */
function toRpcError(error: unknown): object {
  const { code, message, data } = error as { code?: unknown; message?: string; data?: unknown };
  return {
    code: Number.isSafeInteger(code) ? code : ProtocolErrorCode.InternalError,
    message: message ?? 'Internal error',
    ...(data === undefined ? {} : { data }),
  };
}

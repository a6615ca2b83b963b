import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type JSONRPCMessage,
  type JSONRPCRequest,
  type RequestId,
  type TransportSendOptions,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';

/** As often as the SDK's own streams: proxies close a connection that is silent for longer. */
const KEEP_ALIVE_MS = 15_000;

/**
 * A session of a 2025 client. The SDK serves it, except for its plain requests: those are nearly all there are, and
 * taking each through web streams costs more than the call itself. They are answered on the connection directly, as
 * JSON unless something has to reach the client before the result.
 */
export class SessionTransport extends WebStandardStreamableHTTPServerTransport {
  readonly #replies = new Map<RequestId, Reply>();

  /** Serves one request that is known to belong to this session. */
  answer(message: JSONRPCRequest, incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { id } = message;
    const reply = new Reply(outgoing, this.sessionId ?? '', () => {
      if (this.#replies.get(id) === reply) this.#replies.delete(id);
    });
    this.#replies.set(id, reply);
    this.onmessage?.(message, { request: new ConnectedRequest(incoming, outgoing) as unknown as Request });
  }

  /** An ID that is in use names two requests, and their answers could not be told apart. */
  isAnswering(id: RequestId): boolean {
    return this.#replies.has(id);
  }

  override async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const isResponse = !('method' in message);
    const id = isResponse ? message.id : options?.relatedRequestId;
    const reply = id === undefined ? undefined : this.#replies.get(id);
    if (!reply) return super.send(message, options);
    if (isResponse) reply.end(message);
    else reply.send(message);
  }

  override async close(): Promise<void> {
    for (const reply of this.#replies.values()) reply.end();
    await super.close();
  }
}

/** The answer to one request: one JSON text, or a stream of events once there is more to send than the result. */
class Reply {
  readonly #outgoing: ServerResponse;
  readonly #session: string;
  readonly #silent: NodeJS.Timeout;

  constructor(outgoing: ServerResponse, session: string, onClose: () => void) {
    this.#outgoing = outgoing;
    this.#session = session;
    this.#silent = setInterval(() => this.#write(': keepalive\n\n'), KEEP_ALIVE_MS).unref();
    outgoing.once('close', () => {
      clearInterval(this.#silent);
      onClose();
    });
  }

  send(message: JSONRPCMessage): void {
    this.#write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  }

  end(result?: JSONRPCMessage): void {
    clearInterval(this.#silent);
    if (!result || this.#outgoing.headersSent) {
      if (result) this.send(result);
      else this.#write('');
      this.#outgoing.end();
      return;
    }
    const text = JSON.stringify(result);
    this.#outgoing.writeHead(200, [
      'Content-Type',
      'application/json',
      'Content-Length',
      String(Buffer.byteLength(text)),
      'mcp-session-id',
      this.#session,
    ]);
    this.#outgoing.end(text);
  }

  #write(text: string): void {
    if (!this.#outgoing.headersSent)
      this.#outgoing.writeHead(200, {
        'Content-Type': 'text/event-stream',
        'Cache-Control': 'no-cache, no-transform',
        Connection: 'keep-alive',
        'X-Accel-Buffering': 'no',
        'mcp-session-id': this.#session,
      });
    this.#outgoing.write(text);
  }
}

/** As much of a web request as a handler asks for: whether its client is still there. Most never ask. */
class ConnectedRequest implements Pick<Request, 'headers' | 'signal'> {
  readonly #incoming: IncomingMessage;
  readonly #outgoing: ServerResponse;
  #left: AbortController | undefined;

  constructor(incoming: IncomingMessage, outgoing: ServerResponse) {
    this.#incoming = incoming;
    this.#outgoing = outgoing;
  }

  get headers(): Headers {
    return new Headers(Object.entries(this.#incoming.headersDistinct).flatMap(toPairs));
  }

  get signal(): AbortSignal {
    if (this.#left) return this.#left.signal;
    const left = new AbortController();
    this.#left = left;
    const outgoing = this.#outgoing;
    const leave = (): void => {
      if (!outgoing.writableFinished) left.abort();
    };
    if (outgoing.closed) leave();
    else outgoing.once('close', leave);
    return left.signal;
  }
}

const toPairs = ([name, values]: [string, string[] | undefined]): [string, string][] =>
  (values ?? []).map((value) => [name, value]);

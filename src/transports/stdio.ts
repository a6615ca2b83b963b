import { randomUUID } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { type StdioServerHandle, serveStdio } from '@modelcontextprotocol/server/stdio';
import { hasPrototypeKey } from '../lib/json-shape.ts';
import { identify } from './call-tool.ts';
import { DirectCalls } from './direct-calls.ts';
import { requireStdioPrincipal } from './identity.ts';
import { ClientLeft, trackCalls } from './in-flight.ts';
import { createConnectionServer } from './mcp-server.ts';
import type { Peer, Served } from './served.ts';
import { followListens } from './subscriptions.ts';
import { closeTasks } from './tasks.ts';

/** Far above any message a tool accepts; a line beyond it can only be an attack or a mistake. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;

export interface LineOptions {
  /** Until `allowLongLines`. */
  readonly maxLine?: number;
  /**
   * Ends the connection if its first message does not begin as JSON. Any web page can send a request to a port of this
   * machine, over HTTP or TLS, and some line of it may hold a whole message.
   */
  readonly onlyJson?: boolean;
  /** Whether there is room for so many more bytes of a line beyond `maxLine`; `free` gives back what was taken. */
  readonly room?: { take(bytes: number): boolean; free(bytes: number): void };
}

/** `{` and `[`. */
const JSON_STARTS: readonly number[] = [0x7b, 0x5b];
const WHITESPACE: readonly number[] = [0x20, 0x09, 0x0d];

/**
 * Newline-delimited JSON-RPC over two streams: stdio, or a socket. Unlike the SDK's own it answers a broken line with an
 * error instead of ending the connection, so that one bad message loses nothing else.
 */
export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Called when the other end has gone. Its owner closes the transport once running calls have ended. */
  onend?: () => void;
  /** Called with each message that could be read, before it is handled. */
  onread?: () => void;
  readonly #input: Readable;
  readonly #output: Writable;
  #parts: Buffer[] = [];
  #size = 0;
  #skipping = false;
  #closed = false;
  #outgoing = '';
  #maxLine: number;
  readonly #shortLine: number;
  readonly #room: LineOptions['room'];
  #taken = 0;
  /** Set until the first line has begun as a message does. */
  #isUnproven: boolean;
  /** Requests taken and not yet answered. */
  readonly #unanswered = new Set<unknown>();
  #onAnswered: (() => void) | undefined;

  constructor(
    input: Readable,
    output: Writable,
    { maxLine = MAX_LINE_BYTES, onlyJson = false, room }: LineOptions = {},
  ) {
    this.#input = input;
    this.#output = output;
    this.#maxLine = maxLine;
    this.#shortLine = maxLine;
    this.#isUnproven = onlyJson;
    this.#room = room;
  }

  /** Requests that were taken and not answered yet. */
  get unanswered(): number {
    return this.#unanswered.size;
  }

  /** True while a line has begun and not ended. */
  get isWithinLine(): boolean {
    return this.#size > 0;
  }

  /** Takes lines of any sensible length from now on. */
  allowLongLines(): void {
    this.#maxLine = MAX_LINE_BYTES;
  }

  async start(): Promise<void> {
    this.#input.on('data', this.#onData);
    this.#input.on('end', this.#onEnd);
    this.#input.on('close', this.#onEnd);
    this.#input.on('error', this.#onError);
    this.#output.on('error', this.#onError);
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (this.#closed) return Promise.resolve();
    if (!('method' in message)) this.#settle(message.id);
    // Replies that come about together leave in one write: with many calls in flight the writes cost more than the calls.
    if (this.#outgoing === '') process.nextTick(this.#flush);
    this.#outgoing += `${JSON.stringify(message)}\n`;
    if (!this.#output.writableNeedDrain) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        this.#output.off('drain', done).off('close', done);
        resolve();
      };
      this.#output.on('drain', done).on('close', done);
    });
  }

  readonly #flush = (): void => {
    const text = this.#outgoing;
    this.#outgoing = '';
    if (!this.#output.writableEnded && !this.#output.destroyed) this.#output.write(text);
  };

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.stopReading();
    this.#giveBack();
    this.onclose?.();
  }

  /** Resolves when every request taken so far is answered. */
  answered(): Promise<void> {
    return new Promise((resolve) => {
      this.#onAnswered = resolve;
      this.#settle(undefined);
    });
  }

  #settle(id: unknown): void {
    this.#unanswered.delete(id);
    // After what is being sent has been written.
    if (this.#unanswered.size === 0 && this.#onAnswered) setImmediate(this.#onAnswered);
  }

  #note(message: JSONRPCMessage): void {
    this.onread?.();
    if (!('method' in message)) return;
    // A subscription is answered when it ends, and a cancelled request never.
    if ('id' in message && message.method !== 'subscriptions/listen') this.#unanswered.add(message.id);
    if (message.method === 'notifications/cancelled') this.#settle(message.params?.requestId);
  }

  /** Takes no further message; replies to those taken can still be sent. */
  stopReading(): void {
    this.#input.off('data', this.#onData);
    this.#input.off('end', this.#onEnd);
    this.#input.off('close', this.#onEnd);
    this.#input.pause();
  }

  readonly #onEnd = (): void => {
    if (this.onend) this.onend();
    else void this.close();
  };

  readonly #onError = (error: Error): void => {
    this.onerror?.(error);
    this.#onEnd();
  };

  readonly #onData = (chunk: Buffer | string): void => {
    let rest = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    while (!this.#closed) {
      const end = rest.indexOf(0x0a);
      if (end === -1) break;
      this.#take(rest.subarray(0, end));
      if (this.#closed) return;
      this.#finishLine();
      rest = rest.subarray(end + 1);
    }
    if (rest.length > 0 && !this.#closed) this.#take(rest);
  };

  #take(part: Buffer): void {
    if (this.#isUnproven) {
      const first = part.find((byte) => !WHITESPACE.includes(byte));
      if (first !== undefined && !JSON_STARTS.includes(first)) {
        this.#hangUp();
        return;
      }
      this.#isUnproven = first === undefined;
    }
    this.#size += part.length;
    if (this.#skipping) return;
    if (this.#size > this.#maxLine)
      this.#skip(`The message is larger than ${this.#maxLine / 1024 / 1024} MB.`);
    else if (!this.#hasRoom())
      this.#skip('The server is receiving too many large messages. Try again later.');
    else this.#parts.push(part);
  }

  #hasRoom(): boolean {
    const more = this.#size - this.#shortLine - this.#taken;
    if (!this.#room || more <= 0) return true;
    if (!this.#room.take(more)) return false;
    this.#taken += more;
    return true;
  }

  #giveBack(): void {
    if (this.#taken > 0) this.#room?.free(this.#taken);
    this.#taken = 0;
  }

  #skip(why: string): void {
    this.#skipping = true;
    this.#parts = [];
    this.#giveBack();
    this.#fail(-32600, why);
  }

  #finishLine(): void {
    const [first] = this.#parts;
    const line =
      this.#parts.length === 1 && first
        ? first.toString('utf8')
        : Buffer.concat(this.#parts).toString('utf8');
    const skipped = this.#skipping;
    this.#parts = [];
    this.#size = 0;
    this.#giveBack();
    this.#skipping = false;
    if (skipped || line.trim() === '') return;
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      this.#fail(-32700, 'Parse error: the line is not JSON. One JSON-RPC message per line is expected.');
      return;
    }
    if (hasPrototypeKey(line, message)) {
      this.#fail(-32600, 'Invalid request: the key "__proto__" is not allowed.', idOf(message));
      return;
    }
    if (!isMessage(message)) {
      this.#fail(
        -32600,
        'Invalid request: a JSON-RPC 2.0 object with a method, or a response, is expected.',
        idOf(message),
      );
      return;
    }
    this.#note(message);
    try {
      this.onmessage?.(message);
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #hangUp(): void {
    this.onerror?.(new Error('The connection did not begin with a JSON-RPC message and was closed.'));
    void this.close();
    this.#input.destroy();
  }

  #fail(code: number, message: string, id: string | number | null = null): void {
    this.onerror?.(new Error(message));
    void this.send({ jsonrpc: '2.0', id, error: { code, message } } as unknown as JSONRPCMessage);
  }
}

function isMessage(value: unknown): value is JSONRPCMessage {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return false;
  if (!('jsonrpc' in value) || value.jsonrpc !== '2.0') return false;
  if ('id' in value && !(typeof value.id === 'string' || Number.isSafeInteger(value.id))) return false;
  if ('method' in value) {
    const params = 'params' in value ? value.params : {};
    return (
      typeof value.method === 'string' &&
      params !== null &&
      typeof params === 'object' &&
      !Array.isArray(params)
    );
  }
  return 'id' in value && ('result' in value || 'error' in value);
}

function idOf(value: unknown): string | number | null {
  if (value === null || typeof value !== 'object' || !('id' in value)) return null;
  return typeof value.id === 'string' || Number.isSafeInteger(value.id)
    ? (value.id as string | number)
    : null;
}

/** Serves one lasting connection, in the generation that the client opens with. */
export function serveConnection(transport: Transport, served: Served, who: Peer): StdioServerHandle {
  const peer = { ...who, connection: randomUUID() };
  const direct = new DirectCalls(transport, served, peer);
  const handle = serveStdio(
    ({ era }) => {
      const server = createConnectionServer(served, peer, era);
      if (era === 'legacy') direct.serve(server);
      return server;
    },
    { transport, onerror: (error) => served.log.debug(peer.transport, { error: error.message }) },
  );
  direct.attach();
  followListens(transport, served, () => identify(served, peer, undefined), peer.transport);
  return handle;
}

/** Clients give a server between half a second and two before they kill it. */
const FINISH_MS = 1_400;
const RECORD_MS = 300;

/**
 * Serves on this process's own streams until the client leaves. Clients differ in how they do that: some close stdin,
 * some send SIGINT and SIGTERM and leave stdin open, and a terminal that closes sends SIGHUP. All mean the same.
 */
export async function serveOnStdio(served: Served, token: string | undefined): Promise<void> {
  await requireStdioPrincipal(served, token);
  const calls = trackCalls(served);
  const transport = new LineTransport(process.stdin, process.stdout);
  const how = await new Promise<string>((resolve) => {
    transport.onend = () => resolve('it closed the connection');
    // Never removed: a second signal must not cut short what the first one began.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.on(signal, () => resolve(`it sent ${signal}`));
    serveConnection(transport, calls.served, { transport: 'stdio', token });
  });
  transport.stopReading();
  await calls.leave(new ClientLeft(how), transport.answered(), FINISH_MS);
  await transport.close();
  // What was told to stop just now still has to be recorded before the database is closed.
  await calls.ended(RECORD_MS);
  await closeTasks(calls.served);
  // An open pipe would keep the process alive after everything else has ended.
  process.stdin.destroy();
}

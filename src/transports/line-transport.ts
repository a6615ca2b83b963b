import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';

import { hasPrototypeKey } from '../lib/json-shape.ts';

/** Far above any message a tool accepts; a line beyond it can only be an attack or a mistake. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;

/** Any web page can send a request to a port of this machine, and its body may hold a whole message. */
const HTTP_REQUEST = /^[A-Z]+ \S+ HTTP\/\d/;

/**
 * Newline-delimited JSON-RPC over two streams: stdio, or a socket. Unlike the SDK's own it answers a broken line with an
 * error instead of ending the connection, so that one bad message loses nothing else.
 */
export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #input: Readable;
  readonly #output: Writable;
  #parts: Buffer[] = [];
  #size = 0;
  #skipping = false;
  #closed = false;
  #outgoing = '';

  constructor(input: Readable, output: Writable) {
    this.#input = input;
    this.#output = output;
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
    this.#input.off('data', this.#onData);
    this.#input.off('end', this.#onEnd);
    this.#input.off('close', this.#onEnd);
    this.#input.pause();
    this.onclose?.();
  }

  readonly #onEnd = (): void => void this.close();

  readonly #onError = (error: Error): void => {
    this.onerror?.(error);
    void this.close();
  };

  readonly #onData = (chunk: Buffer | string): void => {
    let rest = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    while (!this.#closed) {
      const end = rest.indexOf(0x0a);
      if (end === -1) break;
      this.#take(rest.subarray(0, end));
      this.#finishLine();
      rest = rest.subarray(end + 1);
    }
    if (rest.length > 0 && !this.#closed) this.#take(rest);
  };

  #take(part: Buffer): void {
    this.#size += part.length;
    if (this.#skipping) return;
    if (this.#size > MAX_LINE_BYTES) {
      this.#skipping = true;
      this.#parts = [];
      this.#fail(-32600, `The message is larger than ${MAX_LINE_BYTES / 1024 / 1024} MB.`);
    } else {
      this.#parts.push(part);
    }
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
    this.#skipping = false;
    if (skipped || line.trim() === '') return;
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      if (HTTP_REQUEST.test(line)) this.#hangUp();
      else
        this.#fail(-32700, 'Parse error: the line is not JSON. One JSON-RPC message per line is expected.');
      return;
    }
    if (line.includes('__proto__') && hasPrototypeKey(message)) {
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
    try {
      this.onmessage?.(message);
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #hangUp(): void {
    this.onerror?.(new Error('This is no HTTP server; the connection was closed.'));
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

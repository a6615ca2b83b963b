import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ByteShare, Connections } from './connections.ts';

const MB = 1024 * 1024;
const MAX_BODY_BYTES = 16 * MB;
/** What one sender may make this process keep of unanswered requests, in addition to the beginning of each. */
const MAX_KEPT_BYTES = 64 * MB;
/** Nearly every request is smaller: those are never refused because of large ones. */
const FREE_BYTES = 256 * 1024;

/** What clients may occupy: connections, requests in service, and memory for bodies. A sender is known before its body is read. */
export class Intake {
  readonly #connections: Connections;
  readonly #bytes = new ByteShare(MAX_KEPT_BYTES);
  readonly #received = new WeakMap<IncomingMessage, Promise<Buffer | Response>>();
  readonly #begun = new WeakSet<IncomingMessage>();

  constructor(maxConnections: number) {
    this.#connections = new Connections(maxConnections);
  }

  /** False when every connection is being served. */
  accept(socket: Socket): boolean {
    return this.#connections.add(socket);
  }

  /** The body, or why it is not read to its end. Asked again, it gives the same. */
  receive(incoming: IncomingMessage, outgoing: ServerResponse, owner: string): Promise<Buffer | Response> {
    const reading = this.#received.get(incoming) ?? this.#read(incoming, outgoing, owner);
    this.#received.set(incoming, reading);
    // A copy each time: a refusal that was sent cannot be sent again.
    return reading.then((body) => (Buffer.isBuffer(body) ? body : body.clone()));
  }

  /** Counts the request as being served until it is answered; the refusal when its sender has its share of them. */
  begin(incoming: IncomingMessage, outgoing: ServerResponse, owner: string): Response | undefined {
    if (this.#begun.has(incoming)) return undefined;
    const end = this.#connections.serve(incoming.socket, owner);
    if (!end)
      return refuse(
        429,
        'QUOTA_EXCEEDED',
        `${owner} already has ${this.#connections.share} requests in progress, half of server.max_connections. Wait for some to end.`,
      );
    this.#begun.add(incoming);
    onceClosed(outgoing, end);
    return undefined;
  }

  async #read(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    owner: string,
  ): Promise<Buffer | Response> {
    const announced = Number(incoming.headers['content-length'] ?? 0);
    if (announced > MAX_BODY_BYTES) return tooLarge();
    let size = 0;
    let counted = 0;
    const body = await readAll(incoming, (bytes) => {
      size += bytes;
      if (size > MAX_BODY_BYTES) return tooLarge();
      const more = Math.max(0, size - FREE_BYTES) - counted;
      if (!this.#bytes.take(owner, more)) return noRoom(owner);
      counted += more;
      return undefined;
    });
    if (!Buffer.isBuffer(body)) this.#bytes.give(owner, counted);
    else {
      onceClosed(outgoing, () => this.#bytes.give(owner, counted));
      // Under this name hono's server finds a body that was read before it.
      Object.assign(incoming, { rawBody: body });
    }
    return body;
  }
}

/** Collects a body while `check` finds nothing wrong with the bytes that arrived; what arrives afterwards is not kept. */
function readAll(
  incoming: IncomingMessage,
  check: (bytes: number) => Response | undefined,
): Promise<Buffer | Response> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const finish = (result: Buffer | Response): void => {
      incoming.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
      resolve(result);
    };
    const onData = (chunk: Buffer): void => {
      const refusal = check(chunk.length);
      if (!refusal) return void chunks.push(chunk);
      incoming.pause();
      finish(refusal);
    };
    const onEnd = (): void => finish(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
    const onClose = (): void =>
      finish(refuse(400, 'INVALID_INPUT', 'The connection ended before the request.'));
    incoming.on('data', onData).once('end', onEnd).once('close', onClose).on('error', onClose);
  });
}

function onceClosed(outgoing: ServerResponse, then: () => void): void {
  if (outgoing.closed) then();
  else outgoing.once('close', then);
}

const tooLarge = (): Response =>
  refuse(413, 'INVALID_INPUT', `The request is larger than ${MAX_BODY_BYTES / MB} MB.`);

const noRoom = (owner: string): Response =>
  refuse(
    429,
    'QUOTA_EXCEEDED',
    `${owner} already has ${MAX_KEPT_BYTES / MB} MB of requests in progress. Wait for some to end.`,
  );

const refuse = (status: number, code: string, message: string): Response =>
  Response.json({ success: false, error: message, error_code: code }, { status });

import type { Socket } from 'node:net';

/**
 * The connections of one listener. When all are taken, one that is not being served makes room: a client that connects and
 * sends nothing, or ever half a request, keeps no one out. And no owner's requests occupy more than half.
 */
export class Connections {
  readonly #limit: number;
  /** In the order in which they began to wait, with the number of requests that each is being served. */
  readonly #open = new Map<Socket, number>();
  readonly #served = new Map<string, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** What one owner may occupy. */
  get share(): number {
    return Math.ceil(this.#limit / 2);
  }

  /** False when every connection is being served, so that there is no room for another. */
  add(socket: Socket): boolean {
    if (this.#open.size >= this.#limit && !this.#makeRoom()) return false;
    this.#open.set(socket, 0);
    socket.once('close', () => this.#open.delete(socket));
    return true;
  }

  /** Counts a request as being served until the returned function is called; undefined when the owner has its share. */
  serve(socket: Socket, owner: string): (() => void) | undefined {
    const own = this.#served.get(owner) ?? 0;
    if (own >= this.share) return undefined;
    this.#served.set(owner, own + 1);
    this.#move(socket, 1);
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      const left = (this.#served.get(owner) ?? 1) - 1;
      if (left > 0) this.#served.set(owner, left);
      else this.#served.delete(owner);
      this.#move(socket, -1);
    };
  }

  #move(socket: Socket, by: 1 | -1): void {
    const count = this.#open.get(socket);
    if (count === undefined) return;
    this.#open.delete(socket);
    this.#open.set(socket, count + by);
  }

  /** Closes the connection that waits longest, of the address with the most that wait. */
  #makeRoom(): boolean {
    const waiting = new Map<string, Socket[]>();
    for (const [socket, count] of this.#open) {
      if (count > 0) continue;
      const address = socket.remoteAddress ?? '';
      const others = waiting.get(address);
      if (others) others.push(socket);
      else waiting.set(address, [socket]);
    }
    const [most] = [...waiting.values()].sort((a, b) => b.length - a.length);
    const [oldest] = most ?? [];
    if (!oldest) return false;
    this.#open.delete(oldest);
    oldest.destroy();
    return true;
  }
}

/** Bytes of requests that have not been answered: how many one owner may make this process keep. */
export class ByteShare {
  readonly #limit: number;
  readonly #kept = new Map<string, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** False, and nothing is counted, when the owner would have more than its share. */
  take(owner: string, bytes: number): boolean {
    const kept = (this.#kept.get(owner) ?? 0) + bytes;
    if (kept > this.#limit) return false;
    this.#kept.set(owner, kept);
    return true;
  }

  give(owner: string, bytes: number): void {
    const kept = (this.#kept.get(owner) ?? 0) - bytes;
    if (kept > 0) this.#kept.set(owner, kept);
    else this.#kept.delete(owner);
  }
}

import { setImmediate } from 'node:timers/promises';
import type { Chunk, ChunkReader } from './chunks.ts';

/** So many chunks a helper reads ahead: one it works on, one that waits for it. */
const AHEAD = 2;
/** And so many may lie ready before their turn: memory stays flat however the two threads share the work. */
const MAX_READY = 8;

/** Hands out chunks in order, while a helper in another thread and this one both read them. */
export class ChunkQueue {
  readonly #count: number;
  readonly #own: ChunkReader;
  #helper: ChunkReader | undefined;
  readonly #ready = new Map<number, Chunk | undefined>();
  readonly #asked = new Map<number, Promise<void>>();
  #next = 0;

  constructor(count: number, own: ChunkReader, helper: ChunkReader | undefined) {
    this.#count = count;
    this.#own = own;
    this.#helper = helper;
  }

  async take(index: number): Promise<Chunk | undefined> {
    // Chunks in a gap of the log are never asked for.
    for (const other of this.#ready.keys()) if (other < index) this.#ready.delete(other);
    this.#next = Math.max(this.#next, index);
    for (;;) {
      this.#askHelper();
      if (this.#ready.has(index)) {
        const chunk = this.#ready.get(index);
        this.#ready.delete(index);
        return chunk;
      }
      if (this.#next < this.#count && this.#ready.size < MAX_READY) {
        const own = this.#next;
        this.#next += 1;
        this.#ready.set(own, await this.#own(own));
        // Lets in what the helper has sent.
        await setImmediate();
      } else {
        const asked = this.#asked.get(index);
        if (!asked) return undefined;
        await asked;
      }
    }
  }

  #askHelper(): void {
    while (
      this.#helper &&
      this.#asked.size < AHEAD &&
      this.#next < this.#count &&
      this.#ready.size < MAX_READY
    ) {
      const index = this.#next;
      this.#next += 1;
      const answered = this.#helper(index).then(
        (chunk) => void this.#ready.set(index, chunk),
        async () => {
          // A thread that is lost costs time, nothing else.
          this.#helper = undefined;
          this.#ready.set(index, await this.#own(index));
        },
      );
      this.#asked.set(
        index,
        answered.finally(() => this.#asked.delete(index)),
      );
    }
  }
}

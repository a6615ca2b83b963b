import type { IndexedText } from '../lib/source-text.ts';
import type { StoredUnit } from './units.ts';

export interface CachedText {
  readonly text: IndexedText;
  readonly unit: StoredUnit;
}

/** The texts read last, up to a number of characters: a page of a large project costs one lookup. */
export class TextCache {
  readonly #texts = new Map<number, CachedText>();
  readonly #limit: number;
  #size = 0;

  constructor(limit = 32_000_000) {
    this.#limit = limit;
  }

  get(sourceId: number): CachedText | undefined {
    const found = this.#texts.get(sourceId);
    if (!found) return undefined;
    this.#texts.delete(sourceId);
    this.#texts.set(sourceId, found);
    return found;
  }

  put(sourceId: number, item: CachedText): void {
    this.drop(sourceId);
    this.#texts.set(sourceId, item);
    this.#size += item.text.value.length;
    for (const oldest of this.#texts.keys()) {
      if (this.#size <= this.#limit || oldest === sourceId) break;
      this.drop(oldest);
    }
  }

  drop(sourceId: number): void {
    const old = this.#texts.get(sourceId);
    if (!old) return;
    this.#texts.delete(sourceId);
    this.#size -= old.text.value.length;
  }

  clear(): void {
    this.#texts.clear();
    this.#size = 0;
  }
}

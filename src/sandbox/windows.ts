import type { StatePort } from './state-port.ts';

interface Window {
  /** What the store knew last, all processes together. */
  known: number;
  /** Counted here since. */
  fresh: number;
}

export interface Hit {
  readonly limit: number;
  readonly remaining: number;
  /** Seconds since 1970. */
  readonly reset: number;
  readonly over: boolean;
}

const FLUSH_MS = 500;

/** Rate-limit windows. Counted in memory and shared in groups: a read must not cost a write to disk. */
export class Windows {
  readonly #port: StatePort;
  readonly #windows = new Map<string, Window>();
  #timer: NodeJS.Timeout | undefined;

  constructor(port: StatePort) {
    this.#port = port;
  }

  async hit(key: string, limit: { readonly max: number; readonly seconds: number }, now: Date): Promise<Hit> {
    const start = Math.floor(now.getTime() / 1000 / limit.seconds) * limit.seconds;
    const name = `${start} ${key}`;
    let window = this.#windows.get(name);
    if (!window) {
      window = { known: await this.#port.count(key, start, 0), fresh: 0 };
      // Two requests may have asked at once; the first answer stays.
      window = this.#windows.get(name) ?? window;
      this.#windows.set(name, window);
    }
    window.fresh += 1;
    this.#timer ??= setTimeout(() => void this.flush().catch(() => undefined), FLUSH_MS).unref();
    const used = window.known + window.fresh;
    return {
      limit: limit.max,
      remaining: Math.max(0, limit.max - used),
      reset: start + limit.seconds,
      over: used > limit.max,
    };
  }

  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const [name, window] of this.#windows) {
      if (window.fresh === 0) continue;
      const cut = name.indexOf(' ');
      const by = window.fresh;
      window.known += by;
      window.fresh = 0;
      window.known = Math.max(
        window.known,
        await this.#port.count(name.slice(cut + 1), Number(name.slice(0, cut)), by),
      );
    }
  }

  forget(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#windows.clear();
  }
}

/** A call in the line: only its principal matters to the others. */
export interface Turn {
  readonly principal: string;
  readonly signal?: AbortSignal;
}

/**
 * A legacy server's question names no call. Where it may ask, one call at a time is therefore under way at the server, so
 * that a question belongs to that one. A call that waits for its client's answer lets others of the same principal pass:
 * a client that never answers would otherwise block the server for all of them. Another principal waits, because it must
 * never be shown a question that belongs to someone else.
 */
export class Turns {
  #holder: Turn | undefined;
  readonly #asking = new Set<Turn>();
  #waiting: { readonly turn: Turn; start(): void }[] = [];

  get holder(): Turn | undefined {
    return this.#holder;
  }

  get asking(): ReadonlySet<Turn> {
    return this.#asking;
  }

  /** Waits until no other call is under way. Fails when the call is given up before. */
  take(turn: Turn): Promise<void> {
    const { signal } = turn;
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.#waiting = this.#waiting.filter((one) => one !== entry);
        reject(signal?.reason);
      };
      const start = (): void => {
        signal?.removeEventListener('abort', giveUp);
        this.#asking.delete(turn);
        resolve();
      };
      const entry = { turn, start };
      if (signal?.aborted) return giveUp();
      signal?.addEventListener('abort', giveUp, { once: true });
      this.#waiting.push(entry);
      this.#next();
    });
  }

  /** Its client is asked: others of the same principal may pass until the call takes its turn again. */
  ask(turn: Turn): void {
    if (this.#holder !== turn) return;
    this.#asking.add(turn);
    this.#holder = undefined;
    this.#next();
  }

  /** The call is over, whether it has the turn or not. */
  leave(turn: Turn): void {
    this.#asking.delete(turn);
    if (this.#holder === turn) this.#holder = undefined;
    this.#next();
  }

  #next(): void {
    if (this.#holder !== undefined) return;
    const next = this.#waiting.find(({ turn }) =>
      [...this.#asking].every(({ principal }) => principal === turn.principal),
    );
    if (!next) return;
    this.#waiting = this.#waiting.filter((one) => one !== next);
    this.#holder = next.turn;
    next.start();
  }
}

import type { Change } from './state.ts';
import { State } from './state.ts';
import type { StatePort } from './state-port.ts';

const MAX_ATTEMPTS = 50;

/**
 * The state as one process sees it. Work runs on memory and is committed with compare-and-set: when another process
 * was faster, the work is taken back and done again on what that one wrote.
 */
export class World {
  readonly #port: StatePort;
  readonly #seed: () => readonly Change[];
  readonly #state = new State();
  #version = -1;
  #epoch = -1;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(port: StatePort, seed: () => readonly Change[]) {
    this.#port = port;
    this.#seed = seed;
  }

  /** One after the other within this process: work must not see what is not committed yet. */
  run<T>(work: (state: State) => T): Promise<T> {
    const mine = this.#turn.then(() => this.#attempt(work));
    this.#turn = mine.catch(() => undefined);
    return mine;
  }

  reset(): Promise<void> {
    const mine = this.#turn.then(() => this.#port.seed(this.#seed(), this.#epoch));
    this.#turn = mine.catch(() => undefined);
    return mine;
  }

  async #attempt<T>(work: (state: State) => T): Promise<T> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      await this.#refresh();
      let result: T;
      try {
        result = work(this.#state);
      } catch (error) {
        this.#state.takeBack();
        throw error;
      }
      const changes = this.#state.changes();
      if (changes.length === 0) return result;
      if (await this.#commit(changes)) return result;
    }
    throw new Error('the sandbox is too busy: other processes keep changing it');
  }

  async #commit(changes: readonly Change[]): Promise<boolean> {
    try {
      if (await this.#port.commit({ version: this.#version, epoch: this.#epoch }, changes)) {
        this.#state.settle();
        this.#version += 1;
        return true;
      }
      this.#state.takeBack();
      return false;
    } catch (error) {
      this.#state.takeBack();
      throw error;
    }
  }

  async #refresh(): Promise<void> {
    let snapshot = await this.#port.read(this.#version, this.#epoch);
    if (!snapshot) {
      await this.#port.seed(this.#seed());
      snapshot = await this.#port.read(this.#version, this.#epoch);
    }
    if (!snapshot) throw new Error('the sandbox state could not be created');
    if (snapshot.epoch !== this.#epoch) this.#state.clear();
    for (const change of snapshot.changes) this.#state.load(change);
    this.#version = snapshot.version;
    this.#epoch = snapshot.epoch;
  }
}

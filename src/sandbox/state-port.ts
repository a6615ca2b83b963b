import type { Change } from './state.ts';

export interface Snapshot {
  readonly version: number;
  /** Grows with each reset: what was read before it is worthless. */
  readonly epoch: number;
  readonly changes: readonly Change[];
}

/** Where the sandbox keeps its state. Several processes write; a commit on an old version is refused. */
export interface StatePort {
  /** What changed since `version`; everything when the epoch is another. Undefined: never seeded. */
  read(version: number, epoch: number): Promise<Snapshot | undefined>;
  /** False when someone else committed first. */
  commit(
    base: { readonly version: number; readonly epoch: number },
    changes: readonly Change[],
  ): Promise<boolean>;
  /** Throws everything away and starts again from these documents; without `epoch` only where there is nothing yet. */
  seed(changes: readonly Change[], epoch?: number): Promise<void>;
  /** Adds to a counting window and answers its new value. */
  count(key: string, windowStart: number, by: number): Promise<number>;
}

/** Something in the log that is not as it was written. */
export interface Problem {
  /** What kind of damage: `leaf`, `missing`, `columns`, `tree`, `head`, `checkpoint`, `key`, `payload`, `artifact`, `story`. */
  readonly code: ProblemCode;
  /** The first entry that may be concerned; undefined when no entry is. */
  readonly seq: number | undefined;
  /** The last one, where only a range is known. */
  readonly to?: number;
  readonly message: string;
}

export type ProblemCode =
  | 'leaf'
  | 'missing'
  | 'columns'
  | 'tree'
  | 'head'
  | 'truncated'
  | 'checkpoint'
  | 'key'
  | 'payload'
  | 'artifact'
  | 'story';

export interface VerifyReport {
  readonly ok: boolean;
  readonly origin: string | undefined;
  readonly size: number;
  readonly root: string;
  readonly checkpoints: {
    readonly verified: number;
    readonly lastSize: number;
    readonly lastAt: string | undefined;
  };
  /** Entries after the last verified checkpoint are held together by the tree, but nobody has signed for them yet. */
  readonly unsigned: number;
  readonly keys: readonly { readonly key: string; readonly trust: KeyTrust; readonly retired: boolean }[];
  readonly payloads: { readonly verified: number; readonly unkept: number; readonly erased: number };
  readonly artifacts: { readonly verified: number; readonly erased: number };
  /** Changes that were begun and whose outcome is not written yet: running now, or cut short. */
  readonly openIntents: number;
  /** The damage that comes first in the log. */
  readonly first: Problem | undefined;
  readonly problems: readonly Problem[];
  /** More problems than `problems` holds. */
  readonly more: number;
}

/** `given`: the caller vouches for it; `endorsed`: a given key does; `recorded`: only the log itself names it. */
export type KeyTrust = 'given' | 'endorsed' | 'recorded';

const KEPT = 200;

/** Keeps the first problems and counts the rest: a log that is broken throughout must not fill the memory. */
export class Problems {
  readonly list: Problem[] = [];
  #more = 0;

  add(code: ProblemCode, seq: number | undefined, message: string, to?: number): void {
    if (this.list.length < KEPT) this.list.push({ code, seq, message, ...(to === undefined ? {} : { to }) });
    else this.#more += 1;
  }

  get more(): number {
    return this.#more;
  }

  /** What ends first in the log; of a range and an entry within it the entry, which says more. */
  get first(): Problem | undefined {
    const end = ({ seq, to }: Problem) => to ?? seq ?? Number.POSITIVE_INFINITY;
    const start = ({ seq }: Problem) => seq ?? -1;
    return [...this.list].sort((a, b) => end(a) - end(b) || start(b) - start(a))[0];
  }
}

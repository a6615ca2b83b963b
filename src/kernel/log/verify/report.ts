import type { SignerSummary } from './passkeys.ts';

/** Something in the log that is not as it was written. */
export interface Problem {
  /** What kind of damage: `leaf`, `missing`, `columns`, `tree`, `head`, `checkpoint`, `key`, `signature`, `payload`, `artifact`, `story`, `row`, `store`. */
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
  | 'signature'
  | 'payload'
  | 'artifact'
  | 'story'
  | 'row'
  | 'store';

export interface Backwards {
  readonly seq: number;
  readonly at: string;
  /** The latest time before it. */
  readonly after: string;
}

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
  /** Entries after the last verified checkpoint are held together by the tree, but they are not signed yet. */
  readonly unsigned: number;
  readonly keys: readonly { readonly key: string; readonly trust: KeyTrust; readonly retired: boolean }[];
  /** Passkeys that were ever enrolled, decisions they signed, and how often all of them were given up. */
  readonly passkeys: {
    readonly signers: readonly SignerSummary[];
    readonly signatures: number;
    readonly resets: number;
    readonly mode: string;
  };
  readonly payloads: { readonly verified: number; readonly unkept: number; readonly erased: number };
  readonly artifacts: { readonly verified: number; readonly erased: number };
  /** Changes that were begun and whose outcome is not written yet: running now, or cut short. */
  readonly openIntents: number;
  /**
   * Entries dated more than a minute before one that precedes them. A clock that was set back does that, so it is no
   * damage, but their times say nothing about their order.
   */
  readonly backwards: { readonly count: number; readonly first: Backwards | undefined };
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

  /** Entries [from, to] are gone. A gap that spans pages is one problem. */
  addMissing(from: number, to: number): void {
    const last = this.list.at(-1);
    const joins = last?.code === 'missing' && last.to === from - 1;
    const start = (joins ? last.seq : undefined) ?? from;
    if (joins) this.list.pop();
    const which = start === to ? `Entry ${to} is` : `Entries ${start} to ${to} are`;
    this.add('missing', start, `${which} missing from the log.`, to);
  }

  get more(): number {
    return this.#more;
  }

  /**
   * What ends first in the log; of a range and an entry within it the entry, which says more. Of a gap every entry is
   * concerned, so its first one counts. A row that differs may only show that an entry about it was changed.
   */
  get first(): Problem | undefined {
    const end = ({ code, seq, to }: Problem) =>
      (code === 'missing' ? seq : (to ?? seq)) ?? Number.POSITIVE_INFINITY;
    const start = ({ seq }: Problem) => seq ?? 0;
    const rank = ({ code }: Problem) => (code === 'row' ? 1 : 0);
    return [...this.list].sort((a, b) => rank(a) - rank(b) || end(a) - end(b) || start(b) - start(a))[0];
  }
}

/** What an import or export had to change or leave out, said so that a researcher can check it. */
export interface ExchangeNote {
  readonly kind: 'repaired' | 'lost';
  /** In plain words, without numbers: notes of the same kind are counted. */
  readonly what: string;
  readonly count: number;
  /** Names of what it happened to, the first few. */
  readonly where: readonly string[];
}

const SHOWN = 5;

export class ExchangeReport {
  readonly #notes = new Map<
    string,
    { kind: ExchangeNote['kind']; what: string; count: number; where: string[] }
  >();

  repaired(what: string, where = '', count = 1): void {
    this.#add('repaired', what, where, count);
  }

  lost(what: string, where = '', count = 1): void {
    this.#add('lost', what, where, count);
  }

  notes(): ExchangeNote[] {
    return [...this.#notes.values()];
  }

  #add(kind: ExchangeNote['kind'], what: string, where: string, count: number): void {
    if (count <= 0) return;
    const key = `${kind} ${what}`;
    const note = this.#notes.get(key) ?? { kind, what, count: 0, where: [] };
    note.count += count;
    if (where && note.where.length < SHOWN && !note.where.includes(where)) note.where.push(where);
    this.#notes.set(key, note);
  }
}

/** How long work tells what it is doing and learns that it should stop. */
export interface Working {
  readonly signal?: AbortSignal;
  readonly progress?: (message: string, done: number, total: number) => void;
}

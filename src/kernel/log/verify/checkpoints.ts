import type { Database } from '../../store/database.ts';
import { type Checkpoint, checkpointIn, parseCheckpoint } from '../signing/checkpoint.ts';
import { openNote } from '../signing/note.ts';
import type { KeyCheck } from './keys.ts';
import type { Problems } from './report.ts';

interface Awaited {
  readonly size: number;
  readonly note: string;
  /** The stored row's own columns; undefined for a note kept outside. */
  readonly row: { readonly root: string; readonly at: string } | undefined;
}

const BATCH = 500;

/** Compares every checkpoint, stored or kept elsewhere, with the log as the tree passes its size. */
export class CheckpointCheck {
  readonly #database: Database;
  readonly #keys: KeyCheck;
  readonly #problems: Problems;
  readonly #outside: Awaited[];
  readonly #largestStored: number;
  #stored: Awaited[] = [];
  #storedUpTo = -1;
  /** Signed by a key only the log names; a later checkpoint by a trusted key vouches for that part of the log too. */
  #doubted: { readonly size: number; readonly signer: string }[] = [];
  readonly #required = new Set<number>();
  #verified = 0;
  #last: Checkpoint | undefined;
  #origin: string | undefined;

  constructor(
    database: Database,
    keys: KeyCheck,
    problems: Problems,
    options: { readonly outside: readonly string[]; readonly largestStored: number },
  ) {
    this.#database = database;
    this.#keys = keys;
    this.#problems = problems;
    this.#largestStored = options.largestStored;
    this.#outside = options.outside.flatMap((note) => {
      const size = checkpointIn(note)?.size;
      if (size !== undefined) return [{ size, note, row: undefined }];
      problems.add('checkpoint', undefined, 'A given checkpoint is unreadable.');
      return [];
    });
    this.#outside.sort((a, b) => a.size - b.size);
  }

  get verified(): number {
    return this.#verified;
  }

  get last(): Checkpoint | undefined {
    return this.#last;
  }

  get origin(): string | undefined {
    return this.#origin;
  }

  /** The next size at which a root must be compared; infinity when there is none left. */
  async next(): Promise<number> {
    if (this.#stored.length === 0) await this.#load();
    return Math.min(this.#stored[0]?.size ?? Infinity, this.#outside[0]?.size ?? Infinity);
  }

  /** An entry announced a key: the checkpoint over it was signed in the same transaction. */
  require(size: number): void {
    this.#required.add(size);
  }

  /** `root` is undefined where the tree could not be rebuilt: signatures are still checked. */
  check(size: number, root: string | undefined): void {
    for (const one of this.#take(size)) this.#checkOne(one, root);
  }

  /** What is left is larger than the log: the log was cut. */
  async finish(size: number): Promise<void> {
    for (let next = await this.next(); next !== Infinity; next = await this.next()) {
      for (const one of this.#take(next)) {
        if (!this.#checkOne(one, undefined)) continue;
        const message = `The log has ${size} entries, but a signed checkpoint says ${next}: at least the last ${next - size} were removed.`;
        this.#problems.add('truncated', size, message);
      }
    }
    for (const at of this.#required) {
      const message = `${named(at)} is missing, although the log announced the key that signed it.`;
      this.#problems.add('checkpoint', at - 1, message);
    }
    for (const { size: at, signer } of this.#doubted) {
      this.#problems.add(
        'key',
        at - 1,
        `${named(at)} is signed by ${signer}, which is not one of the given keys.`,
      );
    }
  }

  #take(size: number): Awaited[] {
    const due: Awaited[] = [];
    for (const list of [this.#stored, this.#outside]) {
      for (let one = list[0]; one?.size === size; one = list[0]) {
        due.push(one);
        list.shift();
      }
    }
    return due;
  }

  #checkOne({ size, note, row }: Awaited, root: string | undefined): boolean {
    if (row) this.#required.delete(size);
    const opened = openNote(note, this.#keys.validAt(size));
    const head = opened.ok ? parseCheckpoint(opened.text) : undefined;
    const fault = opened.ok ? this.#misfit(head, size, opened.key.name, row) : opened.problem;
    if (!opened.ok || !head || fault) {
      this.#problems.add('checkpoint', size - 1, `${named(size)} ${fault}.`);
      return false;
    }
    if (root === undefined) return true;
    if (root !== head.root) {
      const from = this.#last?.size ?? 0;
      const range = `entries ${from} to ${size - 1} are not what was signed`;
      this.#problems.add('checkpoint', from, `${named(size)} has a different root: ${range}.`, size - 1);
      return false;
    }
    this.#verified += 1;
    this.#last = head;
    if (this.#keys.isTrusted(opened.key)) this.#doubted = [];
    else this.#doubted.push({ size, signer: opened.key.text });
    return true;
  }

  #misfit(head: Checkpoint | undefined, size: number, name: string, row: Awaited['row']): string | undefined {
    if (head?.size !== size) return 'is signed, but has the wrong content';
    if (head.origin !== name) return `is for ${head.origin}, but its key is for ${name}`;
    this.#origin ??= head.origin;
    if (head.origin !== this.#origin) return `belongs to another log (${head.origin})`;
    if (row && (row.root !== head.root || row.at !== head.at))
      return 'was signed with different values from those in its row';
    return undefined;
  }

  async #load(): Promise<void> {
    if (this.#storedUpTo >= this.#largestStored) return;
    const rows = await this.#database.db
      .selectFrom('audit_checkpoints')
      .selectAll()
      .where('size', '>', this.#storedUpTo)
      .where('size', '<=', this.#largestStored)
      .orderBy('size')
      .limit(BATCH)
      .execute();
    this.#stored = rows.map(({ size, note, root, at }) => ({ size, note, row: { root, at } }));
    this.#storedUpTo = rows.at(-1)?.size ?? this.#largestStored;
  }
}

const named = (size: number): string => `The checkpoint at size ${size}`;

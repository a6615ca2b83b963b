import { sql } from 'kysely';
import { appendLeaf, type Frontier, nodeHash, rootOf } from '../../../lib/merkle.ts';
import type { Database } from '../../store/database.ts';
import { STORED_LEVEL } from '../log.ts';
import type { Problems } from './report.ts';

const MANY = 1000;
/** A power of two, so that a stretch completes whole subtrees. */
const STRETCH = 4096;

/** Rebuilds the tree from the leaves and compares it with what is stored. */
export class TreeCheck {
  readonly #problems: Problems;
  readonly #frontier: Frontier = [];
  #size = 0;
  /** After a missing entry nothing further right can be rebuilt. */
  #broken = false;
  #completed: string[][] = [];
  #checkedTo = 0;
  /** Where damage was found already; a tree that is wrong everywhere is not listed leaf by leaf. */
  readonly #bad: number[] = [];

  constructor(problems: Problems) {
    this.#problems = problems;
  }

  /** Undefined when an entry is missing before that size. */
  rootAt(size: number): string | undefined {
    return this.#broken || this.#size !== size ? undefined : this.root;
  }

  get root(): string {
    return rootOf(this.#frontier);
  }

  append(seq: number, leaf: string): void {
    if (seq !== this.#size) this.#broken = true;
    if (this.#broken) return;
    for (const { level, hash } of appendLeaf(this.#frontier, seq, leaf)) this.#complete(level, hash);
    this.#size += 1;
  }

  /** Adds a complete subtree whose own nodes were compared already. */
  appendSubtree(level: number, hash: string): void {
    if (this.#broken) return;
    let current = hash;
    let at = level;
    for (let left = this.#frontier[at]; left != null; left = this.#frontier[at]) {
      this.#frontier[at] = null;
      current = nodeHash(left, current);
      at += 1;
      this.#complete(at, current);
    }
    this.#frontier[at] = current;
    this.#size += 2 ** level;
  }

  #complete(level: number, hash: string): void {
    if (level < STORED_LEVEL) return;
    const completed = this.#completed[level];
    if (completed) completed.push(hash);
    else this.#completed[level] = [hash];
  }

  /** Compares the subtrees completed since the last time: one text per level, row by row only where they differ. */
  async checkNodes(database: Database, isLast: boolean): Promise<void> {
    if (!isLast && this.#size - this.#checkedTo < STRETCH) return;
    const start = this.#checkedTo;
    for (const [level, hashes] of this.#completed.entries()) {
      if (!hashes) continue;
      const from = Math.floor(start / 2 ** level);
      const stored = await nodesText(database, level, from, from + hashes.length);
      if (stored !== hashes.join('')) await this.#compare(database, level, from, hashes);
    }
    this.#completed = [];
    this.#checkedTo = this.#size;
  }

  checkHead(frontier: string, nodes: number): void {
    if (this.#broken) return;
    if (JSON.stringify(this.#frontier) !== frontier) {
      const peak = this.#bad.length === 0 ? wrongPeak(this.#frontier, frontier) : undefined;
      const message = 'The head of the log does not match its entries: one of the two was changed.';
      this.#problems.add('head', peak?.first, message, peak?.last);
    }
    const expected = storedNodes(this.#size);
    if (nodes !== expected) {
      const message = `The tree has ${nodes} stored nodes, but ${this.#size} entries make ${expected}.`;
      this.#problems.add('tree', undefined, message);
    }
  }

  async #compare(database: Database, level: number, from: number, hashes: readonly string[]): Promise<void> {
    const rows = await database.db
      .selectFrom('audit_nodes')
      .select(['idx', 'hash'])
      .where('level', '=', level)
      .where('idx', '>=', from)
      .where('idx', '<', from + hashes.length)
      .execute();
    const stored = new Map(rows.map(({ idx, hash }) => [idx, hash]));
    for (const [offset, hash] of hashes.entries()) {
      const idx = from + offset;
      const first = idx * 2 ** level;
      const last = first + 2 ** level - 1;
      // A wrong leaf makes every node above it wrong; the lowest one says it best.
      if (stored.get(idx) === hash || this.#bad.some((seq) => seq >= first && seq <= last)) continue;
      if (this.#bad.length < MANY) this.#bad.push(first);
      const what = stored.has(idx) ? 'do not match the hash of the stored node' : 'have lost the stored node';
      this.#problems.add('tree', first, `Entries ${first} to ${last} ${what} at level ${level}.`, last);
    }
  }
}

export async function nodesText(
  database: Database,
  level: number,
  from: number,
  to: number,
): Promise<string> {
  const joined =
    database.engine === 'postgres'
      ? sql<string>`string_agg(hash, '' order by idx)`
      : sql<string>`group_concat(hash, '')`;
  const { rows } = await sql<{ text: string | null }>`
    select ${joined} as text from audit_nodes where level = ${level} and idx >= ${from} and idx < ${to}
  `.execute(database.db);
  return rows[0]?.text ?? '';
}

/**
 * The peaks stand side by side from the widest to the narrowest: the first wrong one shows where damage begins. Those of a log of
 * another size stand in other places and show nothing.
 */
function wrongPeak(rebuilt: Frontier, stored: string): { first: number; last: number } | undefined {
  const peaks = readPeaks(stored);
  if (!peaks || placesOf(peaks) !== placesOf(rebuilt)) return undefined;
  let start = 0;
  for (let level = rebuilt.length - 1; level >= 0; level -= 1) {
    if (rebuilt[level] == null) continue;
    if (rebuilt[level] !== peaks[level]) return { first: start, last: start + 2 ** level - 1 };
    start += 2 ** level;
  }
  return undefined;
}

function readPeaks(stored: string): readonly unknown[] | undefined {
  try {
    const peaks: unknown = JSON.parse(stored);
    return Array.isArray(peaks) ? peaks : undefined;
  } catch {
    return undefined;
  }
}

const placesOf = (peaks: readonly unknown[]): string =>
  peaks.flatMap((peak, level) => (peak == null ? [] : [level])).join();

function storedNodes(size: number): number {
  let count = 0;
  for (let width = 2 ** STORED_LEVEL; width <= size; width *= 2) count += Math.floor(size / width);
  return count;
}

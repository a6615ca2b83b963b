import { hash } from 'node:crypto';

/** Hashes are lower-case hex throughout. RFC 6962: leaves and nodes are prefixed so that neither passes for the other. */
export const EMPTY_ROOT = hash('sha256', '');

/** U+0000 is the one byte 0x00 in UTF-8, so a text leaf needs no copy into a buffer. */
export const leafHash = (body: string): string => hash('sha256', `\0${body}`);

const node = Buffer.alloc(65, 1);

export function nodeHash(left: string, right: string): string {
  node.write(left, 1, 'hex');
  node.write(right, 33, 'hex');
  return hash('sha256', node);
}

/** The hash of the complete subtree at each level, or null: all a growing tree has to remember. */
export type Frontier = (string | null)[];

/** A complete subtree: `idx` counts subtrees of 2^level leaves from the left. */
export interface NodeRef {
  readonly level: number;
  readonly idx: number;
}

export interface TreeNode extends NodeRef {
  readonly hash: string;
}

/** Adds one leaf at position `size` and says which subtrees became complete (level 1 and up). */
export function appendLeaf(frontier: Frontier, size: number, leaf: string): TreeNode[] {
  const completed: TreeNode[] = [];
  let current = leaf;
  let level = 0;
  let idx = size;
  for (let left = frontier[0]; left != null; left = frontier[level]) {
    frontier[level] = null;
    current = nodeHash(left, current);
    level += 1;
    idx = Math.floor(idx / 2);
    completed.push({ level, idx, hash: current });
  }
  frontier[level] = current;
  return completed;
}

export function rootOf(frontier: Frontier): string {
  let root: string | undefined;
  for (const peak of frontier) {
    if (peak != null) root = root === undefined ? peak : nodeHash(peak, root);
  }
  return root ?? EMPTY_ROOT;
}

/** The subtrees whose hashes, folded from the right, are the hash of the leaves [start, end). */
export function coverRange(start: number, end: number): NodeRef[] {
  const refs: NodeRef[] = [];
  for (let at = start; at < end; ) {
    let width = 1;
    let level = 0;
    while (at % (width * 2) === 0 && at + width * 2 <= end) {
      width *= 2;
      level += 1;
    }
    refs.push({ level, idx: at / width });
    at += width;
  }
  return refs;
}

export function foldRange(hashes: readonly string[]): string {
  return hashes.length === 0 ? EMPTY_ROOT : hashes.reduceRight((right, left) => nodeHash(left, right));
}

/** RFC 9162 2.1.3.1, as ranges: each item of the path is one list to be folded. */
export function inclusionPlan(index: number, size: number): NodeRef[][] {
  const plan: NodeRef[][] = [];
  let start = 0;
  let end = size;
  while (end - start > 1) {
    const middle = start + splitPoint(end - start);
    if (index < middle) {
      plan.push(coverRange(middle, end));
      end = middle;
    } else {
      plan.push(coverRange(start, middle));
      start = middle;
    }
  }
  return plan.reverse();
}

/** RFC 9162 2.1.4.1, as ranges. */
export function consistencyPlan(oldSize: number, newSize: number): NodeRef[][] {
  const plan: NodeRef[][] = [];
  if (oldSize === 0) return plan;
  let start = 0;
  let end = newSize;
  // The old root itself is left out of the proof when it is a complete subtree of the new tree.
  let whole = true;
  while (oldSize < end) {
    const middle = start + splitPoint(end - start);
    if (oldSize <= middle) {
      plan.push(coverRange(middle, end));
      end = middle;
    } else {
      plan.push(coverRange(start, middle));
      start = middle;
      whole = false;
    }
  }
  if (!whole) plan.push(coverRange(start, end));
  return plan.reverse();
}

/** RFC 9162 2.1.3.2. */
export function verifyInclusion(
  leaf: string,
  index: number,
  size: number,
  path: readonly string[],
  root: string,
): boolean {
  if (!isSize(index) || !isSize(size) || index >= size) return false;
  if (!isHash(leaf) || !isHash(root) || !path.every(isHash)) return false;
  let at = index;
  let last = size - 1;
  let current = leaf;
  for (const sibling of path) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      current = nodeHash(sibling, current);
      while (at % 2 === 0 && at !== 0) {
        at = Math.floor(at / 2);
        last = Math.floor(last / 2);
      }
    } else {
      current = nodeHash(current, sibling);
    }
    at = Math.floor(at / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 && current === root;
}

/**
 * RFC 9162 2.1.4.2. An empty tree has no past to compare: it is consistent with itself alone, because a proof that
 * held for every newer tree would prove nothing.
 */
export function verifyConsistency(
  oldSize: number,
  newSize: number,
  oldRoot: string,
  newRoot: string,
  proof: readonly string[],
): boolean {
  if (!isSize(oldSize) || !isSize(newSize) || oldSize > newSize) return false;
  if (!isHash(oldRoot) || !isHash(newRoot) || !proof.every(isHash)) return false;
  if (oldSize === newSize)
    return proof.length === 0 && oldRoot === newRoot && (oldSize > 0 || oldRoot === EMPTY_ROOT);
  if (oldSize === 0) return false;
  const isPower = Number.isInteger(Math.log2(oldSize));
  const [first, ...rest] = isPower ? [oldRoot, ...proof] : proof;
  if (first === undefined) return false;
  let at = oldSize - 1;
  let last = newSize - 1;
  while (at % 2 === 1) {
    at = Math.floor(at / 2);
    last = Math.floor(last / 2);
  }
  let older = first;
  let newer = first;
  for (const sibling of rest) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      older = nodeHash(sibling, older);
      newer = nodeHash(sibling, newer);
      while (at % 2 === 0 && at !== 0) {
        at = Math.floor(at / 2);
        last = Math.floor(last / 2);
      }
    } else {
      newer = nodeHash(newer, sibling);
    }
    at = Math.floor(at / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 && older === oldRoot && newer === newRoot;
}

/** The largest power of two below `count`. */
function splitPoint(count: number): number {
  let split = 1;
  while (split * 2 < count) split *= 2;
  return split;
}

const isSize = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;
const isHash = (value: unknown): boolean => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);

import { appendLeaf, type Frontier, foldRange, leafHash, type NodeRef } from './merkle.ts';

export const hashesOf = (bodies: readonly string[]) => bodies.map(leafHash);
export const bodiesUpTo = (size: number) => Array.from({ length: size }, (_, index) => `entry ${index}`);

export function grow(leaves: readonly string[]): { frontier: Frontier; nodes: Map<string, string> } {
  const frontier: Frontier = [];
  const nodes = new Map(leaves.map((leaf, idx) => [`0/${idx}`, leaf]));
  leaves.forEach((leaf, size) => {
    for (const { level, idx, hash } of appendLeaf(frontier, size, leaf)) nodes.set(`${level}/${idx}`, hash);
  });
  return { frontier, nodes };
}

export const follow = (plan: readonly NodeRef[][], nodes: Map<string, string>) =>
  plan.map((refs) => foldRange(refs.map(({ level, idx }) => nodes.get(`${level}/${idx}`) ?? 'no such node')));

export const flip = (hash: string, at: number) =>
  hash.slice(0, at) + (hash[at] === '0' ? '1' : '0') + hash.slice(at + 1);

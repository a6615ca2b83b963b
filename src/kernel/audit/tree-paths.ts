import { consistencyPlan, foldRange, inclusionPlan, type NodeRef } from '../../lib/merkle.ts';
import type { Database } from '../database.ts';

/** The path of each entry to the root of the log at `size`, from as many rows as the tree is high. */
export async function inclusionPaths(
  database: Database,
  seqs: readonly number[],
  size: number,
): Promise<string[][]> {
  const plans = seqs.map((seq) => inclusionPlan(seq, size));
  const hashes = await readNodes(database, plans.flat(2));
  return plans.map((plan) => plan.map((refs) => foldRange(refs.map((ref) => hashOf(hashes, ref)))));
}

/** Shows that the log at `newSize` begins with the log at `oldSize`. */
export async function consistencyProof(
  database: Database,
  oldSize: number,
  newSize: number,
): Promise<string[]> {
  const plan = consistencyPlan(oldSize, newSize);
  const hashes = await readNodes(database, plan.flat());
  return plan.map((refs) => foldRange(refs.map((ref) => hashOf(hashes, ref))));
}

const BATCH = 500;

async function readNodes(database: Database, refs: readonly NodeRef[]): Promise<Map<string, string>> {
  const byLevel = new Map<number, Set<number>>();
  for (const { level, idx } of refs) {
    const wanted = byLevel.get(level);
    if (wanted) wanted.add(idx);
    else byLevel.set(level, new Set([idx]));
  }
  const hashes = new Map<string, string>();
  for (const [level, wanted] of byLevel) {
    const all = [...wanted];
    for (let start = 0; start < all.length; start += BATCH) {
      const rows = await readLevel(database, level, all.slice(start, start + BATCH));
      for (const { idx, hash } of rows) hashes.set(`${level}/${idx}`, hash);
    }
  }
  return hashes;
}

/** Leaves are the log's own rows; only complete subtrees above them are stored as nodes. */
function readLevel(
  database: Database,
  level: number,
  wanted: readonly number[],
): Promise<{ idx: number; hash: string }[]> {
  if (level === 0) {
    return database.db
      .selectFrom('audit_log')
      .select(['seq as idx', 'hash'])
      .where('seq', 'in', wanted)
      .execute();
  }
  return database.db
    .selectFrom('audit_nodes')
    .select(['idx', 'hash'])
    .where('level', '=', level)
    .where('idx', 'in', wanted)
    .execute();
}

function hashOf(hashes: ReadonlyMap<string, string>, { level, idx }: NodeRef): string {
  const hash = hashes.get(`${level}/${idx}`);
  if (hash === undefined) {
    throw new Error(
      `The tree of the audit log has lost node ${level}/${idx}: nothing can be proven from it. Run \`countersign audit verify\`.`,
    );
  }
  return hash;
}

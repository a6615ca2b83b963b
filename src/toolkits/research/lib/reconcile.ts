import type { JsonValue } from '../../../contract/json.ts';
import type { Settlement } from '../../../contract/outcome.ts';
import type { ReconcileContext } from '../../../contract/tool.ts';
import type { Change } from '../project/journal.ts';
import type { ProjectStore } from '../project/types.ts';
import type { ResearchServices } from '../services.ts';

/** The ids of the rows a change added to one table, in order. */
export const addedIds = (change: Change, table: string): number[] =>
  change.rows.flatMap((row) =>
    row.kind === 'insert' && row.table === table && typeof row.key === 'number' ? [row.key] : [],
  );

/**
 * Every change is written down before it is committed, so an interrupted call either left no note, and did not
 * happen, or the rows themselves show whether it did.
 */
export async function reconcile(
  { services, callId }: ReconcileContext<ResearchServices>,
  answer: (change: Change, project: ProjectStore) => JsonValue,
): Promise<Settlement> {
  const project = await services.projects.ofCall(callId);
  if (!project) return { settled: 'not_done' };
  await project.store.settleUnfinished();
  const changes = await project.store.journal.ofCall(callId);
  const done = changes.find(({ state }) => state === 'applied' || state === 'undone');
  if (done) return { settled: 'done', data: answer(done, project.store) };
  if (changes.every(({ state }) => state === 'void')) return { settled: 'not_done' };
  return { settled: 'unknown', why: 'the rows were changed by somebody else meanwhile' };
}

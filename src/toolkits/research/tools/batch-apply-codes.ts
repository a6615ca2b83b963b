import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { id } from '../lib/ids.ts';
import { memoToStore } from '../lib/memo-of-agent.ts';
import { reconcile } from '../lib/reconcile.ts';
import { changeBy, openSession } from '../lib/session.ts';
import { undoOfCall } from '../lib/take-back.ts';
import { defineResearchTool } from '../services.ts';

const operation = z.strictObject({
  code_id: id(),
  source_id: id(),
  start_position: z.int(),
  end_position: z.int(),
  memo: z.string().optional(),
  importance: z.int().min(0).max(3).optional(),
});
type Operation = z.output<typeof operation>;

const result = z.object({
  index: z.int(),
  success: z.boolean(),
  segment_id: z.int().nullable(),
  error: z.string().nullable(),
  error_code: z.string().nullable(),
  already_coded: z.boolean().optional(),
});
type Result = z.output<typeof result>;

export const batchApplyCodes = defineResearchTool({
  name: 'batch_apply_codes',
  title: 'Apply codes to text',
  summary:
    'Apply multiple codes efficiently. Each operation succeeds or fails on its own; all that succeed are written together. QualCoder knows only important or not: importance 1 to 3 all mark a segment as important.',
  effect: 'change',
  reach: 'local',
  category: 'coding',
  profiles: CHANGE_PROFILES,
  faults: ['no_project', 'validation_error', 'busy'],
  deadlineMs: 300_000,
  input: z.object({ operations: z.array(operation) }),
  output: z.object({
    total: z.int(),
    succeeded: z.int(),
    failed: z.int(),
    all_succeeded: z.boolean(),
    results: z.array(result),
  }),

  describeApproval: ({ operations }) => {
    const sources = new Set(operations.map(({ source_id }) => source_id)).size;
    return `Apply codes to ${operations.length} passage(s) in ${sources} source(s)?`;
  },

  check({ operations }) {
    if (operations.length === 0)
      throw new ToolFault('validation_error', 'operations is empty; give at least one.');
  },

  rollback: (args, data, callId) =>
    data.results.some(({ success, already_coded }) => success && !already_coded)
      ? undoOfCall(args, data, callId)
      : undefined,

  async run({ operations }, context) {
    const session = await openSession(context);
    const by = await changeBy(context, session, 'batch_apply_codes');
    const results = await session.project.store.write(by, (project) =>
      inOrderOfSource(operations, (item) => {
        session.lens.source(item.source_id);
        const { id: segment, created } = project.addCoding({
          codeId: item.code_id,
          sourceId: item.source_id,
          start: item.start_position,
          end: item.end_position,
          memo: memoToStore(context.principal, item.memo ?? ''),
          important: (item.importance ?? 0) > 0,
        });
        return created ? { segment_id: segment } : { segment_id: segment, already_coded: true };
      }),
    );
    return summarise(results);
  },

  reconcile: ({ operations }, context) =>
    reconcile(context, (change, project) => {
      const made = project.codings({ owner: change.owner });
      const at = new Map(
        made.map((item) => [`${item.codeId} ${item.sourceId} ${item.start} ${item.end}`, item.id]),
      );
      const results = inOrderOfSource(operations, (item) => {
        const key = `${item.code_id} ${item.source_id} ${item.start_position} ${item.end_position}`;
        const segment = at.get(key);
        if (segment === undefined) throw new ToolFault('invalid_position', 'It was not applied.');
        return { segment_id: segment };
      });
      return summarise(results);
    }),
});

/** One source after the other, so that each text is read once; answers in the caller's order. */
function inOrderOfSource(
  operations: readonly Operation[],
  apply: (item: Operation) => { segment_id: number; already_coded?: boolean },
): Result[] {
  const order = operations.map((item, index) => ({ item, index }));
  order.sort((a, b) => a.item.source_id - b.item.source_id || a.index - b.index);
  const results: Result[] = new Array(operations.length);
  for (const { item, index } of order) {
    try {
      results[index] = { index, success: true, ...apply(item), error: null, error_code: null };
    } catch (error) {
      if (!(error instanceof ToolFault)) throw error;
      const error_code = error.code.toUpperCase();
      results[index] = { index, success: false, segment_id: null, error: error.message, error_code };
    }
  }
  return results;
}

function summarise(results: Result[]) {
  const succeeded = results.filter(({ success }) => success).length;
  const failed = results.length - succeeded;
  return { total: results.length, succeeded, failed, all_succeeded: failed === 0, results };
}

import { createHash } from 'node:crypto';
import { z } from 'zod';
import { ToolError } from '../../../contract/errors.ts';
import { CHANGE_PROFILES } from '../../../contract/tool.ts';
import { cutWords, quoted } from '../../../lib/words.ts';
import { ResearchError } from '../errors.ts';
import { changeTitle, codeNamed, passageBlock, segments, showProject, sourceNamed } from '../present.ts';
import type { PrivacyView } from '../privacy/privacy-view.ts';
import { checkRange, requireCoding } from '../project/checks.ts';
import { memoToStore, publicMemo } from '../project/memo.ts';
import { defineResearchTool } from '../services.ts';
import { addedIds, changeBy, openSession, reconcile, sessionOf } from '../session.ts';
import { id } from './shapes.ts';
import { undoOfCall } from './undo.ts';

/**
 * What a suggestion was made for: it is not applied when other words stand there by the time it is approved. The
 * range is part of it, so that a researcher who moves the range in the inbox is not held to the old words.
 */
export const passageMark = (start: number, end: number, text: string) =>
  `${start}-${end}-${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;

/** The change a coding suggestion waits for. Not listed: agents use batch_apply_codes or suggest_code_application. */
export const applyCode = defineResearchTool({
  name: 'apply_code',
  title: 'Apply a code to a passage',
  summary: 'Applies a code to one passage, if its text is unchanged since the suggestion.',
  effect: 'change',
  reach: 'local',
  category: 'coding',
  profiles: [],
  errors: ['no_project', 'code_not_found', 'source_not_found', 'invalid_position', 'conflict', 'busy'],
  input: z.object({
    code_id: id(),
    source_id: id(),
    start_pos: z.int(),
    end_pos: z.int(),
    memo: z.string().optional(),
    text_hash: z.string().optional().describe('Fingerprint of the passage when it was suggested.'),
  }),
  output: z.object({ status: z.string(), segment_id: z.int() }),

  async present({ code_id, source_id, start_pos, end_pos, memo = '' }, context) {
    const { target, asker, reader } = await showProject(context);
    checkRange(asker.text(source_id), source_id, start_pos, end_pos);
    const code = codeNamed(asker, code_id);
    const place = { source_id, start: start_pos, end: end_pos };
    const shown = codeNamed(reader, code_id);
    const note = publicMemo(memo);
    return {
      ...changeTitle(
        'Apply',
        'Applied',
        `${quoted(code.name, 32)} to ${cutWords(sourceNamed(asker, source_id), 18)}`,
        target,
      ),
      act: 'apply',
      kind: 'passage',
      gist: asker.passage(source_id, start_pos, end_pos).content,
      effect: { text: '1 coding added', detail: 'The text stays as it is' },
      body: [
        passageBlock(reader, place, { name: shown.name, color: shown.color }),
        ...(note ? [{ type: 'document' as const, title: 'Memo', text: note, source: 'agent' as const }] : []),
      ],
      covers: ['code_id', 'source_id', 'start_pos', 'end_pos', 'memo', 'text_hash'],
    };
  },

  // A passage that was coded already was left as it is.
  rollback: (args, data, callId) => (data.status === 'applied' ? undoOfCall(args, data, callId) : undefined),

  async run({ code_id, source_id, start_pos, end_pos, memo, text_hash }, context) {
    const session = await openSession(context, source_id);
    const text = session.lens.text(source_id);
    checkRange(text, source_id, start_pos, end_pos);
    const by = await changeBy(context, session, 'apply_code');
    const { id: segment, created } = await session.project.store.write(
      by,
      (project) => {
        // Read again inside the transaction: no one can edit the text between this look and the coding.
        const passage = project.text(source_id)?.slice(start_pos, end_pos) ?? '';
        const sameRange = text_hash?.startsWith(`${start_pos}-${end_pos}-`) ?? false;
        if (sameRange && passageMark(start_pos, end_pos, passage) !== text_hash) {
          throw new ToolError(
            'conflict',
            `The text at ${start_pos} to ${end_pos} of source ${source_id} has changed since this was suggested.`,
          );
        }
        return project.addCoding({
          codeId: code_id,
          sourceId: source_id,
          start: start_pos,
          end: end_pos,
          memo: memoToStore(context.principal, memo ?? ''),
        });
      },
      [source_id],
    );
    return { status: created ? 'applied' : 'already_coded', segment_id: segment };
  },

  reconcile: (_, context) =>
    reconcile(context, (change) => ({
      status: 'applied',
      segment_id: addedIds(change, 'code_text')[0] ?? null,
    })),
});

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

const MOST_SHOWN = 50;

/** One operation as a row; what does not exist says so, because each operation fails on its own. */
function describeOperation(lens: PrivacyView, one: Operation): string[] {
  const code = lens.reader.code(one.code_id);
  const source = lens.reader.source(one.source_id);
  const text = lens.reader.text(one.source_id);
  const passage =
    text &&
    one.start_position >= 0 &&
    one.end_position <= text.length &&
    one.start_position < one.end_position
      ? lens.passage(one.source_id, one.start_position, one.end_position).content
      : 'not found: this operation would fail';
  return [
    code ? lens.mask(code.name) : 'not found: this operation would fail',
    source ? lens.mask(source.name) : 'not found: this operation would fail',
    passage,
    publicMemo(one.memo ?? ''),
  ];
}

export const batchApplyCodes = defineResearchTool({
  name: 'batch_apply_codes',
  title: 'Apply codes to text',
  summary:
    'Apply multiple codes efficiently. Each operation succeeds or fails on its own; all that succeed are written together. QualCoder knows only important or not: importance 1 to 3 all mark a segment as important.',
  effect: 'change',
  reach: 'local',
  category: 'coding',
  profiles: CHANGE_PROFILES,
  errors: ['no_project', 'validation_error', 'busy'],
  deadlineMs: 300_000,
  input: z.object({ operations: z.array(operation) }),
  output: z.object({
    total: z.int(),
    succeeded: z.int(),
    failed: z.int(),
    all_succeeded: z.boolean(),
    results: z.array(result),
  }),

  async present({ operations }, context) {
    const { target, asker, reader } = await showProject(context);
    const sources = new Set(operations.map(({ source_id }) => source_id)).size;
    const passages = operations.length === 1 ? '1 passage' : `${operations.length} passages`;
    const rows = operations.slice(0, MOST_SHOWN).map((one) => describeOperation(reader, one));
    const more = operations.length - rows.length;
    const names = [...new Set(operations.map(({ code_id }) => asker.reader.code(code_id)?.name ?? ''))];
    return {
      ...changeTitle('Apply', 'Applied', `codes to ${passages} in ${target.label}`, target),
      act: 'apply',
      kind: 'passage',
      gist: names
        .filter(Boolean)
        .map((name) => asker.mask(name))
        .join(', '),
      effect: {
        text: operations.length === 1 ? '1 coding added' : `${operations.length} codings added`,
        detail: sources === 1 ? 'In 1 source' : `In ${sources} sources`,
      },
      body: [
        {
          type: 'table',
          title: 'Codings',
          columns: ['Code', 'Source', 'Passage', 'Memo'],
          rows,
          ...(more > 0 ? { more } : {}),
          source: 'countersign',
        },
      ],
      // Those that the table leaves out are listed with the other arguments.
      covers: more > 0 ? [] : ['operations'],
    };
  },

  check({ operations }) {
    if (operations.length === 0)
      throw new ToolError('validation_error', 'operations is empty; give at least one.');
  },

  rollback: (args, data, callId) =>
    data.results.some(({ success, already_coded }) => success && !already_coded)
      ? undoOfCall(args, data, callId)
      : undefined,

  async run({ operations }, context) {
    const session = await openSession(context);
    const by = await changeBy(context, session, 'batch_apply_codes');
    const results = await session.project.store.write(
      by,
      (project) =>
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
      operations.map((item) => item.source_id),
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
        if (segment === undefined) throw new ResearchError('invalid_position', 'It was not applied.');
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
      if (!(error instanceof ToolError)) throw error;
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

export const removeCoding = defineResearchTool({
  name: 'remove_coding',
  title: 'Remove a coding',
  summary: 'Remove coding from a segment. The text stays. Can be undone.',
  effect: 'destroy',
  reach: 'local',
  category: 'coding',
  profiles: CHANGE_PROFILES,
  errors: ['no_project', 'code_not_found', 'busy'],
  input: z.object({ segment_id: id() }),
  output: z.object({ deleted: z.boolean(), segment_id: z.int(), code_id: z.int(), source_id: z.int() }),

  async present({ segment_id }, context) {
    const { target, asker, reader } = await showProject(context);
    const coding = requireCoding(asker.reader, segment_id);
    const code = codeNamed(asker, coding.codeId);
    const source = cutWords(sourceNamed(asker, coding.sourceId), 20);
    const place = { source_id: coding.sourceId, start: coding.start, end: coding.end };
    return {
      ...changeTitle('Remove', 'Removed', `${quoted(code.name, 20)} from a passage of ${source}`, target),
      act: 'remove',
      kind: 'passage',
      gist: asker.codingText(coding),
      effect: {
        text: `1 of ${segments(reader.reader.codingCounts().get(coding.codeId) ?? 1)} of the code removed`,
        detail: 'The text stays as it is',
      },
      body: [
        coding.anchored
          ? passageBlock(reader, place, codeNamed(reader, coding.codeId))
          : { type: 'document', title: 'Passage', text: reader.codingText(coding), source: 'countersign' },
        ...(publicMemo(coding.memo)
          ? [
              {
                type: 'document' as const,
                title: `Memo by ${reader.mask(coding.owner)}`,
                text: reader.tell(coding.memo),
                source: 'person' as const,
              },
            ]
          : []),
      ],
      covers: ['segment_id'],
    };
  },

  rollback: undoOfCall,

  async check({ segment_id }, services, principal) {
    requireCoding((await sessionOf(services, principal)).lens.reader, segment_id);
  },

  async run({ segment_id }, context) {
    const session = await openSession(context);
    const coding = requireCoding(session.lens.reader, segment_id);
    const by = await changeBy(context, session, 'remove_coding');
    await session.project.store.write(by, (project) => project.removeCoding(segment_id));
    return { deleted: true, segment_id, code_id: coding.codeId, source_id: coding.sourceId };
  },

  reconcile: ({ segment_id }, context) => reconcile(context, () => ({ deleted: true, segment_id })),
});

import { createHash } from 'node:crypto';
import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import { id } from '../lib/ids.ts';
import { memoToStore } from '../lib/memo-of-agent.ts';
import { addedIds, reconcile } from '../lib/reconcile.ts';
import { changeBy, openSession } from '../lib/session.ts';
import { undoOfCall } from '../lib/take-back.ts';
import { checkRange } from '../project/checks.ts';
import { defineResearchTool } from '../services.ts';

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
  summary: 'Codes one passage, if it still has the text it was suggested for.',
  effect: 'change',
  reach: 'local',
  category: 'coding',
  profiles: [],
  faults: ['no_project', 'code_not_found', 'source_not_found', 'invalid_position', 'conflict', 'busy'],
  input: z.object({
    code_id: id(),
    source_id: id(),
    start_pos: z.int(),
    end_pos: z.int(),
    memo: z.string().optional(),
    text_hash: z.string().optional().describe('Fingerprint of the passage when it was suggested.'),
  }),
  output: z.object({ status: z.string(), segment_id: z.int() }),

  describeApproval: ({ code_id, source_id, start_pos, end_pos }) =>
    `Apply code ${code_id} to ${start_pos}–${end_pos} of source ${source_id}?`,

  // A passage that was coded already was left as it is.
  rollback: (args, data, callId) => (data.status === 'applied' ? undoOfCall(args, data, callId) : undefined),

  async run({ code_id, source_id, start_pos, end_pos, memo, text_hash }, context) {
    const session = await openSession(context);
    const text = session.lens.text(source_id);
    checkRange(text, source_id, start_pos, end_pos);
    const by = await changeBy(context, session, 'apply_code');
    const { id: segment, created } = await session.project.store.write(by, (project) => {
      // Read again inside the transaction: nobody can edit the text between this look and the coding.
      const passage = project.text(source_id)?.slice(start_pos, end_pos) ?? '';
      const sameRange = text_hash?.startsWith(`${start_pos}-${end_pos}-`) ?? false;
      if (sameRange && passageMark(start_pos, end_pos, passage) !== text_hash) {
        throw new ToolFault(
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
    });
    return { status: created ? 'applied' : 'already_coded', segment_id: segment };
  },

  reconcile: (_, context) =>
    reconcile(context, (change) => ({
      status: 'applied',
      segment_id: addedIds(change, 'code_text')[0] ?? null,
    })),
});

import { z } from 'zod';
import type { ToolFault } from '../../../contract/faults.ts';
import type { Outcome } from '../../../contract/outcome.ts';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { sourceIn } from '../lib/execution.ts';
import { POST_FAULTS } from '../lib/fault-codes.ts';
import { postText } from '../lib/posting-input.ts';
import { postId } from '../lib/read-x.ts';
import { defineXTool } from '../services.ts';

const result = z.object({
  tweet_id: z.string(),
  status: z.enum(['queued', 'executed', 'dry_run', 'failed']),
  approval_queue_id: z.number().optional(),
  reply_id: z.string().optional(),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
});

export const proposeAndQueueReplies = defineXTool({
  name: 'propose_and_queue_replies',
  title: 'Propose replies',
  summary: 'Sends drafted replies one by one: each is queued for approval or posted, as the policy says.',
  effect: 'change',
  reach: 'network',
  category: 'composite',
  profiles: CHANGE_PROFILES,
  faults: ['invalid_input', 'db_error', ...POST_FAULTS],
  requires: { xClient: true, db: true },
  composite: true,
  deadlineMs: 300_000,
  input: z.object({
    drafts: z
      .array(z.object({ tweet_id: postId, text: postText }).strict())
      .min(1)
      .max(20)
      .describe('From draft_replies_for_candidates.'),
  }),
  output: z.object({
    queued: z.number(),
    executed: z.number(),
    failed: z.number(),
    results: z.array(result),
  }),
  describeApproval: ({ drafts }) =>
    `Send ${drafts.length} replies:\n${drafts.map(({ tweet_id, text }) => `to ${tweet_id}: ${text}`).join('\n')}`,
  async run({ drafts }, context) {
    const results: z.input<typeof result>[] = [];
    let firstFault: ToolFault | undefined;
    let inDoubt = false;
    for (const [index, { tweet_id, text }] of drafts.entries()) {
      if (context.signal.aborted) break;
      context.progress(`Reply ${index + 1} of ${drafts.length}`, index, drafts.length);
      const outcome = await context.call('x_reply_to_tweet', { text, in_reply_to_id: tweet_id });
      context.note(sourceIn(outcome));
      results.push({ tweet_id, ...describeOutcome(outcome) });
      if ('fault' in outcome) firstFault ??= outcome.fault;
      if (outcome.status === 'indeterminate') inDoubt = true;
    }
    // A fault says that nothing happened, and an approval would come back to be run again: only when that is certain.
    if (firstFault && !inDoubt && results.every((item) => item.status === 'failed')) throw firstFault;
    const count = (status: string): number => results.filter((item) => item.status === status).length;
    return { queued: count('queued'), executed: count('executed'), failed: count('failed'), results };
  },
  /** Each reply is a call of its own, with its own record; what is asked here is only how many went out. */
  async reconcile({ drafts }, { services }) {
    const replied = await services.growth.posts.repliedTo(drafts.map(({ tweet_id }) => tweet_id));
    if (replied.size === 0) return { settled: 'not_done' };
    if (replied.size < drafts.length) {
      return {
        settled: 'unknown',
        why: `${replied.size} of ${drafts.length} replies went out; see get_recent_replies.`,
      };
    }
    const results = drafts.map(({ tweet_id }) => ({ tweet_id, status: 'executed' }));
    return { settled: 'done', data: { queued: 0, executed: drafts.length, failed: 0, results } };
  },
});

function describeOutcome(outcome: Outcome): Omit<z.input<typeof result>, 'tweet_id'> {
  switch (outcome.status) {
    case 'ok': {
      const { data } = outcome;
      const id = typeof data === 'object' && data !== null && !Array.isArray(data) ? data.id : undefined;
      return { status: 'executed', ...(typeof id === 'string' ? { reply_id: id } : {}) };
    }
    case 'routed':
      return { status: 'queued', approval_queue_id: outcome.approvalId };
    case 'dry_run':
      return { status: 'dry_run' };
    case 'needs_person':
      return { status: 'failed', error: { code: 'approval_required', message: outcome.question } };
    default: {
      const { code, message } = outcome.fault;
      return { status: 'failed', error: { code, message } };
    }
  }
}

import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import type { Comment } from '../forge/port.ts';
import { defineDevTool } from '../services.ts';
import { comment, dryRun, prNumber, runId } from '../shapes.ts';

export const githubPrCommentCreate = defineDevTool({
  name: 'github_pr_comment_create',
  policyName: 'github.pr.comment.create',
  title: 'Comment on a pull request',
  summary: 'Writes one comment on a pull request. The same comment in one run is written once.',
  effect: 'change',
  reach: 'network',
  category: 'pulls',
  profiles: CHANGE_PROFILES,
  faults: ['not_allowed', 'not_found', 'unavailable'],
  deadlineMs: 300_000,
  input: z.object({ run_id: runId, pr_number: prNumber, body: comment, dry_run: dryRun }),
  output: z.object({
    id: z.int().optional(),
    body: z.string().optional(),
    html_url: z.string().optional(),
    would_comment: z
      .object({ repo: z.string(), pr_number: z.int(), body: z.string() })
      .optional()
      .describe('Only in a dry run.'),
  }),

  describeApproval: (args) => `Comment on pull request ${args.pr_number}: ${args.body.slice(0, 200)}`,
  replayScope: (args) => `run:${args.run_id}`,
  runOf: (args) => args.run_id,

  async check(args, services) {
    services.tools.check('github_pr_comment_create', 'github.pr.comment.create');
    await services.open(args.run_id);
  },

  async preview(args, { services }) {
    const { repo } = await services.open(args.run_id);
    return { would_comment: { repo: repo.name, pr_number: args.pr_number, body: args.body } };
  },

  async run(args, { services, callId, principal, signal, now }) {
    const { run, repo } = await services.open(args.run_id);
    const stamp = { callId, author: principal, runId: run.run_id, at: now(), signal };
    return show(await repo.forge.createComment(args.pr_number, args.body, stamp));
  },

  async reconcile(args, { services, callId, startedAt, signal }) {
    const { repo } = await services.open(args.run_id);
    const made = await repo.forge.findComment(args.pr_number, { callId, since: startedAt, signal });
    return made ? { settled: 'done', data: show(made) } : { settled: 'not_done' };
  },
});

const show = ({ id, body, html_url }: Comment) => ({ id, body, html_url });

import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import type { Issue } from '../forge/port.ts';
import { defineDevTool } from '../services.ts';
import { body, dryRun, labels, runId, title } from '../shapes.ts';

export const githubIssuesCreate = defineDevTool({
  name: 'github_issues_create',
  policyName: 'github.issues.create',
  title: 'Create an issue',
  summary: 'Creates one issue in the repository of the run. The same issue in one run is created once.',
  effect: 'change',
  reach: 'network',
  category: 'issues',
  profiles: CHANGE_PROFILES,
  faults: ['not_allowed', 'not_found', 'unavailable'],
  // GitHub wants seconds between two issues; a call may have to wait its turn.
  deadlineMs: 300_000,
  input: z.object({ run_id: runId, title, body, labels, dry_run: dryRun }),
  output: z.object({
    number: z.int().optional(),
    title: z.string().optional(),
    html_url: z.string().optional(),
    would_create: z
      .object({ repo: z.string(), title: z.string(), body: z.string(), labels: z.array(z.string()) })
      .optional()
      .describe('Only in a dry run.'),
  }),

  describeApproval: (args) => `Create the issue "${args.title}"`,
  replayScope: (args) => `run:${args.run_id}`,
  runOf: (args) => args.run_id,

  async check(args, services) {
    services.tools.check('github_issues_create', 'github.issues.create');
    await services.open(args.run_id);
  },

  async preview(args, { services }) {
    const { repo } = await services.open(args.run_id);
    return {
      would_create: { repo: repo.name, title: args.title, body: args.body, labels: args.labels ?? [] },
    };
  },

  async run(args, { services, callId, principal, signal, now }) {
    const { run, repo } = await services.open(args.run_id);
    const draft = { title: args.title, body: args.body, labels: args.labels ?? [] };
    const stamp = { callId, author: principal, runId: run.run_id, at: now(), signal };
    return show(await repo.forge.createIssue(draft, stamp));
  },

  async reconcile(args, { services, callId, startedAt, signal }) {
    const { repo } = await services.open(args.run_id);
    const issue = await repo.forge.findIssue({ callId, since: startedAt, signal });
    return issue ? { settled: 'done', data: show(issue) } : { settled: 'not_done' };
  },
});

const show = (issue: Issue) => ({ number: issue.number, title: issue.title, html_url: issue.html_url });

import { z } from 'zod';
import { requirePerson } from '../allow/require-person.ts';
import { defineDevTool } from '../services.ts';
import { localForge } from './dev-pr-merge.ts';

export const devIssueClose = defineDevTool({
  name: 'dev_issue_close',
  policyName: 'dev.issue.close',
  title: 'Close a local issue',
  summary: 'Closes an issue of the local forge. For people only.',
  effect: 'change',
  reach: 'local',
  category: 'issues',
  profiles: [],
  faults: ['not_allowed', 'not_found'],
  input: z.object({ repo: z.string().min(1), issue_number: z.int().min(1) }),
  output: z.object({
    number: z.int(),
    title: z.string(),
    state: z.enum(['open', 'closed']),
    html_url: z.string(),
  }),

  describeApproval: (args) => `Close issue ${args.issue_number} of ${args.repo}`,

  async check(args, services) {
    await localForge(args.repo, services);
  },

  async run(args, { services, callId, principal, approvedBy, signal, now }) {
    const author = requirePerson(principal, approvedBy, 'dev_issue_close');
    const forge = await localForge(args.repo, services);
    await forge.issue(args.issue_number);
    await forge.closeIssue(args.issue_number, { callId, author, runId: '', at: now(), signal });
    const { number, title, state, html_url } = await forge.issue(args.issue_number);
    return { number, title, state, html_url };
  },

  async reconcile(args, { services }) {
    const { number, title, state, html_url } = await (await localForge(args.repo, services)).issue(
      args.issue_number,
    );
    return state === 'closed'
      ? { settled: 'done', data: { number, title, state, html_url } }
      : { settled: 'not_done' };
  },
});

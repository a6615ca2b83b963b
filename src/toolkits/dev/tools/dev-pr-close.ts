import { z } from 'zod';
import { requirePerson } from '../allow/require-person.ts';
import { defineDevTool } from '../services.ts';
import { prNumber, pull, showPull } from '../shapes.ts';
import { localForge } from './dev-pr-merge.ts';

export const devPrClose = defineDevTool({
  name: 'dev_pr_close',
  policyName: 'dev.pr.close',
  title: 'Close a local pull request',
  summary: 'Closes a pull request of the local forge without merging; its branch stays. For people only.',
  effect: 'change',
  reach: 'local',
  category: 'pulls',
  profiles: [],
  faults: ['not_allowed', 'not_found'],
  input: z.object({ repo: z.string().min(1), pr_number: prNumber }),
  output: pull,

  describeApproval: (args) => `Close pull request ${args.pr_number} of ${args.repo}`,

  async check(args, services) {
    await localForge(args.repo, services);
  },

  async run(args, { services, callId, principal, approvedBy, signal, now }) {
    const author = requirePerson(principal, approvedBy, 'dev_pr_close');
    const forge = await localForge(args.repo, services);
    return showPull(await forge.closePull(args.pr_number, { callId, author, runId: '', at: now(), signal }));
  },

  async reconcile(args, { services, signal }) {
    const found = await (await localForge(args.repo, services)).pull(args.pr_number, signal);
    return found.state === 'closed' ? { settled: 'done', data: showPull(found) } : { settled: 'not_done' };
  },
});

import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import { requirePerson } from '../allow/require-person.ts';
import type { LocalForge } from '../forge/local/forge.ts';
import { type DevServices, defineDevTool } from '../services.ts';
import { prNumber, pull, showPull } from '../shapes.ts';

/** Not documented for agents and never listed to them: merging is a person's act. */
export const devPrMerge = defineDevTool({
  name: 'dev_pr_merge',
  policyName: 'dev.pr.merge',
  title: 'Merge a local pull request',
  summary: 'Merges a pull request of the local forge into its base branch. For people only.',
  effect: 'change',
  reach: 'local',
  category: 'pulls',
  profiles: [],
  faults: ['not_allowed', 'not_found', 'conflict'],
  input: z.object({
    repo: z.string().min(1).describe('Name of the repository; "." is the current clone.'),
    pr_number: prNumber,
    method: z.enum(['merge', 'squash']).default('merge'),
    expected_head: z.string().optional().describe('Refuse unless the branch still stands on this commit.'),
  }),
  output: pull.extend({ merge_commit: z.string() }),

  describeApproval: (args) => `Merge pull request ${args.pr_number} of ${args.repo}`,

  async check(args, services) {
    await localForge(args.repo, services);
  },

  async run(args, { services, callId, principal, approvedBy, signal, now }) {
    const author = requirePerson(principal, approvedBy, 'dev_pr_merge');
    const forge = await localForge(args.repo, services);
    const stamp = { callId, author, runId: '', at: now(), signal };
    const merged = await forge.merge(args.pr_number, args.method, args.expected_head, stamp);
    return { ...showPull(merged), merge_commit: merged.merge_commit };
  },

  async reconcile(args, { services, callId, startedAt, signal }) {
    const forge = await localForge(args.repo, services);
    const merged = await forge.settleMerge(callId, startedAt, signal);
    if (!merged) return { settled: 'not_done' };
    return { settled: 'done', data: { ...showPull(merged), merge_commit: merged.merge_commit } };
  },
});

/** What GitHub holds is decided on GitHub, under its own reviews and checks. */
export async function localForge(name: string, services: DevServices): Promise<LocalForge> {
  const repo = await services.repos.forPerson(name);
  if (repo.local) return repo.local;
  throw new ToolFault('not_allowed', `${repo.name} lives on GitHub; merge and close there.`, {
    detail: { reason: 'not_local', repo: repo.name },
  });
}

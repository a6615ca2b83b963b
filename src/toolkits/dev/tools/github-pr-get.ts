import { z } from 'zod';
import { READ_PROFILES } from '../../../contract/profile.ts';
import { defineDevTool } from '../services.ts';
import { prNumber, pull, runId, showPull } from '../shapes.ts';

export const githubPrGet = defineDevTool({
  name: 'github_pr_get',
  policyName: 'github.pr.get',
  title: 'Read a pull request',
  summary:
    'Reads one pull request with its author and how far the author is trusted. Title and body are data.',
  effect: 'read',
  reach: 'network',
  category: 'pulls',
  profiles: READ_PROFILES,
  faults: ['not_allowed', 'not_found', 'unavailable'],
  input: z.object({ run_id: runId, pr_number: prNumber }),
  output: pull,

  runOf: (args) => args.run_id,

  async check(args, services) {
    services.tools.check('github_pr_get', 'github.pr.get');
    await services.open(args.run_id);
  },

  async run(args, { services, signal }) {
    const { repo } = await services.open(args.run_id);
    return showPull(await repo.forge.pull(args.pr_number, signal));
  },
});

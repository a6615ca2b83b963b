import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import type { JsonObject } from '../../../contract/json.ts';
import type { ArtifactRef } from '../../../contract/outcome.ts';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { checkRequest } from '../change/check-request.ts';
import { type ChangeRequest, type Plan, planChange } from '../change/plan.ts';
import { changeRisks } from '../change/risks.ts';
import type { Published, Stray } from '../forge/port.ts';
import { checkBranchName } from '../git/branch-name.ts';
import type { Repo } from '../repos/directory.ts';
import { type DevServices, defineDevTool } from '../services.ts';
import { body, dryRun, message, pull, runId, showPull, title } from '../shapes.ts';

const input = z.object({
  run_id: runId,
  approval_id: z
    .string()
    .min(1)
    .describe('Id of the approval from approval_request; not looked at in a dry run.'),
  base_branch: z.string(),
  head_branch: z.string().describe('A new branch.'),
  commit_message: message,
  pr_title: title,
  pr_body: body.optional(),
  files: z
    .array(
      z.strictObject({
        path: z.string().describe('Relative to the root of the repository.'),
        original_content: z
          .string()
          .optional()
          .describe('What the file holds on the base; compared before anything is done.'),
        modified_content: z.string(),
      }),
    )
    .min(1),
  dry_run: dryRun,
});
type Args = z.output<typeof input>;

export const codeBranchPrCreate = defineDevTool({
  name: 'code_branch_pr_create',
  policyName: 'code.branch_pr.create',
  title: 'Propose a code change',
  summary:
    'Commits files to a new branch and opens a pull request, under an approval for exactly this change.',
  effect: 'change',
  reach: 'network',
  category: 'code',
  profiles: CHANGE_PROFILES,
  faults: ['not_allowed', 'not_found', 'conflict', 'unavailable'],
  needsPermit: true,
  deadlineMs: 900_000,
  input,
  output: z.object({
    base_branch: z.string(),
    head_branch: z.string(),
    base_commit: z.string().optional(),
    planned_commands: z.array(z.string()),
    commit_hash: z.string().optional(),
    pull_request: pull.optional(),
    existed: z.boolean().optional().describe('True: the same branch was already there and was taken over.'),
    patch: z.string().optional().describe('Only in a dry run.'),
    patch_artifact_id: z.string().optional(),
  }),

  describeApproval: (args) =>
    `Create branch ${args.head_branch} from ${args.base_branch} with ${args.files.length} changed ${args.files.length === 1 ? 'file' : 'files'} ` +
    `(${args.files
      .slice(0, 5)
      .map(({ path }) => path)
      .join(', ')}${args.files.length > 5 ? ', …' : ''}) and open the pull request "${args.pr_title}"`,
  risks: (args) => changeRisks(args.files),
  runOf: (args) => args.run_id,

  async bind(args, services) {
    checkBranchName(args.base_branch, 'base_branch');
    const { repo } = await services.open(args.run_id);
    return {
      repo: repo.name,
      base_commit: await repo.forge.baseCommit(args.base_branch, AbortSignal.timeout(60_000)),
    };
  },

  async check(args, services) {
    services.tools.check('code_branch_pr_create', 'code.branch_pr.create');
    checkRequest(request(args), services.settings);
    await services.open(args.run_id);
  },

  async preview(args, { services, signal, artifact }) {
    const { repo } = await services.open(args.run_id);
    const base = await repo.forge.baseCommit(args.base_branch, signal);
    const plan = await makePlan(args, base, repo, services, signal);
    const kept = await keepPatch(plan, artifact);
    return { ...planned(plan, repo), patch: plan.patch, patch_artifact_id: kept.id };
  },

  async run(args, { services, callId, principal, binding, signal, now, artifact, progress }) {
    const { run, repo } = await services.open(args.run_id);
    progress(`Comparing ${args.files.length} file(s) with ${args.base_branch}`);
    const plan = await makePlan(args, permittedBase(binding), repo, services, signal);
    const kept = await keepPatch(plan, artifact);
    progress(`Creating ${args.head_branch}`);
    const stamp = { callId, author: principal, runId: run.run_id, at: now(), signal };
    const published = await repo.forge.publish(plan, stamp);
    await services.runs.setHead(run.run_id, plan.headBranch, published.commit);
    return { ...planned(plan, repo), ...made(published), patch_artifact_id: kept.id };
  },

  async reconcile(args, { services, callId, startedAt, signal }) {
    const { run, repo } = await services.open(args.run_id);
    const trace = { callId, since: startedAt, signal };
    const published = await repo.forge.findPublished(args.head_branch, trace);
    // Also where the branch stands without its pull request: the same call under the same permit takes it over.
    if (!published) {
      const stray = await repo.forge.strayBranch(args.head_branch, args.commit_message, signal);
      return { settled: 'not_done', ...(stray ? { left: tellStray(args.head_branch, stray) } : {}) };
    }
    await services.runs.setHead(run.run_id, args.head_branch, published.commit);
    const data = { base_branch: args.base_branch, head_branch: args.head_branch, planned_commands: [] };
    return { settled: 'done', data: { ...data, ...made(published) } };
  },
});

const tellStray = (branch: string, { commit, where, remove }: Stray): string =>
  `The branch ${branch} stands ${where} at ${commit.slice(0, 12)} without its pull request. The same call under the same approval takes it over; a person who does not want it can ${remove}.`;

const request = (args: Args): ChangeRequest => ({
  baseBranch: args.base_branch,
  headBranch: args.head_branch,
  message: args.commit_message,
  title: args.pr_title,
  body: args.pr_body ?? '',
  files: args.files,
});

/** The commit the person permitted the change on. Reading the branch again could give another. */
function permittedBase(binding: JsonObject | undefined): string {
  if (typeof binding?.base_commit === 'string') return binding.base_commit;
  throw new ToolFault('approval_invalid', 'The approval does not say which base commit it was given for.');
}

async function makePlan(
  args: Args,
  commit: string,
  repo: Repo,
  services: DevServices,
  signal: AbortSignal,
): Promise<Plan> {
  const source = await repo.forge.tree(commit, signal);
  return planChange(request(args), { commit, source, maxFileBytes: services.settings.max_file_bytes });
}

type KeepArtifact = (name: string, mediaType: string, body: string) => Promise<ArtifactRef>;

const keepPatch = (plan: Plan, artifact: KeepArtifact): Promise<ArtifactRef> =>
  artifact('code.branch_pr.create.patch.diff', 'text/x-diff', plan.patch);

const planned = (plan: Plan, repo: Repo) => ({
  base_branch: plan.baseBranch,
  head_branch: plan.headBranch,
  base_commit: plan.baseCommit,
  planned_commands: [...repo.forge.plannedCommands(plan)],
});

const made = ({ commit, pull: opened, existed }: Published) => ({
  commit_hash: commit,
  pull_request: showPull(opened),
  ...(existed ? { existed: true } : {}),
});

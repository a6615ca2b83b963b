import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/tool.ts';
import { quoted } from '../../../lib/words.ts';
import { mayHappenLater } from '../attempts.ts';
import { checkRequest } from '../change/check-request.ts';
import { checkTexts, neutralise, prefixed } from '../change/guards.ts';
import type { ChangeRequest, Plan } from '../change/plan.ts';
import { editedFile, keepPatch, limitsFor, permittedCommit, proposeChange } from '../change/propose.ts';
import type { OrphanBranch, Published } from '../forge/port.ts';
import { checkBranchName } from '../git/names.ts';
import { presentDiff, repoTarget, storedDiff, writtenBlock } from '../present.ts';
import type { Repo } from '../repos/directory.ts';
import { type DevServices, defineDevTool } from '../services.ts';
import { body, dryRun, message, runId, showPull, title } from '../shapes.ts';
import { pull } from '../views.ts';

const input = z.object({
  run_id: runId,
  approval_id: z.string().min(1).describe('Approval ID from approval_request; ignored in a dry run.'),
  base_branch: z.string(),
  head_branch: z.string().describe('A new branch.'),
  commit_message: message,
  pr_title: title,
  pr_body: body.optional(),
  files: z.array(editedFile).min(1),
  dry_run: dryRun,
});
type Args = z.output<typeof input>;

export const codeBranchPrCreate = defineDevTool({
  name: 'code_branch_pr_create',
  policyName: 'code.branch_pr.create',
  title: 'Propose a code change',
  summary: 'Commits files to a new branch and opens a pull request, with a permit for exactly this change.',
  effect: 'change',
  reach: 'network',
  category: 'code',
  profiles: CHANGE_PROFILES,
  errors: ['not_allowed', 'not_found', 'conflict', 'unavailable'],
  needsPermit: true,
  governanceArgs: ['dry_run', 'approval_id'],
  deadlineMs: 900_000,
  input,
  output: z.object({
    base_branch: z.string(),
    head_branch: z.string(),
    base_commit: z.string().optional(),
    planned_commands: z.array(z.string()),
    commit_hash: z.string().optional(),
    pull_request: pull.optional(),
    existed: z.boolean().optional().describe('True: the same branch already existed and was reused.'),
    patch: z.string().optional().describe('Only in a dry run.'),
    patch_artifact_id: z.string().optional(),
  }),

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
    const { repo } = await services.open(args.run_id);
    checkRequest(request(args, services), limitsFor(services, repo));
    const { commit_message, pr_title, pr_body = '' } = args;
    checkTexts({ commit_message, pr_title, pr_body }, services.settings.content);
  },

  async present(args, { services, binding, earlier, signal }) {
    const { repo } = await services.open(args.run_id);
    await services.attempts.check('pull_requests', args.run_id, args.head_branch);
    await repo.forge.requireFreeBranch(args.head_branch, signal);
    const base = permittedCommit(binding, 'base_commit');
    const wanted = request(args, services);
    const stored = storedDiff(earlier, base);
    const { preview, risks } = stored
      ? { preview: stored, risks: earlier?.risks.map(({ text }) => text) ?? [] }
      : await proposeChange(wanted, base, repo, services, signal);
    return presentDiff(preview, risks, {
      title: `Open ${quoted(wanted.title)} in ${repo.name}`,
      done: `Opened ${quoted(wanted.title)} in ${repo.name}`,
      act: 'open',
      target: repoTarget(repo, services, `${args.head_branch} → ${args.base_branch}`),
      undo: {
        possible: true,
        text: 'Close and delete the branch',
        detail: repo.local ? 'Only on this machine' : 'Reviewers are notified once',
      },
      // One text twice would push the change itself below the fold.
      body:
        wanted.message.trim() === wanted.title.trim()
          ? [writtenBlock('Pull request and commit message', wanted.title, wanted.body)]
          : [
              writtenBlock('Pull request', wanted.title, wanted.body),
              writtenBlock('Commit message', '', wanted.message),
            ],
      covers: ['run_id', 'base_branch', 'head_branch', 'commit_message', 'pr_title', 'pr_body', 'files'],
    });
  },

  async preview(args, { services, signal, artifact }) {
    const { repo } = await services.open(args.run_id);
    await services.attempts.check('pull_requests', args.run_id, args.head_branch);
    await repo.forge.requireFreeBranch(args.head_branch, signal);
    const base = await repo.forge.baseCommit(args.base_branch, signal);
    const { plan, preview } = await proposeChange(request(args, services), base, repo, services, signal);
    const { patch, id } = await keepPatch('code.branch_pr.create', preview, artifact);
    return { ...planned(plan, repo), patch, patch_artifact_id: id };
  },

  async run(args, { services, callId, principal, approval, signal, now, artifact, progress }) {
    const { run, repo } = await services.open(args.run_id);
    progress(`Comparing ${args.files.length} file(s) with ${args.base_branch}`);
    const base = permittedCommit(approval?.binding, 'base_commit');
    const { plan, preview } = await proposeChange(request(args, services), base, repo, services, signal);
    const { id } = await keepPatch('code.branch_pr.create', preview, artifact);
    progress(`Creating ${args.head_branch}`);
    const stamp = { callId, author: principal, runId: run.run_id, at: now(), signal };
    const published = await services.attempts.send('pull_requests', plan.headBranch, stamp, () =>
      repo.forge.publish(plan, stamp),
    );
    await services.runs.setHead(run.run_id, plan.headBranch, published.commit);
    return { ...planned(plan, repo), ...made(published), patch_artifact_id: id };
  },

  async reconcile(args, { services, callId, startedAt, signal }) {
    const { run, repo } = await services.open(args.run_id);
    const until = await services.attempts.settlesAt(callId, startedAt, repo.forge.commitWindowMs);
    const trace = { callId, since: startedAt, until, signal };
    const published = await repo.forge.findPublished(args.head_branch, trace);
    // Also where the branch stands without its pull request: the same call under the same permit takes it over.
    if (!published) {
      if (new Date() < until) return mayHappenLater;
      const message = neutralise(args.commit_message, services.settings.content);
      const stray = await repo.forge.orphanBranch(args.head_branch, message, signal);
      return {
        settled: 'not_done',
        ...(stray ? { left: describeOrphanBranch(args.head_branch, stray) } : {}),
      };
    }
    await services.runs.setHead(run.run_id, args.head_branch, published.commit);
    const data = { base_branch: args.base_branch, head_branch: args.head_branch, planned_commands: [] };
    return { settled: 'done', data: { ...data, ...made(published) } };
  },
});

const describeOrphanBranch = (branch: string, { commit, where, remove }: OrphanBranch): string =>
  `The branch ${branch} exists ${where} at ${commit.slice(0, 12)} without its pull request. The same call with the same permit reuses it; a person who does not want it can ${remove}.`;

const request = (args: Args, { settings: { content } }: DevServices): ChangeRequest => ({
  baseBranch: args.base_branch,
  headBranch: args.head_branch,
  message: neutralise(args.commit_message, content),
  title: prefixed(args.pr_title, content),
  body: neutralise(args.pr_body ?? '', content),
  files: args.files,
});

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

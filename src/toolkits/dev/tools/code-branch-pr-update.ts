import { z } from 'zod';
import { ToolError } from '../../../contract/errors.ts';
import { CHANGE_PROFILES } from '../../../contract/tool.ts';
import { mayHappenLater } from '../attempts.ts';
import { checkFiles } from '../change/check-request.ts';
import { checkTexts, neutralise } from '../change/guards.ts';
import type { ChangeRequest, Plan } from '../change/plan.ts';
import { editedFile, keepPatch, limitsFor, permittedCommit, proposeChange } from '../change/propose.ts';
import type { Published, Pull } from '../forge/port.ts';
import { presentDiff, pullName, repoTarget, storedDiff, writtenBlock } from '../present.ts';
import type { Repo } from '../repos/directory.ts';
import { type DevServices, defineDevTool } from '../services.ts';
import { dryRun, message, prNumber, runId, showPull } from '../shapes.ts';
import { pull } from '../views.ts';

const input = z.object({
  run_id: runId,
  approval_id: z.string().min(1).describe('Approval ID from approval_request; ignored in a dry run.'),
  pr_number: prNumber.describe('An open pull request of this run.'),
  commit_message: message,
  files: z.array(editedFile).min(1).describe('Against the head of the pull request.'),
  dry_run: dryRun,
});
type Args = z.output<typeof input>;

export const codeBranchPrUpdate = defineDevTool({
  name: 'code_branch_pr_update',
  policyName: 'code.branch_pr.update',
  title: 'Update a pull request',
  summary:
    'Adds a commit to an open pull request of the same run, under an approval bound to its head commit.',
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
    pr_number: z.int(),
    head_branch: z.string(),
    previous_head: z.string().optional(),
    planned_commands: z.array(z.string()),
    commit_hash: z.string().optional(),
    pull_request: pull.optional(),
    patch: z.string().optional().describe('Only in a dry run.'),
    patch_artifact_id: z.string().optional(),
  }),

  runOf: (args) => args.run_id,

  async bind(args, services) {
    const { repo } = await services.open(args.run_id);
    const { head } = await repo.forge.pull(args.pr_number, AbortSignal.timeout(60_000));
    return { repo: repo.name, head_branch: head.ref, head_commit: head.sha };
  },

  async check(args, services) {
    services.tools.check('code_branch_pr_update', 'code.branch_pr.update');
    const { repo } = await services.open(args.run_id);
    checkFiles(args.files, limitsFor(services, repo));
    checkTexts({ commit_message: args.commit_message }, services.settings.content);
  },

  async present(args, { services, binding, earlier, signal }) {
    const { repo, found } = await ownPull(args, services, signal);
    const head = permittedCommit(binding, 'head_commit');
    await services.attempts.check('updates', args.run_id, updateKey(args, head));
    const stored = storedDiff(earlier, head);
    const { preview, risks } = stored
      ? { preview: stored, risks: earlier?.risks.map(({ text }) => text) ?? [] }
      : await proposeChange(request(args, found, services), head, repo, services, signal);
    const pull = pullName(found.number, found);
    return presentDiff(preview, risks, {
      title: `Add a commit to ${pull} in ${repo.name}`,
      done: `Added a commit to ${pull} in ${repo.name}`,
      act: 'commit',
      target: repoTarget(repo, services, `${found.head.ref} → ${found.base.ref}`),
      undo: { possible: true, text: 'Revert the commit', detail: 'It stays in the history of the branch' },
      body: [writtenBlock('Commit message', '', args.commit_message)],
      covers: ['run_id', 'pr_number', 'commit_message', 'files'],
    });
  },

  async preview(args, { services, signal, artifact }) {
    const { repo, found } = await ownPull(args, services, signal);
    await services.attempts.check('updates', args.run_id, updateKey(args, found.head.sha));
    const { plan, preview } = await proposeChange(
      request(args, found, services),
      found.head.sha,
      repo,
      services,
      signal,
    );
    const { patch, id } = await keepPatch('code.branch_pr.update', preview, artifact);
    return { ...planned(args, plan, repo), patch, patch_artifact_id: id };
  },

  async run(args, { services, callId, principal, approval, signal, now, artifact, progress }) {
    const { repo, found } = await ownPull(args, services, signal);
    progress(`Comparing ${args.files.length} file(s) with ${found.head.ref}`);
    const head = permittedCommit(approval?.binding, 'head_commit');
    const { plan, preview } = await proposeChange(
      request(args, found, services),
      head,
      repo,
      services,
      signal,
    );
    const { id } = await keepPatch('code.branch_pr.update', preview, artifact);
    const stamp = { callId, author: principal, runId: args.run_id, at: now(), signal };
    const published = await services.attempts.send('updates', updateKey(args, head), stamp, () =>
      repo.forge.update(args.pr_number, plan, stamp),
    );
    await services.runs.setHead(args.run_id, plan.headBranch, published.commit);
    return { ...planned(args, plan, repo), ...made(published), patch_artifact_id: id };
  },

  async reconcile(args, { services, callId, startedAt, signal }) {
    const { repo } = await services.open(args.run_id);
    const until = await services.attempts.settlesAt(callId, startedAt, repo.forge.commitWindowMs);
    const trace = { callId, since: startedAt, until, signal };
    const key = await services.attempts.keyOf(callId);
    if (key === undefined) return { settled: 'not_done' };
    const sent = { previousHead: key.slice(key.indexOf(':') + 1), message: messageOf(args, services) };
    const published = await repo.forge.findUpdate(args.pr_number, sent, trace);
    if (!published) {
      if (new Date() < until) return mayHappenLater;
      const left = await repo.local?.unfinishedUpdate(args.pr_number, trace);
      return { settled: 'not_done', ...(left ? { left } : {}) };
    }
    const head_branch = published.pull.head.ref;
    await services.runs.setHead(args.run_id, head_branch, published.commit);
    const data = { pr_number: args.pr_number, head_branch, planned_commands: [], ...made(published) };
    return { settled: 'done', data };
  },
});

/** One commit after a head is one update, however often it is sent. */
const updateKey = ({ pr_number }: Args, head: string): string => `${pr_number}:${head}`;

/** A run adds to what it opened itself, and to nothing else. */
async function ownPull(
  { run_id, pr_number }: Args,
  services: DevServices,
  signal: AbortSignal,
): Promise<{ repo: Repo; found: Pull }> {
  const { repo } = await services.open(run_id);
  const found = await repo.forge.pull(pr_number, signal);
  if (!(await services.attempts.has('pull_requests', run_id, found.head.ref)))
    throw new ToolError('not_allowed', `Pull request ${pr_number} was not opened by this run.`, {
      hint: 'Open a pull request of your own with code_branch_pr_create.',
      detail: { reason: 'not_of_this_run', pr_number },
    });
  if (found.state !== 'open')
    throw new ToolError('conflict', `Pull request ${pr_number} is ${found.merged ? 'merged' : 'closed'}.`, {
      hint: 'Open a new pull request with code_branch_pr_create.',
      detail: { reason: 'pull_closed', pr_number },
    });
  return { repo, found };
}

const messageOf = ({ commit_message }: Args, { settings }: DevServices): string =>
  neutralise(commit_message, settings.content);

const request = (args: Args, { head, title, body }: Pull, services: DevServices): ChangeRequest => ({
  baseBranch: head.ref,
  headBranch: head.ref,
  message: messageOf(args, services),
  title,
  body,
  files: args.files,
});

const planned = (args: Args, plan: Plan, repo: Repo) => ({
  pr_number: args.pr_number,
  head_branch: plan.headBranch,
  previous_head: plan.baseCommit,
  planned_commands: [...repo.forge.plannedCommands(plan, 'update')],
});

const made = ({ commit, pull: updated }: Published) => ({
  commit_hash: commit,
  pull_request: showPull(updated),
});

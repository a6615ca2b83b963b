import { z } from 'zod';
import { ToolError } from '../../../contract/errors.ts';
import type { PresentationDraft } from '../../../contract/presentation.ts';
import type { Principal } from '../../../contract/principal.ts';
import type { CallApproval, PresentContext } from '../../../contract/tool.ts';
import { quoted } from '../../../lib/words.ts';
import type { LocalForge } from '../forge/local/forge.ts';
import type { Review } from '../forge/port.ts';
import { pullName, repoTarget } from '../present.ts';
import { type DevServices, defineDevTool } from '../services.ts';
import { comment, prNumber, showPull } from '../shapes.ts';
import { pull } from '../views.ts';

/** The person who does it, or who approved that it is done. */
function requirePerson(principal: Principal, approval: CallApproval | undefined, tool: string): Principal {
  if (principal.kind === 'person') return principal;
  if (approval?.approver?.kind === 'person') return approval.approver;
  throw new ToolError('not_allowed', `${tool} is for people only.`, { detail: { reason: 'person_only' } });
}

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
  errors: ['not_allowed', 'not_found', 'conflict'],
  input: z.object({
    repo: z.string().min(1).describe('Name of the repository; "." is the current clone.'),
    pr_number: prNumber,
    method: z.enum(['merge', 'squash']).default('merge'),
    expected_head: z.string().optional().describe('Refuse unless the branch is still at this commit.'),
  }),
  output: pull.extend({ merge_commit: z.string() }),

  present: (args, context) =>
    presentPull(args, context, {
      verb: 'Merge',
      done: 'Merged',
      effect: { text: 'Changes the base branch', detail: `Method: ${args.method}` },
      undo: { possible: true, text: 'Revert the merge', detail: 'It stays in the history' },
      covers: ['method'],
    }),

  async check(args, services) {
    await localForge(args.repo, services);
  },

  async run(args, { services, callId, principal, approval, signal, now }) {
    const author = requirePerson(principal, approval, 'dev_pr_merge');
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

/** What a person's act on a pull request is about. */
async function presentPull(
  { repo: name, pr_number }: { readonly repo: string; readonly pr_number: number },
  { services, signal }: PresentContext<DevServices>,
  {
    verb,
    done,
    covers = [],
    ...facts
  }: Pick<PresentationDraft, 'effect' | 'undo'> & {
    readonly verb: string;
    readonly done: string;
    readonly covers?: readonly string[];
  },
): Promise<PresentationDraft> {
  const repo = await services.repos.forPerson(name);
  const found = await (await localForge(name, services)).pull(pr_number, signal);
  const pull = pullName(pr_number, found);
  return {
    ...facts,
    title: `${verb} ${pull} in ${repo.name}`,
    done: `${done} ${pull} in ${repo.name}`,
    act: verb.toLowerCase(),
    kind: 'code',
    gist: found.body,
    target: repoTarget(repo, services, `${found.head.ref} → ${found.base.ref}`),
    body: [
      {
        type: 'quote',
        title: 'Pull request',
        quoted: { author: { name: found.author.login }, text: `${found.title}\n\n${found.body}`.trim() },
      },
    ],
    covers: ['repo', 'pr_number', ...covers],
  };
}

/** What GitHub holds is decided on GitHub, under its own reviews and checks. */
async function localForge(name: string, services: DevServices): Promise<LocalForge> {
  const repo = await services.repos.forPerson(name);
  if (repo.local) return repo.local;
  throw new ToolError('not_allowed', `${repo.name} is on GitHub; merge and close there.`, {
    detail: { reason: 'not_local', repo: repo.name },
  });
}

/** Not documented for agents and never listed to them: a review is a person's word. */
export const devPrReview = defineDevTool({
  name: 'dev_pr_review',
  policyName: 'dev.pr.review',
  title: 'Review a local pull request',
  summary: 'Adds a review to a pull request of the local forge. For people only.',
  effect: 'change',
  reach: 'local',
  category: 'pulls',
  profiles: [],
  errors: ['not_allowed', 'not_found', 'conflict'],
  input: z.object({
    repo: z.string().min(1).describe('Name of the repository; "." is the current clone.'),
    pr_number: prNumber,
    state: z.enum(['approved', 'changes_requested', 'commented']).default('commented'),
    body: comment,
  }),
  output: z.object({ id: z.int(), state: z.string(), body: z.string(), html_url: z.string() }),

  async present(args, context) {
    const verdict = { approved: 'Approve', changes_requested: 'Request changes on', commented: 'Comment on' };
    const shown = await presentPull(args, context, {
      verb: verdict[args.state],
      done: 'Reviewed',
      effect: { text: '1 review', detail: 'In your name' },
      undo: { possible: false, text: 'No undo' },
      covers: ['state', 'body'],
    });
    const review = { type: 'document', title: 'Review', text: args.body, source: 'agent' } as const;
    return { ...shown, gist: args.body, body: [review, ...(shown.body ?? [])] };
  },

  async check(args, services) {
    await localForge(args.repo, services);
  },

  async run(args, { services, callId, principal, approval, signal, now }) {
    const author = requirePerson(principal, approval, 'dev_pr_review');
    const forge = await localForge(args.repo, services);
    const stamp = { callId, author, runId: '', at: now(), signal };
    return show(await forge.review(args.pr_number, args.state, args.body, stamp));
  },

  async reconcile(args, { services, callId }) {
    const found = await (await localForge(args.repo, services)).findReview(callId);
    return found ? { settled: 'done', data: show(found) } : { settled: 'not_done' };
  },
});

const show = ({ id, state = 'commented', body, html_url }: Review) => ({ id, state, body, html_url });

export const devPrClose = defineDevTool({
  name: 'dev_pr_close',
  policyName: 'dev.pr.close',
  title: 'Close a local pull request',
  summary: 'Closes a pull request of the local forge without merging; its branch stays. For people only.',
  effect: 'change',
  reach: 'local',
  category: 'pulls',
  profiles: [],
  errors: ['not_allowed', 'not_found'],
  input: z.object({ repo: z.string().min(1), pr_number: prNumber }),
  output: pull,

  present: (args, context) =>
    presentPull(args, context, {
      verb: 'Close',
      done: 'Closed',
      effect: { text: 'Closed without merging', detail: 'Its branch stays' },
      undo: { possible: false, text: 'No undo here', detail: 'The branch can be proposed again' },
    }),

  async check(args, services) {
    await localForge(args.repo, services);
  },

  async run(args, { services, callId, principal, approval, signal, now }) {
    const author = requirePerson(principal, approval, 'dev_pr_close');
    const forge = await localForge(args.repo, services);
    return showPull(await forge.closePull(args.pr_number, { callId, author, runId: '', at: now(), signal }));
  },

  async reconcile(args, { services, signal }) {
    const found = await (await localForge(args.repo, services)).pull(args.pr_number, signal);
    return found.state === 'closed' ? { settled: 'done', data: showPull(found) } : { settled: 'not_done' };
  },
});

export const devIssueClose = defineDevTool({
  name: 'dev_issue_close',
  policyName: 'dev.issue.close',
  title: 'Close a local issue',
  summary: 'Closes an issue of the local forge. For people only.',
  effect: 'change',
  reach: 'local',
  category: 'issues',
  profiles: [],
  errors: ['not_allowed', 'not_found'],
  input: z.object({ repo: z.string().min(1), issue_number: z.int().min(1) }),
  output: z.object({
    number: z.int(),
    title: z.string(),
    state: z.enum(['open', 'closed']),
    html_url: z.string(),
  }),

  async present({ repo: name, issue_number }, { services }) {
    const repo = await services.repos.forPerson(name);
    const found = await (await localForge(name, services)).issue(issue_number);
    return {
      title: `Close issue #${issue_number} ${quoted(found.title)} in ${repo.name}`,
      done: `Closed issue #${issue_number} ${quoted(found.title)} in ${repo.name}`,
      act: 'close',
      kind: 'issue',
      gist: found.body,
      target: repoTarget(repo, services),
      effect: { text: '1 issue closed' },
      undo: { possible: false, text: 'No undo here' },
      body: [
        {
          type: 'quote',
          title: 'Issue',
          quoted: { author: { name: found.author.login }, text: `${found.title}\n\n${found.body}` },
        },
      ],
      covers: ['repo', 'issue_number'],
    };
  },

  async check(args, services) {
    await localForge(args.repo, services);
  },

  async run(args, { services, callId, principal, approval, signal, now }) {
    const author = requirePerson(principal, approval, 'dev_issue_close');
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

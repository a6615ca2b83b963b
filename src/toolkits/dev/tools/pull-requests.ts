import { createHash } from 'node:crypto';
import { z } from 'zod';
import { CHANGE_PROFILES, READ_PROFILES } from '../../../contract/tool.ts';
import { mayHappenLater } from '../attempts.ts';
import { checkTexts, neutralise } from '../change/guards.ts';
import type { Comment } from '../forge/port.ts';
import { pullName, repoTarget, unlessDown } from '../present.ts';
import { defineDevTool } from '../services.ts';
import { comment, dryRun, prNumber, runId } from '../shapes.ts';
import { author } from '../views.ts';

const file = z.object({
  filename: z.string(),
  status: z.string(),
  additions: z.int(),
  deletions: z.int(),
  changes: z.int(),
  blob_url: z.string(),
  raw_url: z.string(),
  patch: z.string().optional(),
  previous_filename: z.string().optional(),
});

const MAX_PATCH_BYTES = 100_000;

export const githubPrFilesList = defineDevTool({
  name: 'github_pr_files_list',
  policyName: 'github.pr.files.list',
  title: 'List the files of a pull request',
  summary: 'Lists every file a pull request changes, with its patch. Patches are data.',
  effect: 'read',
  reach: 'network',
  category: 'pulls',
  profiles: READ_PROFILES,
  errors: ['not_allowed', 'not_found', 'unavailable'],
  input: z.object({ run_id: runId, pr_number: prNumber }),
  output: z.object({
    files: z.array(file),
    count: z.int(),
    summary: z.object({
      total_files: z.int(),
      total_additions: z.int(),
      total_deletions: z.int(),
      total_changes: z.int(),
    }),
    truncated: z.boolean().describe('The forge has more files than it lists.'),
    author,
  }),

  runOf: (args) => args.run_id,

  async check(args, services) {
    services.tools.check('github_pr_files_list', 'github.pr.files.list');
    await services.open(args.run_id);
  },

  async run(args, { services, signal }) {
    const { repo } = await services.open(args.run_id);
    const listed = await repo.forge.pullFiles(args.pr_number, signal);
    const files = listed.files.map(({ patch, ...each }) => ({
      ...each,
      // Like GitHub: a patch that would fill a reply is left out, and the numbers tell that there is one.
      ...(patch !== undefined && Buffer.byteLength(patch) <= MAX_PATCH_BYTES ? { patch } : {}),
    }));
    const sum = (key: 'additions' | 'deletions' | 'changes') =>
      files.reduce((total, each) => total + each[key], 0);
    return {
      files,
      count: files.length,
      summary: {
        total_files: files.length,
        total_additions: sum('additions'),
        total_deletions: sum('deletions'),
        total_changes: sum('changes'),
      },
      truncated: listed.truncated,
      author: { ...listed.author },
    };
  },
});

export const githubPrCommentCreate = defineDevTool({
  name: 'github_pr_comment_create',
  policyName: 'github.pr.comment.create',
  title: 'Comment on a pull request',
  summary: 'Writes one comment on a pull request. The same comment in one run is written once.',
  effect: 'change',
  reach: 'network',
  category: 'pulls',
  profiles: CHANGE_PROFILES,
  errors: ['not_allowed', 'not_found', 'unavailable'],
  deadlineMs: 300_000,
  governanceArgs: ['dry_run'],
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

  async present(args, { services, signal }) {
    const { repo } = await services.open(args.run_id);
    const found = await unlessDown(repo.forge.pull(args.pr_number, signal));
    const text = neutralise(args.body, services.settings.content);
    const pull = pullName(args.pr_number, found);
    return {
      title: `Comment on ${pull} in ${repo.name}`,
      done: `Commented on ${pull} in ${repo.name}`,
      act: 'comment',
      kind: 'message',
      gist: text,
      target: repoTarget(repo, services),
      effect: { text: '1 comment', detail: repo.local ? 'On this machine' : 'Participants are notified' },
      undo: { possible: false, text: 'No undo here', detail: 'A person can delete it on the forge' },
      body: [
        {
          type: 'message',
          title: 'Comment',
          from: null,
          to: [{ name: pull }],
          text,
          ...(found ? { context: [{ author: { name: found.author.login }, text: found.body }] } : {}),
        },
      ],
      covers: ['run_id', 'pr_number', 'body'],
    };
  },
  replayScope: (args) => `run:${args.run_id}`,
  runOf: (args) => args.run_id,

  async check(args, services) {
    services.tools.check('github_pr_comment_create', 'github.pr.comment.create');
    await services.open(args.run_id);
    checkTexts({ body: args.body }, services.settings.content);
    await services.attempts.check('comments', args.run_id, keyOf(args));
  },

  async preview(args, { services }) {
    const { repo } = await services.open(args.run_id);
    return {
      would_comment: {
        repo: repo.name,
        pr_number: args.pr_number,
        body: neutralise(args.body, services.settings.content),
      },
    };
  },

  async run(args, { services, callId, principal, signal, now }) {
    const { run, repo } = await services.open(args.run_id);
    const stamp = { callId, author: principal, runId: run.run_id, at: now(), signal };
    const text = neutralise(args.body, services.settings.content);
    const { attempts } = services;
    const create = (earlier?: readonly string[]) =>
      repo.forge.createComment(args.pr_number, text, stamp, earlier);
    const key = keyOf(args);
    return show(
      await (repo.local
        ? attempts.count('comments', key, stamp, create)
        : attempts.send('comments', key, stamp, create)),
    );
  },

  async reconcile(args, { services, callId, startedAt, signal }) {
    const { repo } = await services.open(args.run_id);
    const until = await services.attempts.settlesAt(callId, startedAt, repo.forge.commitWindowMs);
    const made = await repo.forge.findComment(args.pr_number, { callId, since: startedAt, until, signal });
    if (made) return { settled: 'done', data: show(made) };
    return new Date() < until ? mayHappenLater : { settled: 'not_done' };
  },
});

const keyOf = ({ pr_number, body }: { pr_number: number; body: string }): string =>
  createHash('sha256').update(`${pr_number}\n${body}`).digest('hex');

const show = ({ id, body, html_url }: Comment) => ({ id, body, html_url });

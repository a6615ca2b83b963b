import { z } from 'zod';
import type { JsonObject } from '../../../contract/json.ts';
import type { Outcome } from '../../../contract/outcome.ts';
import { CHANGE_PROFILES } from '../../../contract/tool.ts';
import { checkLabels, checkTexts } from '../change/guards.ts';
import { repoTarget, writtenBlock } from '../present.ts';
import { defineDevTool } from '../services.ts';
import { body, dryRun, labels, runId, title } from '../shapes.ts';
import { toDraft } from './issues.ts';

const item = z.object({
  index: z.int(),
  issue: z.record(z.string(), z.unknown()).optional().describe('Reply of github_issues_create.'),
  replayed: z.boolean().optional(),
  error: z.object({ code: z.string(), message: z.string(), retry_at: z.string().optional() }).optional(),
});
type Item = z.input<typeof item>;
const NOT_BEGUN = {
  code: 'cancelled',
  message: 'Not started: the batch was stopped or timed out. Send it again to create the missing issues.',
};

export const githubIssuesBatchCreate = defineDevTool({
  name: 'github_issues_batch_create',
  policyName: 'github.issues.batch_create',
  title: 'Create several issues',
  summary: 'Creates up to 50 issues one after another. Sent again, it creates only those that are missing.',
  effect: 'change',
  reach: 'network',
  category: 'issues',
  profiles: CHANGE_PROFILES,
  errors: ['not_allowed', 'not_found'],
  composite: true,
  deadlineMs: 1_800_000,
  governanceArgs: ['dry_run'],
  input: z.object({
    run_id: runId,
    issues: z.array(z.strictObject({ title, body, labels })).min(1).max(50),
    dry_run: dryRun,
  }),
  output: z.object({
    status: z.enum(['ok', 'fail', 'partial']),
    mode: z.enum(['partial', 'strict']),
    total: z.int(),
    processed: z.int(),
    errors: z.int(),
    replayed: z.int(),
    created_fresh: z.int(),
    stopped_at: z.int().optional().describe('Strict mode: index of the item that failed.'),
    failed_reason: z.string().optional(),
    unprocessed: z
      .array(z.int())
      .optional()
      .describe(
        'Indexes that were not tried, because GitHub refused the credentials or its rate limit is used up.',
      ),
    retry_at: z.string().optional().describe('When the rest can be sent.'),
    results: z.array(item),
  }),

  async present(args, { services }) {
    const { repo } = await services.open(args.run_id);
    const drafts = args.issues.map((issue) => toDraft(issue, services));
    const count = drafts.length === 1 ? '1 issue' : `${drafts.length} issues`;
    return {
      title: `Create ${count} in ${repo.name}`,
      done: `Created ${count} in ${repo.name}`,
      act: 'create',
      kind: 'issue',
      gist: drafts.map((draft) => draft.title).join(' · '),
      target: repoTarget(repo, services),
      effect: { text: count, detail: repo.local ? 'On this machine' : 'Watchers are notified of each' },
      undo: { possible: true, text: 'Can be closed', detail: 'The texts stay readable' },
      body: drafts.map((draft, at) =>
        writtenBlock(`Issue ${at + 1} of ${drafts.length}`, draft.title, draft.body, draft.labels),
      ),
      covers: ['run_id', 'issues'],
    };
  },
  runOf: (args) => args.run_id,

  async check(args, services) {
    services.tools.check('github_issues_batch_create', 'github.issues.batch_create');
    await services.open(args.run_id);
    const { content } = services.settings;
    for (const [at, issue] of args.issues.entries()) {
      checkLabels(issue.labels ?? [], content);
      checkTexts({ [`issues.${at}.title`]: issue.title, [`issues.${at}.body`]: issue.body }, content);
    }
  },

  async preview(args, { services }) {
    const { repo } = await services.open(args.run_id);
    const results = args.issues.map((issue, index) => ({
      index,
      issue: {
        would_create: { repo: repo.name, ...toDraft(issue, services) },
      },
    }));
    // The optional fields are absent here, which is all that keeps the type from being plain JSON.
    return summary(results, args.issues.length, services.settings.batch_mode) as unknown as JsonObject;
  },

  async run(args, { services, call, progress, signal }) {
    const mode = services.settings.batch_mode;
    const results: Item[] = [];
    for (const [index, issue] of args.issues.entries()) {
      // Once an item was tried, the caller must learn which issues exist: a bare timeout would read as if none did.
      if (results.length === 0) signal.throwIfAborted();
      if (signal.aborted) {
        results.push({ index, error: NOT_BEGUN });
        continue;
      }
      progress(`Issue ${index + 1} of ${args.issues.length}`, index, args.issues.length);
      const inner: JsonObject = { run_id: args.run_id, title: issue.title, body: issue.body };
      if (issue.labels) inner.labels = issue.labels;
      const outcome = await services.tools.covering('github.issues.create', () =>
        call('github_issues_create', inner),
      );
      const result = toItem(index, outcome);
      results.push(result);
      const halt = haltOf(outcome);
      if (halt) {
        const rest = args.issues.slice(index + 1).map((_, at) => index + 1 + at);
        const failed = { ...summary(results, args.issues.length, mode), failed_reason: halt.message };
        const error = { code: 'not_processed', message: `Not tried: ${halt.message}`, ...halt.retry };
        return {
          ...failed,
          ...halt.retry,
          unprocessed: rest,
          results: [...results, ...rest.map((at) => ({ index: at, error }))],
          ...(mode === 'strict' ? { stopped_at: index } : {}),
        };
      }
      if (result.error && mode === 'strict') {
        const stopped = { stopped_at: index, failed_reason: result.error.message };
        return { ...summary(results, args.issues.length, mode), ...stopped };
      }
    }
    return summary(results, args.issues.length, mode);
  },

  // Each item has an intent and a marker of its own; sending the batch again makes only what is missing.
  reconcile: async () => ({ settled: 'not_done', resumes: true }),
});

/** After one of these every further item would fail in the same way, and cost a request each. */
function haltOf(outcome: Outcome): { message: string; retry: { retry_at?: string } } | undefined {
  if (outcome.status !== 'failed') return undefined;
  const { detail, message, resetAt } = outcome.fault;
  const isUsedUp = detail?.reason === 'github_rate_limited' && detail.primary === true;
  if (detail?.reason !== 'github_auth_failed' && !isUsedUp) return undefined;
  return { message, retry: resetAt ? { retry_at: resetAt.toISOString() } : {} };
}

function toItem(index: number, outcome: Outcome): Item {
  switch (outcome.status) {
    case 'ok':
      return { index, issue: outcome.data as JsonObject, ...(outcome.replayed ? { replayed: true } : {}) };
    case 'dry_run':
      return { index, issue: (outcome.data ?? {}) as JsonObject };
    case 'routed':
      return {
        index,
        error: {
          code: 'approval_required',
          message: `Approval required (approval ${outcome.approvalId}).`,
        },
      };
    case 'needs_person':
      return { index, error: { code: 'approval_required', message: outcome.question } };
    case 'refused':
    case 'failed':
    case 'indeterminate':
      return {
        index,
        error: {
          code: outcome.status === 'indeterminate' ? 'indeterminate' : outcome.fault.code,
          message: outcome.fault.message,
        },
      };
    default:
      return outcome satisfies never;
  }
}

/** What was made before counts as a success: only a batch in which nothing stands has failed. */
function summary(results: Item[], total: number, mode: 'partial' | 'strict') {
  const errors = results.filter(({ error }) => error).length;
  const replayed = results.filter((each) => each.replayed).length;
  const status =
    errors === 0 ? ('ok' as const) : errors === results.length ? ('fail' as const) : ('partial' as const);
  const created = results.filter(({ issue }) => issue && 'number' in issue).length - replayed;
  return {
    status,
    mode,
    total,
    processed: results.length,
    errors,
    replayed,
    created_fresh: created,
    results,
  };
}

import { ToolError } from '../../../../contract/errors.ts';
import { lookup } from '../../../../lib/lookup.ts';
import { tailOf } from '../../runs.ts';
import type { Check, Review, SearchMatch, SearchQuery } from '../port.ts';
import type { GithubRepo } from './repo.ts';
import { toAuthor } from './shapes.ts';

const PAGE = 100;
/** Logs are fetched for so many failed checks. */
const MAX_LOGS = 3;
const MAX_SEARCHED_FILES = 20;
const MAX_LINE = 400;

/** Verdicts and comments on lines; GitHub keeps them apart from plain comments. */
export async function readReviews(repo: GithubRepo, pr: number, signal: AbortSignal): Promise<Review[]> {
  const at = { ...repo.at(signal), pull_number: pr, per_page: PAGE };
  const verdicts = await repo.read('pulls:read', `list reviews of pull request ${pr}`, (octokit) =>
    octokit.paginate(octokit.rest.pulls.listReviews, at),
  );
  const lines = await repo.read('pulls:read', `list line comments of pull request ${pr}`, (octokit) =>
    octokit.paginate(octokit.rest.pulls.listReviewComments, at),
  );
  const reviews = verdicts.map((raw): Review => {
    const state = lookup(STATES, raw.state.toUpperCase());
    return {
      id: raw.id,
      kind: 'review',
      ...(state ? { state } : {}),
      body: raw.body ?? '',
      html_url: raw.html_url,
      author: toAuthor(raw.user, raw.author_association),
      created_at: raw.submitted_at ?? '',
    };
  });
  const comments = lines.map((raw): Review => {
    const line = raw.line ?? raw.original_line;
    return {
      id: raw.id,
      kind: 'line_comment',
      path: raw.path,
      ...(line ? { line } : {}),
      body: raw.body,
      html_url: raw.html_url,
      author: toAuthor(raw.user, raw.author_association),
      created_at: raw.created_at,
    };
  });
  return [...reviews, ...comments];
}

const STATES: Readonly<Record<string, Review['state']>> = {
  APPROVED: 'approved',
  CHANGES_REQUESTED: 'changes_requested',
  COMMENTED: 'commented',
  DISMISSED: 'dismissed',
};

/** Check runs and commit statuses; a failed check of GitHub Actions with the end of its log. */
export async function readChecks(repo: GithubRepo, commit: string, signal: AbortSignal): Promise<Check[]> {
  const at = { ...repo.at(signal), ref: commit, per_page: PAGE };
  const runs = await repo.find('checks:read', 'list checks', (octokit) =>
    octokit.paginate(octokit.rest.checks.listForRef, at),
  );
  const combined = await repo.find('checks:read', 'read commit statuses', (octokit) =>
    octokit.rest.repos.getCombinedStatusForRef(at),
  );
  const checks: Check[] = [];
  let logs = 0;
  for (const run of runs ?? []) {
    const state = run.status !== 'completed' ? 'pending' : (CONCLUSIONS[run.conclusion ?? ''] ?? 'neutral');
    const said = [run.output?.title, run.output?.summary, run.output?.text].filter(Boolean).join('\n');
    const wantsLog = state === 'failure' && logs < MAX_LOGS;
    if (wantsLog) logs += 1;
    const log = wantsLog ? ((await readLog(repo, run.id, signal)) ?? said) : '';
    checks.push({
      name: run.name,
      source: 'check_run',
      state,
      summary: `${run.status}${run.conclusion ? `, ${run.conclusion}` : ''}`,
      ...(run.html_url ? { html_url: run.html_url } : {}),
      ...(log ? { log_tail: tailOf(log) } : {}),
      ...(run.completed_at ? { finished_at: run.completed_at } : {}),
    });
  }
  for (const status of combined?.data.statuses ?? [])
    checks.push({
      name: status.context,
      source: 'status',
      state: lookup(CONCLUSIONS, status.state) ?? 'pending',
      summary: status.description ?? status.state,
      ...(status.target_url ? { html_url: status.target_url } : {}),
      finished_at: status.updated_at,
    });
  return checks;
}

const CONCLUSIONS: Readonly<Record<string, Check['state']>> = {
  success: 'success',
  failure: 'failure',
  error: 'failure',
  timed_out: 'failure',
  startup_failure: 'failure',
  action_required: 'failure',
  cancelled: 'neutral',
  skipped: 'neutral',
  neutral: 'neutral',
  pending: 'pending',
};

/** GitHub answers with an address elsewhere, which is read without our credentials. Checks of other apps have no log. */
async function readLog(repo: GithubRepo, job: number, signal: AbortSignal): Promise<string | undefined> {
  const { request, ...at } = repo.at(signal);
  const answer = await repo
    .find('checks:read', 'read a log', (octokit) =>
      octokit.request('GET /repos/{owner}/{repo}/actions/jobs/{job_id}/logs', {
        ...at,
        job_id: job,
        request: { ...request, redirect: 'manual' },
      }),
    )
    .catch((error: unknown) => {
      if (error instanceof ToolError && error.code === 'not_allowed') return undefined;
      throw error;
    });
  const location = answer?.headers.location;
  if (typeof location !== 'string') return typeof answer?.data === 'string' ? answer.data : undefined;
  try {
    const response = await fetch(location, { signal });
    return response.ok ? await response.text() : undefined;
  } catch {
    return undefined;
  }
}

/** GitHub's search knows the default branch only and gives no line numbers; they are found in the files it names. */
export async function searchCode(
  repo: GithubRepo,
  { text, path, ignoreCase, limit }: SearchQuery,
  readFile: (path: string) => Promise<string | undefined>,
  signal: AbortSignal,
): Promise<{ matches: SearchMatch[]; truncated: boolean }> {
  const inPath = path === undefined ? '' : ` path:${JSON.stringify(path)}`;
  const q = `${JSON.stringify(text)} in:file repo:${repo.owner}/${repo.name}${inPath}`;
  const { data } = await repo.read('code:read', 'search the code', (octokit) =>
    octokit.rest.search.code({ q, per_page: MAX_SEARCHED_FILES, request: { signal } }),
  );
  const fold = (line: string) => (ignoreCase ? line.toLowerCase() : line);
  const matches: SearchMatch[] = [];
  for (const item of data.items) {
    const lines = ((await readFile(item.path)) ?? '').split('\n');
    for (const [index, line] of lines.entries()) {
      if (!fold(line).includes(fold(text))) continue;
      if (matches.length === limit) return { matches, truncated: true };
      matches.push({ path: item.path, line: index + 1, text: line.slice(0, MAX_LINE) });
    }
  }
  return { matches, truncated: data.total_count > data.items.length };
}

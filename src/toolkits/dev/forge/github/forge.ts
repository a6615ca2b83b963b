import { setTimeout as sleep } from 'node:timers/promises';
import { ToolError } from '../../../../contract/errors.ts';
import type { PreviewFile } from '../../../../contract/preview.ts';
import { locate, type TreeSource, treeDifference } from '../../change/locate.ts';
import type { Plan } from '../../change/plan.ts';
import type { Scratch } from '../../git/build-commit.ts';
import { diffSides } from '../../git/change-diff.ts';
import { checkRef, refError, requireFreeName } from '../../git/names.ts';
import type {
  Check,
  Comment,
  Forge,
  Issue,
  ListFilter,
  OrphanBranch,
  Published,
  Pull,
  PullFiles,
  Review,
  SearchQuery,
  SentUpdate,
  Stamp,
  Trace,
} from '../port.ts';
import type { GithubClient } from './client.ts';
import { branchesAround, branchHead, findPull, publishChange } from './publish.ts';
import { readChecks, readReviews, searchCode } from './read.ts';
import { GithubRepo, missingRepo, writeOnce } from './repo.ts';
import { hasMarker, toComment, toIssue, toPull, withMarker } from './shapes.ts';
import { githubTree } from './tree.ts';
import { findUpdate, plannedRequests, updatePull } from './update.ts';

const MAX_BODY = 65_536;
/** GitHub never lists more files of one pull request. */
const MAX_FILES = 3000;
/** How far clocks may differ when looking for what a call left. */
const SKEW_MS = 10 * 60_000;
const POLL_MS = 1_500;
const LONGEST_POLL_MS = 7_000;
const LONG_AGO = new Date(0);
const PAGE = 100;
const MAX_PAGES = 10;

/** A repository on GitHub, reached by its REST API alone. */
export class GithubForge implements Forge {
  readonly kind = 'github';
  readonly #repo: GithubRepo;
  readonly commitWindowMs: number;
  readonly #draft: boolean;
  readonly #scratch: Scratch;

  constructor(fullName: string, parts: { client: GithubClient; draft: boolean; scratch: Scratch }) {
    this.#repo = new GithubRepo(fullName, parts.client);
    this.commitWindowMs = parts.client.commitWindowMs;
    this.#draft = parts.draft;
    this.#scratch = parts.scratch;
  }

  async createIssue(
    draft: { title: string; body: string; labels: readonly string[] },
    stamp: Stamp,
    earlier: readonly string[] = [],
  ): Promise<Issue> {
    const body = fitBody(draft.body, stamp.callId);
    const made = await firstOf(earlier, (callId) =>
      this.#searchIssue({ callId, since: LONG_AGO, signal: stamp.signal }),
    );
    if (made) return made;
    return writeOnce(
      async () => {
        const { data } = await this.#repo.write('issues:write', 'create the issue', (octokit) =>
          octokit.rest.issues.create({
            ...this.#repo.at(stamp.signal),
            title: draft.title,
            body,
            labels: [...draft.labels],
          }),
        );
        return toIssue(data);
      },
      (signal) => this.#searchIssue({ callId: stamp.callId, since: stamp.at, signal }),
    );
  }

  async findIssue(trace: Trace): Promise<Issue | undefined> {
    return pollUntil(trace, () => this.#searchIssue(trace));
  }

  async issue(number: number, signal: AbortSignal): Promise<Issue> {
    const { data } = await this.#repo.read('issues:read', `read issue ${number}`, (octokit) =>
      octokit.rest.issues.get({ ...this.#repo.at(signal), issue_number: number }),
    );
    return toIssue(data);
  }

  async issues({ state, limit, page = 1, signal }: ListFilter): Promise<readonly Issue[]> {
    // GitHub lists pull requests as issues too, so its pages are not ours.
    const wanted = page * limit;
    const found: Issue[] = [];
    for (let at = 1; at <= MAX_PAGES && found.length < wanted; at += 1) {
      const { data } = await this.#repo.read('issues:read', 'list issues', (octokit) =>
        octokit.rest.issues.listForRepo({ ...this.#repo.at(signal), state, per_page: PAGE, page: at }),
      );
      found.push(...data.filter((issue) => !issue.pull_request).map(toIssue));
      if (data.length < PAGE) break;
    }
    return found.slice(wanted - limit, wanted);
  }

  async createComment(
    pr: number,
    body: string,
    stamp: Stamp,
    earlier: readonly string[] = [],
  ): Promise<Comment> {
    const text = fitBody(body, stamp.callId);
    const made = await firstOf(earlier, (callId) =>
      this.#searchComment(pr, { callId, since: LONG_AGO, signal: stamp.signal }),
    );
    if (made) return made;
    return writeOnce(
      async () => {
        // Issues and pull requests share this endpoint; an issue's number must not take a comment meant for a pull request.
        await this.pull(pr, stamp.signal);
        const { data } = await this.#repo.write('pulls:write', `comment on pull request ${pr}`, (octokit) =>
          octokit.rest.issues.createComment({ ...this.#repo.at(stamp.signal), issue_number: pr, body: text }),
        );
        return toComment(data);
      },
      (signal) => this.#searchComment(pr, { callId: stamp.callId, since: stamp.at, signal }),
    );
  }

  async findComment(pr: number, trace: Trace): Promise<Comment | undefined> {
    return pollUntil(trace, () => this.#searchComment(pr, trace));
  }

  async comments(pr: number, signal: AbortSignal): Promise<readonly Comment[]> {
    const data = await this.#repo.read('pulls:read', `list comments on pull request ${pr}`, (octokit) =>
      octokit.paginate(octokit.rest.issues.listComments, {
        ...this.#repo.at(signal),
        issue_number: pr,
        per_page: PAGE,
      }),
    );
    return data.map(toComment);
  }

  reviews(pr: number, signal: AbortSignal): Promise<readonly Review[]> {
    return readReviews(this.#repo, pr, signal);
  }

  checks(commit: string, signal: AbortSignal): Promise<readonly Check[]> {
    return readChecks(this.#repo, commit, signal);
  }

  async resolveRef(ref: string, signal: AbortSignal): Promise<string> {
    checkRef(ref);
    const commit = await branchHead(this.#repo, ref, signal);
    if (commit !== undefined) return commit;
    const found = await this.#repo.find('code:read', `look up ${ref}`, (octokit) =>
      octokit.rest.repos.getCommit({ ...this.#repo.at(signal), ref, per_page: 1 }),
    );
    if (found) return found.data.sha;
    throw refError(ref, `in ${this.#repo.owner}/${this.#repo.name} on GitHub`);
  }

  async search(query: SearchQuery, commit: string, signal: AbortSignal) {
    const base = await this.defaultBase(signal);
    if (base?.commit !== commit)
      throw new ToolError('invalid_input', 'GitHub searches the default branch only; leave ref out.', {
        hint: 'Leave ref out, or read the files with code_tree and code_read.',
        detail: { reason: 'search_default_branch_only' },
      });
    const tree = await this.tree(commit, signal);
    const readFile = async (path: string): Promise<string | undefined> => {
      const entry = await locate(tree, path).catch(() => undefined);
      return entry && Buffer.from(await tree.file(entry.sha)).toString('utf8');
    };
    return searchCode(this.#repo, query, readFile, signal);
  }

  async pull(number: number, signal: AbortSignal): Promise<Pull> {
    return toPull(await this.#rawPull(number, signal));
  }

  async pulls({ state, limit, page = 1, signal }: ListFilter): Promise<readonly Pull[]> {
    const { data } = await this.#repo.read('pulls:read', 'list pull requests', (octokit) =>
      octokit.rest.pulls.list({ ...this.#repo.at(signal), state, per_page: Math.min(limit, PAGE), page }),
    );
    return data.map(toPull);
  }

  async pullFiles(number: number, signal: AbortSignal): Promise<PullFiles> {
    const raw = await this.#rawPull(number, signal);
    const listed = await this.#repo.read(
      'pulls:read',
      `list the files of pull request ${number}`,
      (octokit) =>
        octokit.paginate(octokit.rest.pulls.listFiles, {
          ...this.#repo.at(signal),
          pull_number: number,
          per_page: PAGE,
        }),
    );
    const files = listed.slice(0, MAX_FILES).map((file) => ({
      filename: file.filename,
      status: file.status,
      additions: file.additions,
      deletions: file.deletions,
      changes: file.changes,
      blob_url: file.blob_url ?? '',
      raw_url: file.raw_url ?? '',
      ...(file.patch === undefined ? {} : { patch: file.patch }),
      ...(file.previous_filename === undefined ? {} : { previous_filename: file.previous_filename }),
    }));
    return { files, truncated: raw.changed_files > files.length, author: toPull(raw).author };
  }

  async pullDiff(number: number, signal: AbortSignal): Promise<readonly PreviewFile[]> {
    const { base, head } = toPull(await this.#rawPull(number, signal));
    const compared = await this.#repo.find('code:read', 'compare the branches', (octokit) =>
      octokit.rest.repos.compareCommitsWithBasehead({
        ...this.#repo.at(signal),
        basehead: `${base.sha}...${head.sha}`,
        per_page: 1,
      }),
    );
    const from = compared?.data.merge_base_commit.sha ?? base.sha;
    const sides = await treeDifference(await this.tree(from, signal), await this.tree(head.sha, signal));
    return diffSides(this.#scratch, sides, { isSha256: from.length === 64, clone: undefined }, signal);
  }

  async requireFreeBranch(branch: string, signal: AbortSignal): Promise<void> {
    requireFreeName(branch, await branchesAround(this.#repo, branch, signal));
    if ((await branchHead(this.#repo, branch, signal)) !== undefined) requireFreeName(branch, [branch]);
  }

  async defaultBase(signal: AbortSignal): Promise<{ branch: string; commit: string } | undefined> {
    const found = await this.#repo.find('code:read', 'read the repository', (octokit) =>
      octokit.rest.repos.get(this.#repo.at(signal)),
    );
    if (!found) throw missingRepo(`${this.#repo.owner}/${this.#repo.name}`);
    const { data } = found;
    try {
      const commit = await branchHead(this.#repo, data.default_branch, signal);
      return commit === undefined ? undefined : { branch: data.default_branch, commit };
    } catch (error) {
      // 409 is GitHub's answer for a repository without commits; a run may begin there all the same.
      if (error instanceof ToolError && error.code === 'conflict') return undefined;
      throw error;
    }
  }

  async baseCommit(branch: string, signal: AbortSignal): Promise<string> {
    const commit = await branchHead(this.#repo, branch, signal);
    if (commit !== undefined) return commit;
    throw new ToolError(
      'not_found',
      `Branch ${branch} not found in ${this.#repo.owner}/${this.#repo.name} on GitHub.`,
      {
        detail: { reason: 'base_not_found', base_branch: branch },
      },
    );
  }

  tree(commit: string, signal: AbortSignal): Promise<TreeSource> {
    return githubTree(this.#repo, commit, signal);
  }

  plannedCommands(plan: Plan, how?: 'publish' | 'update'): readonly string[] {
    return plannedRequests(plan, `/repos/${this.#repo.owner}/${this.#repo.name}`, how);
  }

  update(pr: number, plan: Plan, stamp: Stamp): Promise<Published> {
    return updatePull(this.#repo, plan, stamp, (signal) => this.pull(pr, signal));
  }

  findUpdate(pr: number, sent: SentUpdate, trace: Trace): Promise<Published | undefined> {
    return pollUntil(trace, async () =>
      findUpdate(this.#repo, await this.pull(pr, trace.signal), sent, trace.signal),
    );
  }

  publish(plan: Plan, stamp: Stamp): Promise<Published> {
    fitBody(plan.body, stamp.callId);
    return publishChange(this.#repo, plan, stamp, this.#draft);
  }

  async findPublished(headBranch: string, trace: Trace): Promise<Published | undefined> {
    const { callId, signal } = trace;
    const pull = await pollUntil(trace, () =>
      findPull(this.#repo, headBranch, signal, ({ body }) => hasMarker(body, callId)),
    );
    return pull && { commit: pull.head.sha, pull, existed: false };
  }

  async orphanBranch(
    headBranch: string,
    message: string,
    signal: AbortSignal,
  ): Promise<OrphanBranch | undefined> {
    const commit = await branchHead(this.#repo, headBranch, signal);
    if (commit === undefined) return undefined;
    const found = await this.#repo.find('code:read', 'read the branch', (octokit) =>
      octokit.rest.git.getCommit({ ...this.#repo.at(signal), commit_sha: commit }),
    );
    if (found?.data.message.trim() !== message.trim()) return undefined;
    if (await findPull(this.#repo, headBranch, signal, ({ state }) => state === 'open')) return undefined;
    const where = `on GitHub in ${this.#repo.owner}/${this.#repo.name}`;
    return { commit, where, remove: 'delete it there' };
  }

  async #rawPull(number: number, signal: AbortSignal) {
    const { data } = await this.#repo.read('pulls:read', `read pull request ${number}`, (octokit) =>
      octokit.rest.pulls.get({ ...this.#repo.at(signal), pull_number: number }),
    );
    return data;
  }

  async #searchIssue({ callId, since, signal }: Omit<Trace, 'until'>): Promise<Issue | undefined> {
    const from = new Date(Math.max(0, since.getTime() - SKEW_MS)).toISOString();
    for (let page = 1; page <= MAX_PAGES; page += 1) {
      const { data } = await this.#repo.read('issues:read', 'look for the issue', (octokit) =>
        octokit.rest.issues.listForRepo({
          ...this.#repo.at(signal),
          state: 'all',
          sort: 'created',
          direction: 'desc',
          since: from,
          per_page: PAGE,
          page,
        }),
      );
      const found = data.find(({ body }) => hasMarker(body, callId));
      if (found) return toIssue(found);
      if (data.length < PAGE) break;
    }
    return undefined;
  }

  async #searchComment(
    pr: number,
    { callId, since, signal }: Omit<Trace, 'until'>,
  ): Promise<Comment | undefined> {
    const from = new Date(Math.max(0, since.getTime() - SKEW_MS)).toISOString();
    const data = await this.#repo.read('pulls:read', 'look for the comment', (octokit) =>
      octokit.paginate(octokit.rest.issues.listComments, {
        ...this.#repo.at(signal),
        issue_number: pr,
        since: from,
        per_page: PAGE,
      }),
    );
    const found = data.find(({ body }) => hasMarker(body, callId));
    return found && toComment(found);
  }
}

/** GitHub counts the hidden marker too. */
function fitBody(body: string, callId: string): string {
  const marked = withMarker(body, callId);
  if (marked.length <= MAX_BODY) return marked;
  throw new ToolError(
    'invalid_input',
    `The body is too long for GitHub: at most ${MAX_BODY - (marked.length - body.length)} characters are allowed.`,
  );
}

async function firstOf<T>(
  calls: readonly string[],
  find: (callId: string) => Promise<T | undefined>,
): Promise<T | undefined> {
  for (const callId of calls) {
    const found = await find(callId);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Looks again and again while the request may still be carried out, as long as a caller can be kept waiting. */
async function pollUntil<T>(
  { until: settled, signal }: Trace,
  look: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const until = Math.min(settled.getTime(), Date.now() + LONGEST_POLL_MS);
  for (;;) {
    const found = await look();
    if (found !== undefined || Date.now() >= until) return found;
    await sleep(Math.min(POLL_MS, Math.max(1, until - Date.now())), undefined, { signal });
  }
}

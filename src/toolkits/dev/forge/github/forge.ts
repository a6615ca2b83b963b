import { ToolFault } from '../../../../contract/faults.ts';
import type { Plan } from '../../change/plan.ts';
import type { TreeSource } from '../../change/tree-source.ts';
import type {
  Comment,
  Forge,
  Issue,
  ListFilter,
  Published,
  Pull,
  PullFiles,
  Stamp,
  Stray,
  Trace,
} from '../port.ts';
import type { GithubClient } from './client.ts';
import { hasMarker, withMarker } from './marker.ts';
import { writeOnce } from './once.ts';
import { branchHead, findPull, publishChange } from './publish.ts';
import { GithubRepo } from './repo.ts';
import { toComment, toIssue, toPull } from './shapes.ts';
import { githubTree } from './tree.ts';

const MAX_BODY = 65_536;
/** GitHub never lists more files of one pull request. */
const MAX_FILES = 3000;
/** How far clocks may differ when looking for what a call left. */
const SKEW_MS = 10 * 60_000;
/** A list may lag behind a write by a moment. */
const SETTLE_MS = 5_000;
const PAGE = 100;
const MAX_PAGES = 10;

/** A repository on GitHub, reached by its REST API alone. */
export class GithubForge implements Forge {
  readonly kind = 'github';
  readonly #repo: GithubRepo;
  readonly #draft: boolean;

  constructor(fullName: string, client: GithubClient, draft: boolean) {
    this.#repo = new GithubRepo(fullName, client);
    this.#draft = draft;
  }

  createIssue(
    draft: { title: string; body: string; labels: readonly string[] },
    stamp: Stamp,
  ): Promise<Issue> {
    const body = fitBody(draft.body, stamp.callId);
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
    await settled(trace);
    return this.#searchIssue(trace);
  }

  async issue(number: number, signal: AbortSignal): Promise<Issue> {
    const { data } = await this.#repo.read('issues:read', `read issue ${number}`, (octokit) =>
      octokit.rest.issues.get({ ...this.#repo.at(signal), issue_number: number }),
    );
    return toIssue(data);
  }

  async issues({ state, limit, signal }: ListFilter): Promise<readonly Issue[]> {
    const { data } = await this.#repo.read('issues:read', 'list issues', (octokit) =>
      octokit.rest.issues.listForRepo({ ...this.#repo.at(signal), state, per_page: PAGE }),
    );
    return data
      .filter((issue) => !issue.pull_request)
      .slice(0, limit)
      .map((issue) => toIssue(issue));
  }

  createComment(pr: number, body: string, stamp: Stamp): Promise<Comment> {
    const text = fitBody(body, stamp.callId);
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
    await settled(trace);
    return this.#searchComment(pr, trace);
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

  async pull(number: number, signal: AbortSignal): Promise<Pull> {
    return toPull(await this.#rawPull(number, signal));
  }

  async pulls({ state, limit, signal }: ListFilter): Promise<readonly Pull[]> {
    const { data } = await this.#repo.read('pulls:read', 'list pull requests', (octokit) =>
      octokit.rest.pulls.list({ ...this.#repo.at(signal), state, per_page: Math.min(limit, PAGE) }),
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

  async defaultBase(signal: AbortSignal): Promise<{ branch: string; commit: string } | undefined> {
    const { data } = await this.#repo.read('code:read', 'read the repository', (octokit) =>
      octokit.rest.repos.get(this.#repo.at(signal)),
    );
    const commit = await branchHead(this.#repo, data.default_branch, signal);
    return commit === undefined ? undefined : { branch: data.default_branch, commit };
  }

  async baseCommit(branch: string, signal: AbortSignal): Promise<string> {
    const commit = await branchHead(this.#repo, branch, signal);
    if (commit !== undefined) return commit;
    throw new ToolFault('not_found', `There is no branch ${branch} on GitHub.`, {
      detail: { reason: 'base_not_found', base_branch: branch },
    });
  }

  tree(commit: string, signal: AbortSignal): Promise<TreeSource> {
    return githubTree(this.#repo, commit, signal);
  }

  plannedCommands(plan: Plan): readonly string[] {
    const path = `/repos/${this.#repo.owner}/${this.#repo.name}`;
    return [
      ...plan.files.map((file) => `POST ${path}/git/blobs (${JSON.stringify(file.path)})`),
      `POST ${path}/git/trees on ${plan.baseCommit}`,
      `POST ${path}/git/commits ${JSON.stringify(plan.message)}`,
      `POST ${path}/git/refs ${JSON.stringify(`refs/heads/${plan.headBranch}`)}`,
      `POST ${path}/pulls ${JSON.stringify(plan.title)} from ${JSON.stringify(plan.headBranch)} into ${JSON.stringify(plan.baseBranch)}`,
    ];
  }

  publish(plan: Plan, stamp: Stamp): Promise<Published> {
    fitBody(plan.body, stamp.callId);
    return publishChange(this.#repo, plan, stamp, this.#draft);
  }

  async findPublished(headBranch: string, trace: Trace): Promise<Published | undefined> {
    await settled(trace);
    const { callId, signal } = trace;
    const pull = await findPull(this.#repo, headBranch, signal, ({ body }) => hasMarker(body, callId));
    return pull && { commit: pull.head.sha, pull, existed: false };
  }

  async strayBranch(headBranch: string, message: string, signal: AbortSignal): Promise<Stray | undefined> {
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

  async #searchIssue({ callId, since, signal }: Trace): Promise<Issue | undefined> {
    const from = new Date(since.getTime() - SKEW_MS).toISOString();
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

  async #searchComment(pr: number, { callId, since, signal }: Trace): Promise<Comment | undefined> {
    const from = new Date(since.getTime() - SKEW_MS).toISOString();
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
  throw new ToolFault(
    'invalid_input',
    `The body is too long for GitHub: at most ${MAX_BODY - (marked.length - body.length)} characters fit.`,
  );
}

async function settled({ since, signal }: Trace): Promise<void> {
  const wait = SETTLE_MS - (Date.now() - since.getTime());
  if (wait <= 0) return;
  const { setTimeout } = await import('node:timers/promises');
  await setTimeout(Math.min(wait, SETTLE_MS), undefined, { signal });
}

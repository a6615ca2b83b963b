import { ToolError } from '../../../../contract/errors.ts';
import type { PreviewFile } from '../../../../contract/preview.ts';
import { shellWord } from '../../../../lib/text.ts';
import type { TreeSource } from '../../change/locate.ts';
import type { Plan } from '../../change/plan.ts';
import { diffCommits } from '../../git/change-diff.ts';
import { cloneTree, grepCommit } from '../../git/clone-tree.ts';
import { GitError } from '../../git/git.ts';
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
import { type MergeMethod, mergedTree, mergePull, settleMerge } from './merge.ts';
import { type PublishContext, plannedCommands, publishChange, settlePublish } from './publish.ts';
import { toPullFiles } from './pull-files.ts';
import { authorName, type CommentRow, type IssueRow, localAuthor, type PullRow } from './store.ts';
import { settleUpdate, unfinishedUpdate, updatePull } from './update.ts';

/** Issues, pull requests and comments in our store, branches and files in a real git repository. */
export class LocalForge implements Forge {
  readonly kind = 'local';
  readonly commitWindowMs = 0;
  readonly #shop: PublishContext;
  readonly #address: string;

  constructor(shop: PublishContext, repoName: string) {
    this.#shop = shop;
    this.#address = `countersign://dev/${repoName.split('/').map(encodeURIComponent).join('/')}`;
  }

  async createIssue(
    draft: { title: string; body: string; labels: readonly string[] },
    stamp: Stamp,
  ): Promise<Issue> {
    const row = await this.#shop.store.addIssue({
      title: draft.title,
      body: draft.body,
      labels: JSON.stringify(draft.labels),
      ...stampColumns(stamp),
    });
    return this.#issue(row);
  }

  async findIssue({ callId }: Trace): Promise<Issue | undefined> {
    const row = await this.#shop.store.issueOfCall(callId);
    return row && this.#issue(row);
  }

  async issue(number: number): Promise<Issue> {
    const row = await this.#shop.store.issue(number);
    if (!row)
      throw new ToolError('not_found', `Issue ${number} not found.`, {
        detail: { issue_number: number },
      });
    return this.#issue(row);
  }

  async issues({ state, limit, page = 1 }: ListFilter): Promise<readonly Issue[]> {
    return (await this.#shop.store.issues(state, limit, (page - 1) * limit)).map((row) => this.#issue(row));
  }

  /** False when there is no such open issue. */
  closeIssue(number: number, stamp: Stamp): Promise<boolean> {
    return this.#shop.store.closeIssue(number, authorName(stamp.author), stamp.at.toISOString());
  }

  async createComment(pr: number, body: string, stamp: Stamp): Promise<Comment> {
    await this.#row(pr);
    return this.#comment(await this.#shop.store.addComment({ pr_number: pr, body, ...stampColumns(stamp) }));
  }

  async findComment(_pr: number, { callId }: Trace): Promise<Comment | undefined> {
    const row = await this.#shop.store.commentOfCall(callId);
    return row && this.#comment(row);
  }

  async comments(pr: number): Promise<readonly Comment[]> {
    await this.#row(pr);
    const rows = await this.#shop.store.comments(pr);
    return rows.filter(({ review }) => review === null).map((row) => this.#comment(row));
  }

  async reviews(pr: number): Promise<readonly Review[]> {
    await this.#row(pr);
    const rows = await this.#shop.store.comments(pr);
    return rows.flatMap((row): Review[] =>
      row.review === null ? [] : [{ ...this.#comment(row), kind: 'review', state: row.review }],
    );
  }

  /** Only for people: the tool that calls this is never listed to agents. */
  async review(
    pr: number,
    verdict: NonNullable<CommentRow['review']>,
    body: string,
    stamp: Stamp,
  ): Promise<Review> {
    await this.#openPull(pr, stamp.signal);
    const row = await this.#shop.store.addComment({
      pr_number: pr,
      body,
      review: verdict,
      ...stampColumns(stamp),
    });
    return { ...this.#comment(row), kind: 'review', state: verdict };
  }

  async findReview(callId: string): Promise<Review | undefined> {
    const row = await this.#shop.store.commentOfCall(callId);
    return row?.review ? { ...this.#comment(row), kind: 'review', state: row.review } : undefined;
  }

  async checks(): Promise<readonly Check[]> {
    return [];
  }

  async resolveRef(ref: string, signal: AbortSignal): Promise<string> {
    checkRef(ref);
    const commit = await this.#shop.clone.resolve(ref, signal);
    if (commit !== undefined) return commit;
    throw refError(ref, 'in the clone');
  }

  search(query: SearchQuery, commit: string, signal: AbortSignal) {
    return grepCommit(this.#shop.clone, query, commit, signal);
  }

  async pull(number: number, signal: AbortSignal): Promise<Pull> {
    return this.#pull(await this.#row(number), signal);
  }

  async pulls({ state, limit, page = 1, signal }: ListFilter): Promise<readonly Pull[]> {
    const pulls: Pull[] = [];
    for (const row of await this.#shop.store.pulls(state, limit, (page - 1) * limit))
      pulls.push(await this.#pull(row, signal));
    return pulls;
  }

  async pullFiles(number: number, signal: AbortSignal): Promise<PullFiles> {
    const row = await this.#row(number);
    const head = await this.#head(row);
    const address = (kind: string, path: string) => `${this.#address}/${kind}/${head}/${path}`;
    const listed = toPullFiles(await this.pullDiff(number, signal), address);
    return { ...listed, author: localAuthor(row.author) };
  }

  async pullDiff(number: number, signal: AbortSignal): Promise<readonly PreviewFile[]> {
    const row = await this.#row(number);
    const { clone, scratch } = this.#shop;
    const head = await this.#head(row);
    // Once merged, the base holds the head, and only the earlier base shows what changed.
    const tip =
      row.state === 'open' ? ((await clone.branch(row.base_ref)) ?? row.base_commit) : row.base_commit;
    const merged = row.state !== 'open' || (await clone.isAncestor(head, tip));
    const from = await this.#mergeBase(merged ? row.base_commit : tip, head);
    return diffCommits(scratch, clone, from, head, signal);
  }

  async defaultBase(signal: AbortSignal): Promise<{ branch: string; commit: string } | undefined> {
    const { clone } = this.#shop;
    const branch = await clone.currentBranch();
    const commit = await (branch ? clone.branch(branch, signal) : clone.commit('HEAD', signal));
    return commit === undefined ? undefined : { branch: branch ?? 'HEAD', commit };
  }

  async baseCommit(branch: string, signal: AbortSignal): Promise<string> {
    const { clone, remote } = this.#shop;
    const commit = remote ? await remote.branch(branch, signal) : await clone.branch(branch, signal);
    if (commit === undefined) {
      throw new ToolError(
        'not_found',
        `Branch ${branch} not found ${remote ? `on ${remote.name}` : 'in the clone'}.`,
        {
          detail: { reason: 'base_not_found', base_branch: branch },
        },
      );
    }
    if (remote && (await clone.commit(commit, signal)) === undefined) await remote.fetch(branch, signal);
    return commit;
  }

  async requireFreeBranch(branch: string, signal: AbortSignal): Promise<void> {
    const { clone, remote } = this.#shop;
    const here = await clone.text(['for-each-ref', '--format=%(refname)', 'refs/heads/'], { signal });
    const there = remote ? await remote.branches(signal) : [];
    const names = here.split('\n').map((ref) => ref.replace(/^refs\/heads\//, ''));
    requireFreeName(branch, [...names, ...there]);
  }

  tree(commit: string, signal: AbortSignal): Promise<TreeSource> {
    return cloneTree(this.#shop.clone, commit, signal);
  }

  plannedCommands(plan: Plan, how?: 'publish' | 'update'): readonly string[] {
    return plannedCommands(plan, this.#shop.clone.folder, this.#shop.remote?.name, how);
  }

  async update(pr: number, plan: Plan, stamp: Stamp): Promise<Published> {
    const { row } = await this.#openPull(pr, stamp.signal);
    const commit = await updatePull(this.#shop, row, plan, stamp);
    return { commit, existed: false, pull: await this.pull(pr, stamp.signal) };
  }

  async findUpdate(pr: number, _sent: SentUpdate, trace: Trace): Promise<Published | undefined> {
    const row = await settleUpdate(this.#shop, pr, trace);
    return row && { commit: row.head_commit, existed: false, pull: await this.pull(pr, trace.signal) };
  }

  /** What an interrupted update left on the remote alone. */
  unfinishedUpdate(pr: number, trace: Trace): Promise<string | undefined> {
    return unfinishedUpdate(this.#shop, pr, trace);
  }

  async publish(plan: Plan, stamp: Stamp): Promise<Published> {
    const { row, commit, existed } = await publishChange(this.#shop, plan, stamp);
    return { commit, existed, pull: await this.#pull(row, stamp.signal) };
  }

  async findPublished(_headBranch: string, trace: Trace): Promise<Published | undefined> {
    const row = await settlePublish(this.#shop, trace);
    return row && { commit: row.head_commit, existed: false, pull: await this.#pull(row, trace.signal) };
  }

  async orphanBranch(
    headBranch: string,
    message: string,
    signal: AbortSignal,
  ): Promise<OrphanBranch | undefined> {
    // Without a remote the branch is the last step, and no pull request is missing where it stands.
    const { clone, remote, store } = this.#shop;
    const commit = await remote?.branch(headBranch, signal);
    if (!remote || commit === undefined || !(await clone.commit(commit, signal))) return undefined;
    const said = await clone.text(['show', '-s', '--no-show-signature', '--format=%B', commit], { signal });
    if (said !== message.trim() || (await store.livePull(headBranch, commit))) return undefined;
    const remove = `delete it: git -C ${shellWord(clone.folder)} push ${shellWord(remote.name)} --delete ${shellWord(headBranch)}`;
    return { commit, where: `on the remote ${remote.name}`, remove };
  }

  /** Only for people: the tool that calls this is never listed to agents. */
  async merge(
    number: number,
    method: MergeMethod,
    expectedHead: string | undefined,
    stamp: Stamp,
  ): Promise<Pull & { merge_commit: string }> {
    const { row, pull } = await this.#openPull(number, stamp.signal);
    if (expectedHead !== undefined && pull.head.sha !== expectedHead) {
      throw new ToolError(
        'conflict',
        `${row.head_ref} is at ${pull.head.sha.slice(0, 12)}, not at the commit you reviewed.`,
        {
          detail: { reason: 'head_moved', pr_number: number, head: pull.head.sha },
        },
      );
    }
    const commit = await mergePull(this.#shop, row, pull.head.sha, method, stamp);
    return { ...(await this.pull(number, stamp.signal)), merge_commit: commit };
  }

  async settleMerge(
    callId: string,
    at: Date,
    signal: AbortSignal,
  ): Promise<(Pull & { merge_commit: string }) | undefined> {
    const row = await settleMerge(this.#shop, callId, at);
    return row && { ...(await this.#pull(row, signal)), merge_commit: row.merge_commit ?? '' };
  }

  async closePull(number: number, stamp: Stamp): Promise<Pull> {
    await this.#openPull(number, stamp.signal);
    await this.#shop.store.setPull(number, {
      state: 'closed',
      closed_at: stamp.at.toISOString(),
      closed_by: authorName(stamp.author),
    });
    return this.pull(number, stamp.signal);
  }

  async #openPull(number: number, signal: AbortSignal): Promise<{ row: PullRow; pull: Pull }> {
    const row = await this.#row(number);
    const pull = await this.#pull(row, signal);
    if (pull.state === 'open') return { row, pull };
    throw new ToolError(
      'conflict',
      `Pull request ${number} is already ${pull.merged ? 'merged' : 'closed'}.`,
      { detail: { reason: 'pull_closed', pr_number: number } },
    );
  }

  async #row(number: number): Promise<PullRow> {
    const row = await this.#shop.store.pull(number);
    if (row) return row;
    throw new ToolError('not_found', `Pull request ${number} not found.`, {
      detail: { pr_number: number },
    });
  }

  /** An open pull request follows its branch; a closed one keeps the commit it had. */
  async #head(row: PullRow): Promise<string> {
    if (row.state !== 'open') return row.head_commit;
    return (await this.#shop.clone.branch(row.head_ref)) ?? row.head_commit;
  }

  async #mergeBase(one: string, other: string): Promise<string> {
    const { code, stdout } = await this.#shop.clone.run(['merge-base', one, other], { answers: [1] });
    return code === 0 ? stdout.toString('utf8').trim() : one;
  }

  async #pull(row: PullRow, signal: AbortSignal): Promise<Pull> {
    const { clone } = this.#shop;
    const head = await this.#head(row);
    const base = (await clone.branch(row.base_ref, signal)) ?? row.base_commit;
    // A person may also merge with git itself.
    const merged = row.state === 'merged' || (row.state === 'open' && (await clone.isAncestor(head, base)));
    const open = row.state === 'open' && !merged;
    return {
      number: row.number,
      title: row.title,
      body: row.body,
      state: open ? 'open' : 'closed',
      draft: row.draft === 1,
      html_url: `${this.#address}/pull/${row.number}`,
      merged,
      ...(open ? await this.#mergeable(base, head, signal) : {}),
      base: { ref: row.base_ref, sha: base },
      head: { ref: row.head_ref, sha: head },
      author: localAuthor(row.author),
      created_at: row.created_at,
    };
  }

  async #mergeable(base: string, head: string, signal: AbortSignal): Promise<{ mergeable?: boolean }> {
    try {
      return { mergeable: (await mergedTree(this.#shop.clone, base, head, signal)) !== undefined };
    } catch (error) {
      // Git before 2.38 cannot merge without a working tree.
      if (error instanceof GitError) return {};
      throw error;
    }
  }

  #issue(row: IssueRow): Issue {
    return {
      number: row.number,
      title: row.title,
      body: row.body,
      labels: JSON.parse(row.labels) as string[],
      state: row.state === 'closed' ? 'closed' : 'open',
      html_url: `${this.#address}/issues/${row.number}`,
      author: localAuthor(row.author),
      created_at: row.created_at,
    };
  }

  #comment(row: CommentRow): Comment {
    return {
      id: row.id,
      body: row.body,
      html_url: `${this.#address}/pull/${row.pr_number}#comment-${row.id}`,
      author: localAuthor(row.author),
      created_at: row.created_at,
    };
  }
}

const stampColumns = (stamp: Stamp) => ({
  author: authorName(stamp.author),
  run_id: stamp.runId,
  call_id: stamp.callId,
  created_at: stamp.at.toISOString(),
});

import { ToolFault } from '../../../../contract/faults.ts';
import { shellWord } from '../../../../lib/shell-word.ts';
import type { Plan } from '../../change/plan.ts';
import type { TreeSource } from '../../change/tree-source.ts';
import { cloneTree } from '../../git/clone-tree.ts';
import { GitError } from '../../git/git.ts';
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
import { authorName, localAuthor } from './authors.ts';
import { type MergeMethod, mergedTree, mergePull, settleMerge } from './merge.ts';
import { plannedCommands } from './planned-commands.ts';
import { publishChange, settlePublish, type Workshop } from './publish.ts';
import { diffFiles } from './pull-files.ts';
import type { CommentRow, IssueRow, PullRow } from './store.ts';

/** Issues, pull requests and comments in our store, branches and files in a real git repository. */
export class LocalForge implements Forge {
  readonly kind = 'local';
  readonly #shop: Workshop;
  readonly #address: string;

  constructor(shop: Workshop, repoName: string) {
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
      throw new ToolFault('not_found', `There is no issue ${number} here.`, {
        detail: { issue_number: number },
      });
    return this.#issue(row);
  }

  async issues({ state, limit }: ListFilter): Promise<readonly Issue[]> {
    return (await this.#shop.store.issues(state, limit)).map((row) => this.#issue(row));
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
    return (await this.#shop.store.comments(pr)).map((row) => this.#comment(row));
  }

  async pull(number: number, signal: AbortSignal): Promise<Pull> {
    return this.#pull(await this.#row(number), signal);
  }

  async pulls({ state, limit, signal }: ListFilter): Promise<readonly Pull[]> {
    const pulls: Pull[] = [];
    for (const row of await this.#shop.store.pulls(state, limit)) pulls.push(await this.#pull(row, signal));
    return pulls;
  }

  async pullFiles(number: number, signal: AbortSignal): Promise<PullFiles> {
    const row = await this.#row(number);
    const { clone } = this.#shop;
    const head = await this.#head(row);
    // Once merged, the base holds the head, and only the base of back then tells what changed.
    const tip =
      row.state === 'open' ? ((await clone.branch(row.base_ref)) ?? row.base_commit) : row.base_commit;
    const merged = row.state !== 'open' || (await clone.isAncestor(head, tip));
    const from = await this.#mergeBase(merged ? row.base_commit : tip, head);
    const address = (kind: string, path: string) => `${this.#address}/${kind}/${head}/${path}`;
    const listed = await diffFiles(clone, from, head, address, signal);
    return { ...listed, author: localAuthor(row.author) };
  }

  async defaultBase(signal: AbortSignal): Promise<{ branch: string; commit: string } | undefined> {
    const branch = await this.#shop.clone.currentBranch();
    const commit = await this.#shop.clone.commit(branch ? `refs/heads/${branch}` : 'HEAD', signal);
    return commit === undefined ? undefined : { branch: branch ?? 'HEAD', commit };
  }

  async baseCommit(branch: string, signal: AbortSignal): Promise<string> {
    const { clone, remote } = this.#shop;
    const commit = remote ? await remote.branch(branch, signal) : await clone.branch(branch, signal);
    if (commit === undefined) {
      throw new ToolFault(
        'not_found',
        `There is no branch ${branch} ${remote ? `on ${remote.name}` : 'in the clone'}.`,
        {
          detail: { reason: 'base_not_found', base_branch: branch },
        },
      );
    }
    if (remote && (await clone.commit(commit, signal)) === undefined) await remote.fetch(branch, signal);
    return commit;
  }

  tree(commit: string, signal: AbortSignal): Promise<TreeSource> {
    return cloneTree(this.#shop.clone, commit, signal);
  }

  plannedCommands(plan: Plan): readonly string[] {
    return plannedCommands(plan, this.#shop.clone.folder, this.#shop.remote?.name);
  }

  async publish(plan: Plan, stamp: Stamp): Promise<Published> {
    const { row, commit, existed } = await publishChange(this.#shop, plan, stamp);
    return { commit, existed, pull: await this.#pull(row, stamp.signal) };
  }

  async findPublished(_headBranch: string, trace: Trace): Promise<Published | undefined> {
    const row = await settlePublish(this.#shop, trace);
    return row && { commit: row.head_commit, existed: false, pull: await this.#pull(row, trace.signal) };
  }

  async strayBranch(headBranch: string, message: string, signal: AbortSignal): Promise<Stray | undefined> {
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
      throw new ToolFault(
        'conflict',
        `${row.head_ref} stands on ${pull.head.sha.slice(0, 12)}, not on the commit you looked at.`,
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
    throw new ToolFault(
      'conflict',
      `Pull request ${number} is ${pull.merged ? 'merged' : 'closed'} already.`,
      { detail: { reason: 'pull_closed', pr_number: number } },
    );
  }

  async #row(number: number): Promise<PullRow> {
    const row = await this.#shop.store.pull(number);
    if (row) return row;
    throw new ToolFault('not_found', `There is no pull request ${number} here.`, {
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

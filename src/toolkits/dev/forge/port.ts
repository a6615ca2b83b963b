import type { PreviewFile } from '../../../contract/preview.ts';
import type { Principal } from '../../../contract/principal.ts';
import type { TreeSource } from '../change/locate.ts';
import type { Plan } from '../change/plan.ts';

/** Who wrote a text that comes from a forge. Nothing an untrusted author wrote is an instruction to anyone. */
export interface Author {
  readonly login: string;
  readonly kind: 'person' | 'agent' | 'bot' | 'unknown';
  /** GitHub's word for the author's tie to the repository. */
  readonly association?: string;
  readonly trust: 'trusted' | 'untrusted';
}

export interface Issue {
  readonly number: number;
  readonly title: string;
  readonly body: string;
  readonly labels: readonly string[];
  readonly state: 'open' | 'closed';
  readonly html_url: string;
  readonly author: Author;
  readonly created_at: string;
}

export interface Comment {
  readonly id: number;
  readonly body: string;
  readonly html_url: string;
  readonly author: Author;
  readonly created_at: string;
}

export interface Pull {
  readonly number: number;
  readonly title: string;
  readonly body: string;
  readonly state: 'open' | 'closed';
  readonly draft: boolean;
  readonly html_url: string;
  readonly merged: boolean;
  /** Absent while the forge has not worked it out. */
  readonly mergeable?: boolean;
  readonly base: { readonly ref: string; readonly sha: string };
  readonly head: { readonly ref: string; readonly sha: string };
  readonly author: Author;
  readonly created_at: string;
}

export interface PullFile {
  readonly filename: string;
  readonly status: string;
  readonly additions: number;
  readonly deletions: number;
  readonly changes: number;
  readonly blob_url: string;
  readonly raw_url: string;
  /** Absent for binary files and for patches too large to show. */
  readonly patch?: string;
  readonly previous_filename?: string;
}

export interface PullFiles {
  readonly files: readonly PullFile[];
  /** True when the forge has more files than it gives out. */
  readonly truncated: boolean;
  readonly author: Author;
}

/** A verdict on a pull request, or a comment on one of its lines. */
export interface Review {
  readonly id: number;
  readonly kind: 'review' | 'line_comment';
  readonly state?: 'approved' | 'changes_requested' | 'commented' | 'dismissed';
  readonly path?: string;
  readonly line?: number;
  readonly body: string;
  readonly html_url: string;
  readonly author: Author;
  readonly created_at: string;
}

export interface Check {
  readonly name: string;
  readonly source: 'qa' | 'check_run' | 'status';
  readonly state: 'success' | 'failure' | 'pending' | 'neutral';
  readonly summary: string;
  readonly html_url?: string;
  /** The end of what a failed check wrote. */
  readonly log_tail?: string;
  readonly finished_at?: string;
}

export interface SearchQuery {
  readonly text: string;
  readonly path: string | undefined;
  readonly ignoreCase: boolean;
  readonly limit: number;
}

export interface SearchMatch {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

/** Whose call this is; the call id is the hidden marker by which reconcile finds what was made. */
export interface Stamp {
  readonly callId: string;
  readonly author: Principal;
  readonly runId: string;
  readonly at: Date;
  readonly signal: AbortSignal;
}

/** Where to look after a crash. */
export interface Trace {
  readonly callId: string;
  readonly since: Date;
  /** Until when the forge may still carry out what was sent. */
  readonly until: Date;
  readonly signal: AbortSignal;
}

/** What is known of an interrupted update: the head it was to follow and its message. */
export interface SentUpdate {
  readonly previousHead: string;
  readonly message: string;
}

export interface Published {
  readonly commit: string;
  readonly pull: Pull;
  /** The same change was already there and was taken over instead of made twice. */
  readonly existed: boolean;
}

/** A branch without its pull request. */
export interface OrphanBranch {
  readonly commit: string;
  /** Where it stands and how a person gets rid of it, as parts of a sentence. */
  readonly where: string;
  readonly remove: string;
}

export interface ListFilter {
  readonly state: 'open' | 'closed' | 'all';
  readonly limit: number;
  /** Pages begin at 1. */
  readonly page?: number;
  readonly signal: AbortSignal;
}

/** One repository on one forge. */
export interface Forge {
  readonly kind: 'local' | 'github';

  /**
   * How long after a lost answer the forge may still carry the request out. Until then nothing can be said to have not
   * happened.
   */
  readonly commitWindowMs: number;

  /** `earlier`: calls that sent the same and got no answer. What one of them made is taken over. */
  createIssue(
    draft: { title: string; body: string; labels: readonly string[] },
    stamp: Stamp,
    earlier?: readonly string[],
  ): Promise<Issue>;
  findIssue(trace: Trace): Promise<Issue | undefined>;
  issue(number: number, signal: AbortSignal): Promise<Issue>;
  issues(filter: ListFilter): Promise<readonly Issue[]>;

  createComment(pr: number, body: string, stamp: Stamp, earlier?: readonly string[]): Promise<Comment>;
  findComment(pr: number, trace: Trace): Promise<Comment | undefined>;
  comments(pr: number, signal: AbortSignal): Promise<readonly Comment[]>;

  reviews(pr: number, signal: AbortSignal): Promise<readonly Review[]>;
  /** What continuous integration says of a commit; locally nothing does. */
  checks(commit: string, signal: AbortSignal): Promise<readonly Check[]>;

  pull(number: number, signal: AbortSignal): Promise<Pull>;
  pullFiles(number: number, signal: AbortSignal): Promise<PullFiles>;
  /** The change of a pull request as `git diff --binary` prints it, file by file. */
  pullDiff(number: number, signal: AbortSignal): Promise<readonly PreviewFile[]>;
  pulls(filter: ListFilter): Promise<readonly Pull[]>;

  /** Where a run begins; undefined in a repository without commits. */
  defaultBase(signal: AbortSignal): Promise<{ branch: string; commit: string } | undefined>;
  /** The commit a branch stands on now; throws not_found. */
  baseCommit(branch: string, signal: AbortSignal): Promise<string>;
  /** The commit of a branch, tag or commit id; throws not_found. */
  resolveRef(ref: string, signal: AbortSignal): Promise<string>;
  /** Lines that hold a text. `commit`: where to look, if the forge can look at any commit. */
  search(
    query: SearchQuery,
    commit: string,
    signal: AbortSignal,
  ): Promise<{ readonly matches: readonly SearchMatch[]; readonly truncated: boolean }>;
  /** Throws when a new branch of this name exists or cannot exist next to the others. */
  requireFreeBranch(branch: string, signal: AbortSignal): Promise<void>;
  tree(commit: string, signal: AbortSignal): Promise<TreeSource>;
  /** What `publish` or `update` would do, in words a person can check. */
  plannedCommands(plan: Plan, how?: 'publish' | 'update'): readonly string[];
  /** Adds a commit to the branch of an open pull request, only while it stands on `plan.baseCommit`. */
  update(pr: number, plan: Plan, stamp: Stamp): Promise<Published>;
  /** The commit an interrupted `update` added. */
  findUpdate(pr: number, sent: SentUpdate, trace: Trace): Promise<Published | undefined>;
  publish(plan: Plan, stamp: Stamp): Promise<Published>;
  /** The pull request an interrupted `publish` opened. A branch without one is taken over when it is published again. */
  findPublished(headBranch: string, trace: Trace): Promise<Published | undefined>;
  /** A branch with a commit of this message on which an interrupted `publish` may have ended. */
  orphanBranch(headBranch: string, message: string, signal: AbortSignal): Promise<OrphanBranch | undefined>;
}

import type { Principal } from '../../../contract/principal.ts';
import type { Plan } from '../change/plan.ts';
import type { TreeSource } from '../change/tree-source.ts';

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
  readonly signal: AbortSignal;
}

export interface Published {
  readonly commit: string;
  readonly pull: Pull;
  /** The same change was already there and was taken over instead of made twice. */
  readonly existed: boolean;
}

/** A branch without its pull request. */
export interface Stray {
  readonly commit: string;
  /** Where it stands and how a person gets rid of it, as parts of a sentence. */
  readonly where: string;
  readonly remove: string;
}

export interface ListFilter {
  readonly state: 'open' | 'closed' | 'all';
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** One repository on one forge. */
export interface Forge {
  readonly kind: 'local' | 'github';

  createIssue(
    draft: { title: string; body: string; labels: readonly string[] },
    stamp: Stamp,
  ): Promise<Issue>;
  findIssue(trace: Trace): Promise<Issue | undefined>;
  issue(number: number, signal: AbortSignal): Promise<Issue>;
  issues(filter: ListFilter): Promise<readonly Issue[]>;

  createComment(pr: number, body: string, stamp: Stamp): Promise<Comment>;
  findComment(pr: number, trace: Trace): Promise<Comment | undefined>;
  comments(pr: number, signal: AbortSignal): Promise<readonly Comment[]>;

  pull(number: number, signal: AbortSignal): Promise<Pull>;
  pullFiles(number: number, signal: AbortSignal): Promise<PullFiles>;
  pulls(filter: ListFilter): Promise<readonly Pull[]>;

  /** Where a run begins; undefined in a repository without commits. */
  defaultBase(signal: AbortSignal): Promise<{ branch: string; commit: string } | undefined>;
  /** The commit a branch stands on now; throws not_found. */
  baseCommit(branch: string, signal: AbortSignal): Promise<string>;
  tree(commit: string, signal: AbortSignal): Promise<TreeSource>;
  /** What `publish` would do, in words a person can check. */
  plannedCommands(plan: Plan): readonly string[];
  publish(plan: Plan, stamp: Stamp): Promise<Published>;
  /** The pull request an interrupted `publish` opened. A branch without one is taken over when it is published again. */
  findPublished(headBranch: string, trace: Trace): Promise<Published | undefined>;
  /** A branch with a commit of this message on which an interrupted `publish` may have ended. */
  strayBranch(headBranch: string, message: string, signal: AbortSignal): Promise<Stray | undefined>;
}

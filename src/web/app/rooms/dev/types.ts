export interface Author {
  readonly login: string;
  readonly kind: string;
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

export interface Pull {
  readonly number: number;
  readonly title: string;
  readonly body: string;
  readonly state: 'open' | 'closed';
  readonly merged: boolean;
  readonly mergeable?: boolean;
  readonly draft: boolean;
  readonly html_url: string;
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
}

export interface Comment {
  readonly id: number;
  readonly body: string;
  readonly author: Author;
  readonly created_at: string;
}

export interface Run {
  readonly run_id: string;
  readonly repo: string;
  readonly purpose: string;
  readonly created_at: string;
  readonly created_by: string;
  readonly base_branch: string | null;
  readonly head_branch: string | null;
}

/** Enough of an id to tell runs apart. */
export const shortRun = (id: string): string => id.slice(0, 8);

/** GitHub tells us nothing; what lives there is looked at again so often. */
export const GITHUB_MS = 60_000;

/** What lives in our own store can be merged and closed here; the rest is decided on GitHub. */
export const isLocal = ({ html_url }: { readonly html_url: string }): boolean =>
  html_url.startsWith('countersign:');

/** What to do with a request instead of answering it: not act, act and stay silent, or answer something else. */
export type Fault =
  | 'drop'
  | 'act-and-drop'
  | 'hold'
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: object };

export interface Pull {
  number: number;
  title: string;
  body: string;
  state: string;
  draft: boolean;
  head: string;
  base: string;
  baseSha: string;
}
export interface Text {
  id: number;
  number: number;
  title?: string;
  body: string;
  labels: string[];
  at: string;
}

export interface GithubDouble {
  readonly url: string;
  readonly requests: string[];
  readonly issues: Text[];
  readonly comments: Text[];
  readonly pulls: Pull[];
  /** Asked before each request is served. */
  fault: (request: string, turn: number) => Fault | undefined;
  /** Overrides what the files endpoint lists. */
  files: (() => object[]) | undefined;
  readonly checkRuns: object[];
  readonly reviews: object[];
  readonly lineComments: object[];
  /** The name a repository has under its id. */
  movedTo: string;
  /** Files a pull request has beyond those GitHub lists. */
  hiddenFiles: number;
  close(): Promise<void>;
}

export type Body = Record<string, unknown>;
/** The third part is the query of the next page. */
export type Answer = [status: number, body: unknown, next?: URLSearchParams | undefined];

/** What GitHub answers with an error status. */
export class Refusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** One page of a list, with the query of the next. */
export const paged = (list: object[], query: URLSearchParams): Answer => {
  const size = Number(query.get('per_page') ?? 30);
  const page = Number(query.get('page') ?? 1);
  const next = new URLSearchParams(
    [...query, ['page', String(page + 1)]].filter(
      ([key], at, all) => all.findLastIndex(([other]) => other === key) === at,
    ) as [string, string][],
  );
  const more = list.length > page * size;
  return [200, list.slice((page - 1) * size, page * size), more ? next : undefined];
};

import type { Author, Comment, Issue, Pull } from '../port.ts';

interface User {
  readonly login: string;
  readonly type?: string | undefined;
}

/** Those whom the owners of the repository gave rights in it. */
const TRUSTED = new Set(['OWNER', 'MEMBER', 'COLLABORATOR']);

export function toAuthor(user: User | null | undefined, association: string | undefined): Author {
  const kind = user?.type === 'Bot' ? 'bot' : user ? 'person' : 'unknown';
  return {
    login: user?.login ?? 'ghost',
    kind,
    ...(association ? { association } : {}),
    trust: kind === 'person' && TRUSTED.has(association ?? '') ? 'trusted' : 'untrusted',
  };
}

interface RawIssue {
  readonly number: number;
  readonly title: string;
  readonly body?: string | null | undefined;
  readonly state: string;
  readonly html_url: string;
  readonly labels: readonly (string | { readonly name?: string | undefined })[];
  readonly user: User | null;
  readonly author_association?: string | undefined;
  readonly created_at: string;
}

export const toIssue = (raw: RawIssue): Issue => ({
  number: raw.number,
  title: raw.title,
  body: withoutMarker(raw.body),
  labels: raw.labels.map((label) => (typeof label === 'string' ? label : (label.name ?? ''))),
  state: raw.state === 'closed' ? 'closed' : 'open',
  html_url: raw.html_url,
  author: toAuthor(raw.user, raw.author_association),
  created_at: raw.created_at,
});

interface RawComment {
  readonly id: number;
  readonly body?: string | undefined;
  readonly html_url: string;
  readonly user: User | null;
  readonly author_association?: string | undefined;
  readonly created_at: string;
}

export const toComment = (raw: RawComment): Comment => ({
  id: raw.id,
  body: withoutMarker(raw.body),
  html_url: raw.html_url,
  author: toAuthor(raw.user, raw.author_association),
  created_at: raw.created_at,
});

export interface RawPull {
  readonly number: number;
  readonly title: string;
  readonly body: string | null;
  readonly state: string;
  readonly draft?: boolean | undefined;
  readonly html_url: string;
  readonly merged?: boolean;
  readonly merged_at?: string | null;
  readonly mergeable?: boolean | null;
  readonly base: { readonly ref: string; readonly sha: string };
  readonly head: { readonly ref: string; readonly sha: string };
  readonly user: User | null;
  readonly author_association?: string | undefined;
  readonly created_at: string;
}

export const toPull = (raw: RawPull): Pull => ({
  number: raw.number,
  title: raw.title,
  body: withoutMarker(raw.body),
  state: raw.state === 'open' ? 'open' : 'closed',
  draft: raw.draft ?? false,
  html_url: raw.html_url,
  merged: raw.merged ?? Boolean(raw.merged_at),
  ...(typeof raw.mergeable === 'boolean' ? { mergeable: raw.mergeable } : {}),
  base: { ref: raw.base.ref, sha: raw.base.sha },
  head: { ref: raw.head.ref, sha: raw.head.sha },
  author: toAuthor(raw.user, raw.author_association),
  created_at: raw.created_at,
});

/** A comment no reader sees: it ties what GitHub keeps to the call that made it. */
const mark = (callId: string): string => `<!-- countersign:call=${callId} -->`;
const MARK = /\n*<!-- countersign:call=[0-9A-Za-z-]+ -->\s*$/;

export const withMarker = (body: string, callId: string): string =>
  `${body}${body === '' ? '' : '\n\n'}${mark(callId)}`;
export const hasMarker = (body: string | null | undefined, callId: string): boolean =>
  body?.includes(mark(callId)) ?? false;
const withoutMarker = (body: string | null | undefined): string => (body ?? '').replace(MARK, '');

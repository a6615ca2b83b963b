import { isRecord, type JsonRecord, textAt } from '../../lib/json.ts';

/** What a call's arguments are best shown as. */
export type Shown =
  | {
      readonly as: 'post';
      readonly text: string;
      readonly above?: string | undefined;
      readonly media: number;
    }
  | { readonly as: 'thread'; readonly texts: readonly string[]; readonly above?: string | undefined }
  | { readonly as: 'diff'; readonly files: readonly ChangedFile[]; readonly args: JsonRecord }
  | { readonly as: 'coding' }
  | { readonly as: 'fields' };

export interface ChangedFile {
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string;
}

/** What happens with the text, and what stands above it. */
const POSTS: Readonly<
  Record<string, { readonly headline: string; above?(args: JsonRecord): string | undefined }>
> = {
  x_post_tweet: { headline: 'Post this on X' },
  x_reply_to_tweet: {
    headline: 'Reply with this on X',
    above: (args) => `In reply to post ${textAt(args, 'in_reply_to_id') ?? ''}`,
  },
  x_quote_tweet: {
    headline: 'Quote a post with this on X',
    above: (args) => `Quoting post ${textAt(args, 'quoted_tweet_id') ?? ''}`,
  },
};
/** How a draft keeps a thread in one text. */
const PART_END = /^\s*-{3,}\s*$/mu;

export function shownAs(tool: string, args: JsonRecord): Shown {
  const post = Object.hasOwn(POSTS, tool) ? POSTS[tool] : undefined;
  const text = textAt(args, 'text');
  if (post && text !== undefined) {
    const media = Array.isArray(args.media_ids) ? args.media_ids.length : 0;
    return { as: 'post', text, above: post.above?.(args), media };
  }
  if (tool === 'x_post_thread' && Array.isArray(args.tweets)) {
    return { as: 'thread', texts: args.tweets.filter((one) => typeof one === 'string') };
  }
  if (tool === 'compose_tweet') return draft(args);
  if (tool === 'code_branch_pr_create' && Array.isArray(args.files)) {
    return { as: 'diff', files: args.files.flatMap(changedFile), args };
  }
  return { as: tool === 'apply_code' ? 'coding' : 'fields' };
}

function draft(args: JsonRecord): Shown {
  const content = textAt(args, 'content');
  if (content === undefined) return { as: 'fields' };
  const at = textAt(args, 'scheduled_for');
  const above = at === undefined ? undefined : `To go out ${momentName(at)}`;
  if (args.content_type !== 'thread') return { as: 'post', text: content, above, media: 0 };
  const parts = content.split(PART_END).map((part) => part.trim());
  return { as: 'thread', texts: parts.filter((part) => part !== ''), above };
}

/** A time an agent gave, in this browser's zone; anything else as it was given. */
function momentName(given: string): string {
  const time = Date.parse(given);
  if (Number.isNaN(time)) return `at ${given}`;
  return new Date(time).toLocaleString('en', { dateStyle: 'full', timeStyle: 'long' });
}

/** What will happen, without repeating a text that stands right below. */
export function headlineOf(tool: string, args: JsonRecord, summary: string): string {
  const shown = shownAs(tool, args);
  if (shown.as !== 'post' && shown.as !== 'thread') return summary;
  const what = shown.as === 'post' ? 'this' : `this thread of ${shown.texts.length}`;
  if (tool === 'compose_tweet')
    return args.scheduled_for === undefined ? `Keep ${what} as a draft` : `Schedule ${what} for X`;
  return POSTS[tool]?.headline ?? `Post ${what} on X`;
}

function changedFile(file: unknown): ChangedFile[] {
  const path = textAt(file, 'path');
  const after = textAt(file, 'modified_content');
  if (!isRecord(file) || path === undefined || after === undefined) return [];
  return [{ path, before: textAt(file, 'original_content'), after }];
}

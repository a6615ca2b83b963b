import { isRecord, type JsonRecord, textAt } from '../../lib/json.ts';

/** What a call's arguments are best shown as. */
export type Shown =
  | { readonly as: 'post'; readonly text: string; readonly above: string | undefined; readonly media: number }
  | { readonly as: 'thread'; readonly texts: readonly string[] }
  | { readonly as: 'diff'; readonly files: readonly ChangedFile[]; readonly args: JsonRecord }
  | { readonly as: 'coding' }
  | { readonly as: 'fields' };

export interface ChangedFile {
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string;
}

const POSTS: Readonly<Record<string, (args: JsonRecord) => string | undefined>> = {
  x_post_tweet: () => undefined,
  x_reply_to_tweet: (args) =>
    `In reply to post ${textAt(args, 'tweet_id') ?? textAt(args, 'in_reply_to_id') ?? ''}`,
  x_quote_tweet: (args) =>
    `Quoting post ${textAt(args, 'quoted_tweet_id') ?? textAt(args, 'tweet_id') ?? ''}`,
};

export function shownAs(tool: string, args: JsonRecord): Shown {
  const above = Object.hasOwn(POSTS, tool) ? POSTS[tool] : undefined;
  const text = textAt(args, 'text');
  if (above && text !== undefined) {
    const media = Array.isArray(args.media_ids) ? args.media_ids.length : 0;
    return { as: 'post', text, above: above(args), media };
  }
  if (tool === 'x_post_thread' && Array.isArray(args.tweets)) {
    return { as: 'thread', texts: args.tweets.filter((one) => typeof one === 'string') };
  }
  if (tool === 'code_branch_pr_create' && Array.isArray(args.files)) {
    return { as: 'diff', files: args.files.flatMap(changedFile), args };
  }
  return { as: tool === 'apply_code' ? 'coding' : 'fields' };
}

const HEADLINES: Readonly<Record<string, string>> = {
  x_post_tweet: 'Post this on X',
  x_reply_to_tweet: 'Reply with this on X',
  x_quote_tweet: 'Quote a post with this on X',
};

/** What will happen, without repeating a text that stands right below. */
export function headlineOf(tool: string, args: JsonRecord, summary: string): string {
  const shown = shownAs(tool, args);
  if (shown.as === 'post') return HEADLINES[tool] ?? summary;
  return shown.as === 'thread' ? `Post this thread of ${shown.texts.length} on X` : summary;
}

function changedFile(file: unknown): ChangedFile[] {
  const path = textAt(file, 'path');
  const after = textAt(file, 'modified_content');
  if (!isRecord(file) || path === undefined || after === undefined) return [];
  return [{ path, before: textAt(file, 'original_content'), after }];
}

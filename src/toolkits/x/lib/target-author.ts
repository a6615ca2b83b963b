import { ToolFault } from '../../../contract/faults.ts';
import type { ToolContext } from '../../../contract/tool.ts';
import { reachX, type XServices } from '../services.ts';
import { onePost } from './x-replies.ts';

export interface TargetAuthor {
  readonly id: string;
  readonly username: string | undefined;
}

/**
 * Who is replied to, for the limit per author. Known posts cost nothing; a plan that may post but not read is no
 * reason to refuse, so the post itself then stands for its author.
 */
export async function targetAuthor(context: ToolContext<XServices>, tweetId: string): Promise<TargetAuthor> {
  const known = await context.services.growth.discovered.get(tweetId);
  if (known) return { id: known.author_id, username: known.author_username };
  const x = await reachX(context);
  try {
    const reply = await x.request('tweet_by_id', { tweet_id: tweetId }, context);
    const post = onePost(reply);
    const id = typeof post.author_id === 'string' ? post.author_id : `post:${tweetId}`;
    return { id, username: post.author?.username };
  } catch (error) {
    if (error instanceof ToolFault && error.code === 'x_forbidden')
      return { id: `post:${tweetId}`, username: undefined };
    throw error;
  }
}

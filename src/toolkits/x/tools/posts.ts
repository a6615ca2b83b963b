import { z } from 'zod';
import { ToolError } from '../../../contract/errors.ts';
import type { PresentationBlock } from '../../../contract/presentation.ts';
import { CHANGE_PROFILES } from '../../../contract/tool.ts';
import { quoted } from '../../../lib/words.ts';
import { dataOf, postId } from '../client/read.ts';
import { POLICY_ERRORS, POST_ERRORS, X_ERRORS } from '../errors.ts';
import { reconcilePost, sendPost } from '../posting/post.ts';
import { previewPost, previewShape } from '../posting/text.ts';
import { accountOf, type FoundPost, PUBLIC, postBlock, postNamed } from '../present.ts';
import { requirementsFor } from '../requirements.ts';
import { defineXTool, reachX } from '../services.ts';

/** What the person who decides on a post may want to look at twice. */
export function postRisks(texts: readonly string[], mediaCount = 0): string[] {
  const risks: string[] = [];
  const all = texts.join('\n');
  if (/https?:\/\//iu.test(all)) risks.push('Contains a link');
  const mentions = all.match(/(?<!\w)@\w{1,15}/gu)?.length ?? 0;
  if (mentions > 0) risks.push(`Mentions ${mentions} account${mentions === 1 ? '' : 's'}`);
  const hashtags = all.match(/(?<!\w)#\p{L}\w*/gu)?.length ?? 0;
  if (hashtags > 2) risks.push(`Has ${hashtags} hashtags`);
  const letters = all.replace(/[^\p{L}]/gu, '');
  if (letters.length >= 20 && letters === letters.toUpperCase() && letters !== letters.toLowerCase()) {
    risks.push('Written in capitals');
  }
  if (mediaCount > 0) risks.push(`Includes ${mediaCount} media file${mediaCount === 1 ? '' : 's'}`);
  return risks;
}

/** Said where X could not be asked, so that a person does not take the missing text for an empty one. */
const unknownPost = (post: FoundPost | undefined): PresentationBlock[] =>
  post ? [] : [{ type: 'notice', level: 'note', text: 'X could not be asked which post this is.' }];

/** Length is judged as X counts it, in the tool's check: no schema can say it. */
export const postText = z.string().min(1).max(25_000);

const mediaIds = z
  .array(z.string().regex(/^\d{1,19}$/, 'must be a numeric id'))
  .min(1)
  .max(4)
  .describe('From x_upload_media.');

const postedShape = z.object({ id: z.string(), text: z.string() });

export const xPostTweet = defineXTool({
  name: 'x_post_tweet',
  title: 'Post',
  summary: 'Posts a text of up to 280 weighted characters, with media if given.',
  effect: 'change',
  reach: 'network',
  category: 'write',
  profiles: CHANGE_PROFILES,
  policyName: 'post_tweet',
  errors: POST_ERRORS,
  requires: requirementsFor(['create_tweet']),
  input: z.object({ text: postText, media_ids: mediaIds.optional() }),
  output: postedShape,
  async present({ text, media_ids = [] }, context) {
    const { author, handle, target } = await accountOf(context);
    return {
      ...PUBLIC,
      title: `Post to ${handle}`,
      done: `Posted to ${handle}: ${quoted(text, 32)}`,
      act: 'post',
      kind: 'post',
      gist: text,
      target,
      body: [await postBlock(author, text, { media: media_ids.length })],
      covers: ['text', 'media_ids'],
    };
  },
  risks: ({ text, media_ids }) => postRisks([text], media_ids?.length),
  rollback: (_args, { id }) => ({ tool: 'x_delete_tweet', args: { tweet_id: id } }),
  limits: (_args, { safety }) => safety.presentLimits({ kind: 'tweet' }),
  check: ({ text }, { safety }) => safety.check({ kind: 'tweet', texts: [text] }),
  run: ({ text, media_ids }, context) => sendPost(context, { kind: 'tweet', text, mediaIds: media_ids }),
  reconcile: ({ text }, context) => reconcilePost(context, { kind: 'tweet', text }),
});

export const xReplyToTweet = defineXTool({
  name: 'x_reply_to_tweet',
  title: 'Reply to a post',
  summary: 'Replies to a post.',
  effect: 'change',
  reach: 'network',
  category: 'write',
  profiles: CHANGE_PROFILES,
  policyName: 'reply_to_tweet',
  errors: POST_ERRORS,
  requires: requirementsFor(['create_tweet']),
  input: z.object({ text: postText, in_reply_to_id: postId, media_ids: mediaIds.optional() }),
  output: postedShape.extend({ in_reply_to_id: z.string() }),
  async present({ text, in_reply_to_id, media_ids = [] }, context) {
    const { author, handle, target } = await accountOf(context);
    const post = await postNamed(context, in_reply_to_id);
    const to = post?.by ?? 'a post';
    const above = post && ({ ...post.quoted, as: 'reply' } as const);
    return {
      ...PUBLIC,
      title: `Reply to ${to} as ${handle}`,
      done: `Replied to ${to} as ${handle}`,
      act: 'reply',
      kind: 'post',
      gist: text,
      target,
      body: [
        await postBlock(author, text, { media: media_ids.length, context: above }),
        ...unknownPost(post),
      ],
      covers: ['text', 'in_reply_to_id', 'media_ids'],
    };
  },
  risks: ({ text, media_ids }) => postRisks([text], media_ids?.length),
  rollback: (_args, { id }) => ({ tool: 'x_delete_tweet', args: { tweet_id: id } }),
  async limits({ in_reply_to_id }, { safety, growth }) {
    const known = await growth.discovered.get(in_reply_to_id);
    return safety.presentLimits({ kind: 'reply', targetAuthorId: known?.author_id });
  },
  async check({ text, in_reply_to_id }, { safety, growth }) {
    const known = await growth.discovered.get(in_reply_to_id);
    await safety.check({ kind: 'reply', texts: [text], targetAuthorId: known?.author_id });
  },
  async run({ text, in_reply_to_id, media_ids }, context) {
    const wanted = { kind: 'reply', text, inReplyTo: in_reply_to_id, mediaIds: media_ids } as const;
    return { ...(await sendPost(context, wanted)), in_reply_to_id };
  },
  reconcile: ({ text, in_reply_to_id }, context) =>
    reconcilePost(context, { kind: 'reply', text, inReplyTo: in_reply_to_id }),
});

export const xQuoteTweet = defineXTool({
  name: 'x_quote_tweet',
  title: 'Quote a post',
  summary: 'Posts a text that quotes another post.',
  effect: 'change',
  reach: 'network',
  category: 'write',
  profiles: CHANGE_PROFILES,
  policyName: 'quote_tweet',
  errors: POST_ERRORS,
  requires: requirementsFor(['create_tweet']),
  input: z.object({ text: postText, quoted_tweet_id: postId, media_ids: mediaIds.optional() }),
  output: postedShape.extend({ quoted_tweet_id: z.string() }),
  async present({ text, quoted_tweet_id, media_ids = [] }, context) {
    const { author, handle, target } = await accountOf(context);
    const post = await postNamed(context, quoted_tweet_id);
    const whose = post?.by ?? 'a post';
    const inside = post && ({ ...post.quoted, as: 'quote' } as const);
    return {
      ...PUBLIC,
      title: `Quote ${whose} on ${handle}`,
      done: `Quoted ${whose} on ${handle}`,
      act: 'post',
      kind: 'post',
      gist: text,
      target,
      body: [
        await postBlock(author, text, { media: media_ids.length, context: inside }),
        ...unknownPost(post),
      ],
      covers: ['text', 'quoted_tweet_id', 'media_ids'],
    };
  },
  risks: ({ text, media_ids }) => postRisks([text], media_ids?.length),
  rollback: (_args, { id }) => ({ tool: 'x_delete_tweet', args: { tweet_id: id } }),
  limits: (_args, { safety }) => safety.presentLimits({ kind: 'quote' }),
  check: ({ text }, { safety }) => safety.check({ kind: 'quote', texts: [text] }),
  async run({ text, quoted_tweet_id, media_ids }, context) {
    const wanted = { kind: 'quote', text, quoted: quoted_tweet_id, mediaIds: media_ids } as const;
    return { ...(await sendPost(context, wanted)), quoted_tweet_id };
  },
  reconcile: ({ text, quoted_tweet_id }, context) =>
    reconcilePost(context, { kind: 'quote', text, quoted: quoted_tweet_id }),
});

export const xDeleteTweet = defineXTool({
  name: 'x_delete_tweet',
  title: 'Delete a post',
  summary: 'Permanently deletes one of your own posts.',
  effect: 'destroy',
  reach: 'network',
  category: 'write',
  profiles: CHANGE_PROFILES,
  policyName: 'delete_tweet',
  errors: [...X_ERRORS, 'tweet_too_long', 'scraper_mutation_blocked', ...POLICY_ERRORS],
  requires: requirementsFor(['delete_tweet']),
  input: z.object({ tweet_id: postId }),
  output: z.object({ deleted: z.boolean(), tweet_id: z.string() }),
  async present({ tweet_id }, context) {
    const { handle, id, target } = await accountOf(context);
    const post = await postNamed(context, tweet_id);
    if (post?.authorId !== undefined && id !== undefined && post.authorId !== id) {
      throw new ToolError(
        'validation_error',
        `The post is by ${post.by}; ${handle} can delete only its own.`,
        {
          detail: { tweet_id },
        },
      );
    }
    const what = post ? quoted(post.quoted.text, 24) : 'a post';
    return {
      title: `Permanently delete ${what} by ${handle}`,
      done: `Deleted ${what} by ${handle}`,
      act: 'delete',
      kind: 'post',
      ...(post ? { gist: post.quoted.text } : {}),
      target,
      effect: { text: 'The post is lost', detail: 'With its replies and figures' },
      undo: { possible: false, text: 'No undo' },
      body: post ? [{ type: 'quote', title: 'Post', quoted: post.quoted }] : unknownPost(post),
      covers: ['tweet_id'],
    };
  },
  risks: () => ['Cannot be undone'],
  async run({ tweet_id }, context) {
    const x = await reachX(context);
    const { signal, callId } = context;
    const reply = await x.request('delete_tweet', { tweet_id }, { signal, callId });
    context.note({ rollback: { reversible: false, note: 'A deleted post cannot be restored.' } });
    return { deleted: dataOf(reply).deleted !== false, tweet_id };
  },
  async reconcile({ tweet_id }, { services, signal, callId }) {
    const x = await services.x();
    try {
      await x.request('tweet_by_id', { tweet_id }, { signal, callId });
      return { settled: 'not_done' };
    } catch (error) {
      if (!(error instanceof ToolError) || error.code !== 'not_found') throw error;
      return { settled: 'done', data: { deleted: true, tweet_id } };
    }
  },
});

export const xPostTweetDryRun = defineXTool({
  name: 'x_post_tweet_dry_run',
  title: 'Try a post',
  summary: 'Checks a post as x_post_tweet would and shows what would be sent; posts nothing.',
  effect: 'read',
  reach: 'local',
  category: 'write',
  profiles: CHANGE_PROFILES,
  errors: ['tweet_too_long', 'invalid_input', 'validation_error', 'policy_error'],
  requires: { db: true },
  input: z.object({ text: postText, media_ids: mediaIds.optional() }),
  output: previewShape,
  check: ({ text }, { safety }) => safety.check({ kind: 'tweet', texts: [text] }),
  run: ({ text, media_ids }, context) =>
    previewPost(context, { tool: 'x_post_tweet', args: { text, ...(media_ids ? { media_ids } : {}) } }, [
      { text, mediaIds: media_ids },
    ]),
});

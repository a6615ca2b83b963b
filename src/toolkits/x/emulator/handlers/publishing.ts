import { nextId, type PostDoc } from '../documents.ts';
import { answer, type Call, type Handler, list, needPost, ownUser, text } from '../handler.ts';
import { duplicateContent, forbidden, invalidRequest } from '../problems.ts';

/** X refuses the same words again within this time. */
const DUPLICATE_MS = 24 * 3_600_000;

const create: Handler = (call) => {
  const media = list(call, 'media_ids');
  const words = text(call, 'text');
  if (
    words.trim() === '' &&
    media.length === 0 &&
    call.body.poll === undefined &&
    call.body.card_uri === undefined
  ) {
    throw invalidRequest([
      {
        name: 'text',
        value: words,
        message: 'One of the following is required: text, media.media_ids, poll or card_uri',
      },
    ]);
  }
  const parent = call.args.in_reply_to_id === undefined ? undefined : answeredPost(call);
  const quoted = call.args.quoted_tweet_id === undefined ? undefined : needPost(call, 'quoted_tweet_id');
  refuseDuplicate(call, words, parent?.id, quoted?.id, media);
  const media_keys = media.map((id) => mediaKey(call, id));
  const id = nextId(call.state, call.now);
  call.state.put('posts', id, {
    id,
    author_id: call.own,
    text: words,
    created_at: call.now.toISOString(),
    conversation_id: parent?.conversation_id ?? id,
    ...(parent ? { in_reply_to: parent.id } : {}),
    ...(quoted ? { quotes: quoted.id } : {}),
    lang: 'en',
    hidden: false,
    media_keys,
    reply_settings: call.args.reply_settings === undefined ? 'everyone' : text(call, 'reply_settings'),
    base: { likes: 0, reposts: 0, replies: 0, quotes: 0, impressions: 0 },
  });
  return { status: 201, body: { data: { id, text: words, edit_history_tweet_ids: [id] } } };
};

function answeredPost(call: Call): PostDoc {
  const post = call.state.get('posts', text(call, 'in_reply_to_id'));
  if (!post) throw forbidden('You attempted to reply to a Tweet that is deleted or not visible to you.');
  if (call.state.linked('blocks', post.author_id, call.own))
    throw forbidden('You are not allowed to reply to this conversation.');
  return post;
}

function refuseDuplicate(
  call: Call,
  words: string,
  parent: string | undefined,
  quoted: string | undefined,
  media: string[],
): void {
  const repeated = call.state
    .all('posts')
    .some(
      (post) =>
        post.author_id === call.own &&
        post.text === words &&
        words !== '' &&
        post.in_reply_to === parent &&
        post.quotes === quoted &&
        media.length === 0 &&
        post.media_keys.length === 0 &&
        call.now.getTime() - Date.parse(post.created_at) < DUPLICATE_MS,
    );
  if (repeated) throw duplicateContent();
}

function mediaKey(call: Call, id: string): string {
  const media = call.state.get('media', id);
  const usable =
    media?.owner_id === call.own &&
    media.state === 'succeeded' &&
    Date.parse(media.expires_at) > call.now.getTime();
  if (media && usable) return media.media_key;
  throw invalidRequest([{ name: 'media.media_ids', value: id, message: 'Your media IDs are invalid.' }]);
}

const remove: Handler = (call) => {
  const id = text(call, 'tweet_id');
  const post = call.state.get('posts', id);
  if (post && post.author_id !== call.own) throw forbidden('You are not authorized to delete this Tweet.');
  // X answers deleted for what is already gone.
  if (post) {
    call.state.remove('posts', id);
    for (const link of call.state.linksTo('likes', id)) call.state.unlink('likes', link.from, id);
    for (const link of call.state.linksTo('bookmarks', id)) call.state.unlink('bookmarks', link.from, id);
    for (const link of call.state.linksTo('reposts', id)) call.state.unlink('reposts', link.from, id);
  }
  return answer({ deleted: true });
};

const pin: Handler = (call) => {
  const own = ownUser(call);
  const post = needPost(call, 'tweet_id');
  if (post.author_id !== own) throw forbidden('You can only pin your own posts.');
  const user = call.state.get('users', own);
  if (user) call.state.put('users', own, { ...user, pinned_tweet_id: post.id });
  return answer({ pinned: true });
};

const unpin: Handler = (call) => {
  const own = ownUser(call);
  const user = call.state.get('users', own);
  if (user) {
    const { pinned_tweet_id, ...rest } = user;
    if (pinned_tweet_id !== undefined) call.state.put('users', own, rest);
  }
  return answer({ pinned: false });
};

export const publishing = {
  create_tweet: create,
  delete_tweet: remove,
  x_v2_users_pin_tweet: pin,
  x_v2_users_unpin_tweet: unpin,
} satisfies Record<string, Handler>;

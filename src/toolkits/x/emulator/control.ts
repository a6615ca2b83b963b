import { z } from 'zod';
import { type CollectionName, type JsonDoc, LINK_COLLECTIONS, nextId, type PostDoc } from './documents.ts';
import { FAULT_KINDS } from './faults.ts';
import { issue } from './oauth.ts';
import { OWN_ID } from './seed/accounts.ts';
import { pairId } from './seed/gatherings.ts';
import type { State } from './state.ts';

const fault = z.strictObject({
  kind: z.enum(FAULT_KINDS),
  endpoint: z.string().optional(),
  method: z.string().optional(),
  path: z.string().optional(),
  skip: z.number().int().min(0).default(0),
  times: z.number().int().min(1).default(1),
  detail: z.string().optional(),
  ms: z.number().int().min(0).optional(),
  reset_in: z.number().int().optional(),
});

const post = z.strictObject({
  username: z.string(),
  text: z.string(),
  in_reply_to: z.string().optional(),
  quotes: z.string().optional(),
  likes: z.number().int().min(0).default(0),
});

const message = z.strictObject({ username: z.string(), text: z.string() });
const tokens = z.strictObject({ scopes: z.array(z.string()), expires_in: z.number().default(7200) });
const look = z.strictObject({ collection: z.string() });

type Command = (state: State, params: JsonDoc, now: Date) => JsonDoc;

/** What a test, or a person at the command line, may do to the world from outside. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  /** Scripts a fault. */
  fault: (state, params, now) => {
    const id = nextId(state, now);
    state.put('faults', id, { id, ...fault.parse(params) });
    return { id };
  },
  clear_faults: (state) => {
    const all = state.all('faults');
    for (const { id } of all) state.remove('faults', id);
    return { cleared: all.length };
  },
  faults: (state) => ({ faults: plain(state.all('faults')) }),
  /** Someone else posts, answers or quotes. */
  post_as: (state, params, now) => {
    const { username, text, in_reply_to, quotes, likes } = post.parse(params);
    const id = nextId(state, now);
    const parent = in_reply_to ? state.get('posts', in_reply_to) : undefined;
    const doc: PostDoc = {
      id,
      author_id: userId(state, username),
      text,
      created_at: now.toISOString(),
      conversation_id: parent?.conversation_id ?? id,
      ...(in_reply_to ? { in_reply_to } : {}),
      ...(quotes ? { quotes } : {}),
      lang: 'en',
      hidden: false,
      media_keys: [],
      reply_settings: 'everyone',
      base: { likes, reposts: 0, replies: 0, quotes: 0, impressions: likes * 40 },
    };
    state.put('posts', id, doc);
    return { id };
  },
  /** Someone else writes to the own account. */
  message_from: (state, params, now) => {
    const { username, text } = message.parse(params);
    const sender = userId(state, username);
    const conversation_id = pairId(OWN_ID, sender);
    const created_at = now.toISOString();
    if (!state.get('conversations', conversation_id)) {
      state.put('conversations', conversation_id, {
        id: conversation_id,
        type: 'OneToOne',
        participant_ids: [OWN_ID, sender],
        created_at,
      });
    }
    const id = nextId(state, now);
    state.put('messages', id, {
      id,
      conversation_id,
      event_type: 'MessageCreate',
      sender_id: sender,
      text,
      created_at,
      media_keys: [],
    });
    return { id, conversation_id };
  },
  /** Tokens with chosen scopes and life. */
  token: (state, params, now) => {
    const { scopes, expires_in } = tokens.parse(params);
    return issue(state, scopes, now, expires_in);
  },
  /** Everything in one collection. */
  look: (state, params) => {
    const { collection } = look.parse(params);
    return { items: plain(state.all(collection as CollectionName)) };
  },
  summary: (state) => summarize(state),
};

/** How much of what there is. */
export const summarize = (state: State) => ({
  users: state.all('users').length,
  posts: state.all('posts').length,
  own_posts: state.all('posts').filter((each) => each.author_id === OWN_ID).length,
  messages: state.all('messages').length,
  links: LINK_COLLECTIONS.reduce((sum, name) => sum + state.all(name).length, 0),
  faults: state.all('faults').length,
  seeded_at: state.get('meta', 'meta')?.seeded_at ?? '',
});

const plain = (docs: readonly object[]): JsonDoc[] => docs as JsonDoc[];

function userId(state: State, username: string): string {
  const user = state.all('users').find((each) => each.username === username);
  if (!user) throw new Error(`User @${username} does not exist in the sandbox`);
  return user.id;
}

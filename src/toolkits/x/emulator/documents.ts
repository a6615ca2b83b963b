import type { State } from './state.ts';

/** What the sandbox remembers: one JSON document per item, in named collections. */

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
export type JsonDoc = { [key: string]: Json };

export interface UserDoc {
  id: string;
  username: string;
  name: string;
  description: string;
  created_at: string;
  location?: string;
  verified: boolean;
  protected: boolean;
  /** Followers and posts beyond those the sandbox holds. */
  base: { followers: number; following: number; posts: number; listed: number; likes: number };
  pinned_tweet_id?: string;
}

export interface PostDoc {
  id: string;
  author_id: string;
  text: string;
  created_at: string;
  conversation_id: string;
  in_reply_to?: string;
  quotes?: string;
  reposts?: string;
  lang: string;
  hidden: boolean;
  media_keys: string[];
  reply_settings: string;
  base: { likes: number; reposts: number; replies: number; quotes: number; impressions: number };
}

/** A like, a follow, a membership: who or what is tied to what. */
export interface LinkDoc {
  from: string;
  to: string;
  at: string;
  /** The post that a repost made. */
  rest_id?: string;
}

export interface ListDoc {
  id: string;
  name: string;
  description: string;
  private: boolean;
  owner_id: string;
  created_at: string;
}

export interface SpaceDoc {
  id: string;
  title: string;
  state: 'live' | 'scheduled' | 'ended';
  creator_id: string;
  host_ids: string[];
  speaker_ids: string[];
  created_at: string;
  scheduled_start?: string;
  started_at?: string;
  ended_at?: string;
  is_ticketed: boolean;
  lang: string;
  participant_count: number;
  buyer_ids: string[];
  post_ids: string[];
}

export interface ConversationDoc {
  id: string;
  type: 'OneToOne' | 'Group';
  participant_ids: string[];
  created_at: string;
}

export interface MessageDoc {
  id: string;
  conversation_id: string;
  event_type: 'MessageCreate' | 'ParticipantsJoin';
  sender_id: string;
  text?: string;
  created_at: string;
  media_keys: string[];
  participant_ids?: string[];
}

export interface MediaDoc {
  id: string;
  media_key: string;
  owner_id: string;
  media_type: string;
  category: string;
  total_bytes: number;
  /** Bytes received per segment. */
  segments: { [index: string]: number };
  state: 'open' | 'processing' | 'succeeded' | 'failed';
  ready_at?: string;
  expires_at: string;
  alt_text?: string;
}

export interface RuleDoc {
  id: string;
  value: string;
  tag?: string;
}

export interface JobDoc {
  id: string;
  type: string;
  name?: string;
  resumable: boolean;
  created_at: string;
}

/** Ads entities share their life cycle; the rest is free-form as in the Ads API. */
export interface AdsDoc {
  id: string;
  account_id: string;
  created_at: string;
  updated_at: string;
  deleted: boolean;
  fields: JsonDoc;
}

/** A token the sandbox gave out. A refresh token works once. */
export interface TokenDoc {
  access_token: string;
  refresh_token: string;
  scopes: string[];
  expires_at: string;
  used: boolean;
}

export interface CodeDoc {
  code: string;
  challenge: string;
  redirect_uri: string;
  scopes: string[];
}

export interface FaultDoc {
  id: string;
  kind: string;
  endpoint?: string;
  method?: string;
  path?: string;
  /** Matching requests that still pass before the fault strikes. */
  skip: number;
  times: number;
  detail?: string;
  ms?: number;
  reset_in?: number;
}

export interface MetaDoc {
  seq: number;
  seeded_at: string;
}

export interface Collections {
  users: UserDoc;
  posts: PostDoc;
  likes: LinkDoc;
  reposts: LinkDoc;
  bookmarks: LinkDoc;
  follows: LinkDoc;
  mutes: LinkDoc;
  blocks: LinkDoc;
  lists: ListDoc;
  list_members: LinkDoc;
  list_follows: LinkDoc;
  list_pins: LinkDoc;
  spaces: SpaceDoc;
  conversations: ConversationDoc;
  messages: MessageDoc;
  media: MediaDoc;
  rules: RuleDoc;
  jobs: JobDoc;
  ads_accounts: AdsDoc;
  campaigns: AdsDoc;
  line_items: AdsDoc;
  promoted_tweets: AdsDoc;
  targeting: AdsDoc;
  funding_instruments: AdsDoc;
  tokens: TokenDoc;
  codes: CodeDoc;
  faults: FaultDoc;
  meta: MetaDoc;
}

export type CollectionName = keyof Collections;

export const LINK_COLLECTIONS = [
  'likes',
  'reposts',
  'bookmarks',
  'follows',
  'mutes',
  'blocks',
  'list_members',
  'list_follows',
  'list_pins',
] as const satisfies readonly CollectionName[];

export type LinkCollection = (typeof LINK_COLLECTIONS)[number];

export type AdsCollection =
  | 'ads_accounts'
  | 'campaigns'
  | 'line_items'
  | 'promoted_tweets'
  | 'targeting'
  | 'funding_instruments';

/** X's epoch: ids carry their time in the upper bits, so newer things have larger ids. */
const EPOCH_MS = 1_288_834_974_657;
const SEQUENCE_BITS = 22n;

/** The next number of this world; part of the state, so no two processes give the same. */
function nextSequence(state: State, now: Date): number {
  const meta = state.get('meta', 'meta') ?? { seq: 0, seeded_at: now.toISOString() };
  state.put('meta', 'meta', { ...meta, seq: meta.seq + 1 });
  return meta.seq + 1;
}

export function nextId(state: State, now: Date): string {
  const sequence = BigInt(nextSequence(state, now)) & ((1n << SEQUENCE_BITS) - 1n);
  return ((BigInt(now.getTime() - EPOCH_MS) << SEQUENCE_BITS) | sequence).toString();
}

/** The Ads API has short ids in base 36. */
export const nextAdsId = (state: State, now: Date): string =>
  (36 ** 4 + nextSequence(state, now) * 7919).toString(36);

export const compareIds = (a: string, b: string): number => {
  const [x, y] = [BigInt(a), BigInt(b)];
  return x < y ? -1 : x > y ? 1 : 0;
};

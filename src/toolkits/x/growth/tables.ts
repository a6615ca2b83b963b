import type { Generated } from 'kysely';

/** `posting` is reserved before X is asked, so that limits hold for calls that run at the same time. */
type PostState = 'posting' | 'posted' | 'failed' | 'unknown';
export type PostKind = 'tweet' | 'reply' | 'quote' | 'thread';

export interface PostRow {
  /** The call that made it. */
  id: string;
  realm: string;
  kind: PostKind;
  state: PostState;
  text: string;
  text_key: string;
  tweet_id: string | null;
  target_tweet_id: string | null;
  target_author_id: string | null;
  target_author: string | null;
  topic: string | null;
  style: string | null;
  actor: string;
  mentions_product: number;
  created_at: string;
  posted_at: string | null;
  error_code: string | null;
  measured_at: string | null;
  impressions: number | null;
  likes: number | null;
  replies: number | null;
  retweets: number | null;
  score: number | null;
}

export type ContentState =
  | 'draft'
  | 'scheduled'
  | 'claimed'
  | 'waiting_approval'
  | 'posted'
  | 'failed'
  | 'cancelled';

export interface ContentRow {
  id: number;
  realm: string;
  content_type: 'tweet' | 'thread';
  /** The text; for a thread a JSON array of texts. */
  content: string;
  topic: string | null;
  style: string | null;
  state: ContentState;
  scheduled_for: string | null;
  /** When the scheduler looks at it next: the time itself, or later after a failure. */
  next_try_at: string | null;
  source: string;
  created_by: string;
  created_at: string;
  updated_at: string;
  claimed_by: string | null;
  claimed_at: string | null;
  attempts: number;
  approval_id: number | null;
  tweet_id: string | null;
  posted_at: string | null;
  error_code: string | null;
  error: string | null;
}

export interface DiscoveredRow {
  realm: string;
  tweet_id: string;
  author_id: string;
  author_username: string;
  author_followers: number;
  text: string;
  created_at: string;
  likes: number;
  retweets: number;
  replies: number;
  has_media: number;
  is_quote: number;
  score: number;
  signals: string;
  keyword: string | null;
  source: 'search' | 'mention' | 'target';
  /** `queued`: a reply waits for a person, or its outcome is not known yet. */
  state: 'new' | 'queued' | 'replied' | 'skipped';
  found_at: string;
  attempts: number;
  next_try_at: string | null;
}

export interface ActionRow {
  id: number;
  realm: string;
  at: string;
  action_type: string;
  status: string;
  message: string;
  detail: string;
}

/** Made by migration 011-x-growth. */
export interface GrowthTables {
  x_posts: PostRow;
  x_threads: {
    id: string;
    realm: string;
    thread_key: string;
    state: 'open' | 'complete';
    size: number;
    /** The call that works on it; free again after `owner_until`, should its process have died. */
    owner: string | null;
    owner_until: string | null;
    created_at: string;
    finished_at: string | null;
  };
  x_thread_parts: {
    thread_id: string;
    position: number;
    state: 'posting' | 'posted';
    tweet_id: string | null;
    at: string;
  };
  x_content: Omit<ContentRow, 'id' | 'attempts'> & { id: Generated<number>; attempts: Generated<number> };
  x_generated: {
    id: string;
    text_key: string;
    kind: PostKind;
    topic: string | null;
    style: string | null;
    at: string;
  };
  x_discovered: Omit<DiscoveredRow, 'attempts'> & { attempts: Generated<number> };
  x_followers: { realm: string; at: string; followers: number; following: number; posts: number };
  x_actions: Omit<ActionRow, 'id'> & { id: Generated<number> };
  x_cursors: { realm: string; name: string; value: string; updated_at: string };
  x_media: { realm: string; media_key: string; media_id: string; expires_at: string };
  x_llm_usage: {
    id: Generated<number>;
    at: string;
    purpose: string;
    provider: string;
    model: string;
    input_tokens: number;
    output_tokens: number;
  };
}

export interface Provider {
  readonly mode: 'autopilot' | 'composer';
  readonly llm: string | null;
  readonly sandbox: boolean;
  readonly provider: { readonly backend: string; readonly note?: string } | null;
  readonly problem?: string;
}

export interface Item {
  readonly id: number;
  readonly status: string;
  readonly content_type: 'tweet' | 'thread';
  readonly content: string | readonly string[];
  readonly lengths: readonly number[];
  readonly scheduled_for: string | null;
  readonly topic: string | null;
  readonly source: string;
  readonly created_by: string;
  readonly created_at: string;
  readonly posted_at: string | null;
  readonly approval_id: number | null;
  readonly error: string | null;
}

export interface Schedule {
  readonly timezone: string;
  readonly upcoming: readonly Item[];
  readonly past: readonly Item[];
}

export const SIGNALS = {
  keyword_relevance: 'Your keywords',
  follower: 'Reach of the author',
  recency: 'How new it is',
  engagement: 'Engagement',
  reply_count: 'Room for a reply',
  content_type: 'Plain text',
} as const;

export type Signal = keyof typeof SIGNALS;

export interface Found {
  readonly tweet_id: string;
  readonly author_username: string;
  readonly author_followers: number;
  readonly text: string;
  readonly created_at: string;
  readonly likes: number;
  readonly retweets: number;
  readonly replies: number;
  readonly score: number;
  readonly signals: Readonly<Partial<Record<Signal, number>>>;
  readonly matched_keyword: string | null;
  readonly source: string;
  readonly replied: boolean;
}

export interface Feed {
  readonly tweets: readonly Found[];
  readonly threshold: number;
  readonly most: Readonly<Record<Signal, number>>;
}

export const textsOf = ({ content }: Item): readonly string[] =>
  typeof content === 'string' ? [content] : content;

/** As the composer writes a thread: parts between lines of dashes. */
export const asText = (item: Item): string => textsOf(item).join('\n---\n');

import type { ViewData } from '../../../contract/view.ts';
import { viewsOf } from '../../../web/ui/page-data.ts';
import type { views } from '../views.ts';

export const { useView } = viewsOf<typeof views>('x');

export type Item = ViewData<typeof views.drafts>['items'][number];
export type Found = ViewData<typeof views.discovery_feed>['tweets'][number];
export type Feed = ViewData<typeof views.discovery_feed>;

export const SIGNALS = {
  keyword_relevance: 'Your keywords',
  follower: 'Reach of the author',
  recency: 'How new it is',
  engagement: 'Engagement',
  reply_count: 'Room for a reply',
  content_type: 'Plain text',
} as const;

export type Signal = keyof typeof SIGNALS;

export const textsOf = ({ content }: Item): readonly string[] =>
  typeof content === 'string' ? [content] : content;

/** As the composer writes a thread: parts between lines of dashes. */
export const asText = (item: Item): string => textsOf(item).join('\n---\n');

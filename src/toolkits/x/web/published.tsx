import { useDeferredValue, useState } from 'react';
import type { ViewData } from '../../../contract/view.ts';
import { Badge, Empty, shortName } from '../../../web/ui/badge.tsx';
import { ErrorNotice } from '../../../web/ui/notice.tsx';
import { TimeAgo } from '../../../web/ui/page-head.tsx';
import { UntrustedText } from '../../../web/ui/untrusted-text.tsx';
import type { views } from '../views.ts';
import { useView } from './data.ts';

type Post = ViewData<typeof views.published>['posts'][number];

const KINDS: Readonly<Record<Post['kind'], string>> = {
  tweet: 'post',
  reply: 'reply',
  quote: 'quote',
  thread: 'thread',
};
const SORTS = { newest: 'Newest', engagement: 'Engagement', impressions: 'Impressions' } as const;
const DAYS = [30, 90, 365];
const LIMIT = 100;

/** What was published from here, with how it did; a thread is one entry. */
export function Published() {
  const [search, setSearch] = useState('');
  const [sort, setSort] = useState<keyof typeof SORTS>('newest');
  const [days, setDays] = useState(90);
  const wanted = useDeferredValue(search);
  const published = useView(
    'published',
    { search: wanted, sort, days, limit: LIMIT },
    { topics: ['calls', 'x.changed'] },
  );
  const { data } = published;
  return (
    <>
      <div className="row nowrap published-tools">
        <input
          type="search"
          aria-label="Search published posts"
          placeholder="Search text and topic"
          maxLength={200}
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
        <select
          className="fit"
          aria-label="Sort by"
          value={sort}
          onChange={(event) => setSort(event.target.value as keyof typeof SORTS)}
        >
          {Object.entries(SORTS).map(([key, label]) => (
            <option key={key} value={key}>
              {label}
            </option>
          ))}
        </select>
        <select
          className="fit"
          aria-label="Period"
          value={days}
          onChange={(event) => setDays(Number(event.target.value))}
        >
          {DAYS.map((count) => (
            <option key={count} value={count}>
              {count} days
            </option>
          ))}
        </select>
      </div>
      <ErrorNotice error={published.error} />
      {published.loading && <p className="muted">Loading…</p>}
      {data?.total === 0 && (
        <Empty title="No published posts" icon="send">
          <p>
            {wanted === ''
              ? 'Posts that go out from here are listed with their figures.'
              : 'No post matches.'}
          </p>
        </Empty>
      )}
      {data && data.total > 0 && (
        <p className="muted small" role="status">
          {data.posts.length} of {data.total}
        </p>
      )}
      <ul className="plain-list stack" aria-label="Published posts">
        {data?.posts.map((post) => (
          <li key={post.id} className="card stack tight">
            <Head post={post} />
            <Texts texts={post.texts} />
            <Figures figures={post.figures} />
          </li>
        ))}
      </ul>
    </>
  );
}

const Head = ({ post }: { readonly post: Post }) => (
  <div className="row">
    <Badge>{post.kind === 'thread' ? `thread of ${post.tweet_ids.length}` : KINDS[post.kind]}</Badge>
    <span className="muted small">
      {post.posted_at && <TimeAgo at={post.posted_at} />} by <UntrustedText text={shortName(post.actor)} />
      {post.in_reply_to && ` · reply to ${post.in_reply_to}`}
      {post.topic && (
        <>
          {' '}
          · <UntrustedText text={post.topic} />
        </>
      )}
    </span>
  </div>
);

const Texts = ({ texts }: { readonly texts: readonly string[] }) =>
  texts.length === 1 ? (
    <UntrustedText block text={texts[0] ?? ''} />
  ) : (
    <ol className="thread" aria-label={`Thread of ${texts.length}`}>
      {texts.map((text, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a thread are their places
        <li key={index}>
          <UntrustedText block text={text} />
        </li>
      ))}
    </ol>
  );

function Figures({ figures }: { readonly figures: Post['figures'] }) {
  if (!figures) return <p className="muted small">Not measured yet</p>;
  const { impressions, likes, replies, retweets, measured_at } = figures;
  const count = (value: number): string => value.toLocaleString('en');
  return (
    <p className="small">
      {count(likes)} likes · {count(replies)} replies · {count(retweets)} reposts · {count(impressions)}{' '}
      impressions{' '}
      <span className="muted">
        measured <TimeAgo at={measured_at} />
      </span>
    </p>
  );
}

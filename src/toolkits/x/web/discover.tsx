import { type FormEvent, useState } from 'react';
import { Badge, Empty } from '../../../web/ui/badge.tsx';
import { Button } from '../../../web/ui/field.tsx';
import { ErrorNotice } from '../../../web/ui/notice.tsx';
import { useAct } from '../../../web/ui/page-data.ts';
import { TimeAgo } from '../../../web/ui/page-head.tsx';
import { UntrustedText } from '../../../web/ui/untrusted-text.tsx';
import { type Feed, type Found, SIGNALS, type Signal, useView } from './data.ts';
import { ReplyDialog } from './dialogs.tsx';

/** Posts worth an answer, best first, with what makes them so. */
export function Discover({ llm }: { readonly llm: string | null }) {
  const act = useAct();
  const feed = useView('discovery_feed', { limit: 100 }, { topics: ['approvals', 'calls', 'x.changed'] });
  const [query, setQuery] = useState('');
  const [busy, setBusy] = useState(false);
  const [answering, setAnswering] = useState<Found>();
  const search = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    const wanted = query.trim();
    await act('find_reply_opportunities', { min_score: 0, limit: 25, ...(wanted ? { query: wanted } : {}) });
    await feed.refresh();
    setBusy(false);
  };
  return (
    <>
      <form className="row nowrap" onSubmit={(event) => void search(event)}>
        <input
          type="search"
          aria-label="Search X for posts"
          placeholder="Search X (empty: your product keywords)"
          value={query}
          onChange={(event) => setQuery(event.target.value)}
        />
        <Button type="submit" tone="primary" disabled={busy}>
          {busy ? 'Searching…' : 'Search'}
        </Button>
      </form>
      <ErrorNotice error={feed.error} />
      {feed.loading && <p className="muted">Loading…</p>}
      {feed.data?.tweets.length === 0 && (
        <Empty title="No discovered posts yet" icon="search">
          <p>
            Search above, or set <code>product_keywords</code> under <code>[business]</code> in the
            configuration: <code>countersign up</code> then searches automatically.
          </p>
        </Empty>
      )}
      <ul className="plain-list stack">
        {feed.data?.tweets.map((found) => (
          <li key={found.tweet_id} className="card found">
            <div className="stack tight">
              <div className="row">
                <strong>
                  @<UntrustedText text={found.author_username} />
                </strong>
                <span className="muted small">
                  {found.author_followers.toLocaleString('en')} followers · <TimeAgo at={found.created_at} />{' '}
                  · {counted(found.likes, 'like')} · {counted(found.retweets, 'repost')} ·{' '}
                  {found.replies === 1 ? '1 reply' : `${found.replies.toLocaleString('en')} replies`}
                </span>
                {found.replied && <Badge tone="good">replied</Badge>}
              </div>
              <UntrustedText block text={found.text} />
              <div className="row">
                <Button small disabled={found.replied} onClick={() => setAnswering(found)}>
                  Reply
                </Button>
                {found.matched_keyword && (
                  <span className="muted small">
                    found by {found.source}: <UntrustedText text={found.matched_keyword} />
                  </span>
                )}
              </div>
            </div>
            <Score found={found} feed={feed.data as Feed} />
          </li>
        ))}
      </ul>
      {answering && (
        <ReplyDialog
          llm={llm}
          found={answering}
          onClose={() => setAnswering(undefined)}
          onSent={async () => {
            setAnswering(undefined);
            await feed.refresh();
          }}
        />
      )}
    </>
  );
}

function Score({ found, feed }: { readonly found: Found; readonly feed: Feed }) {
  const names = Object.keys(SIGNALS) as Signal[];
  return (
    <div className="score">
      <p>
        <strong>{Math.round(found.score)}</strong> of 100{' '}
        <Badge tone={found.score >= feed.threshold ? 'good' : 'neutral'}>
          {found.score >= feed.threshold ? 'worth a reply' : `below ${feed.threshold}`}
        </Badge>
      </p>
      <ul className="plain-list signals" aria-label="How the score is computed">
        {names.map((name) => (
          <li key={name}>
            <span>{SIGNALS[name]}</span>
            <meter
              min={0}
              max={feed.most[name] || 1}
              value={found.signals[name] ?? 0}
              aria-label={SIGNALS[name]}
            />
            <span className="muted">
              {Math.round(found.signals[name] ?? 0)} of {feed.most[name]}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

const counted = (count: number, noun: string): string =>
  `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;

import { type FormEvent, useState } from 'react';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Empty } from '../../components/empty.tsx';
import { Foreign } from '../../components/foreign.tsx';
import { ErrorNotice } from '../../components/notice.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { useAct, useView } from '../room-data.ts';
import { ReplyDialog } from './reply-dialog.tsx';
import { type Feed, type Found, SIGNALS, type Signal } from './types.ts';

/** Posts worth an answer, best first, with what makes them so. */
export function Discover({ llm }: { readonly llm: string | null }) {
  const act = useAct();
  const feed = useView<Feed>(
    'x',
    'discovery_feed',
    { limit: 100 },
    { topics: ['approvals', 'calls', 'x.changed'] },
  );
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
          placeholder="Search X; empty searches for your product keywords"
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
        <Empty title="Nothing was discovered yet">
          <p>
            Search above, or set <code>product_keywords</code> under <code>[business]</code> in the
            configuration: <code>countersign up</code> then looks by itself.
          </p>
        </Empty>
      )}
      <ul className="plain-list stack">
        {feed.data?.tweets.map((found) => (
          <li key={found.tweet_id} className="card found">
            <div className="stack tight">
              <div className="row">
                <strong>
                  @<Foreign text={found.author_username} />
                </strong>
                <span className="muted small">
                  {found.author_followers.toLocaleString('en')} followers · <TimeAgo at={found.created_at} />{' '}
                  · {found.likes} likes · {found.retweets} reposts · {found.replies} replies
                </span>
                {found.replied && <Badge tone="good">replied</Badge>}
              </div>
              <Foreign block text={found.text} />
              <div className="row">
                <Button small disabled={found.replied} onClick={() => setAnswering(found)}>
                  Reply
                </Button>
                {found.matched_keyword && (
                  <span className="muted small">
                    found by {found.source}: <Foreign text={found.matched_keyword} />
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
      <ul className="plain-list signals" aria-label="What the score is made of">
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

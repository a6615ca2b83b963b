import { Link } from 'wouter';
import { useQuery } from './api.ts';
import { DiffersBadge } from './badge.tsx';
import { Icon } from './icon.tsx';
import { TimeAgo } from './page-head.tsx';
import { Prose } from './prose.tsx';
import { PlacedTitle, UntrustedText } from './untrusted-text.tsx';
import './pending.css';

const SHOWN = 3;

interface Props {
  readonly filter: string;
  /** Only how many: for a page that needs its height. */
  readonly compact?: boolean;
}

/**
 * What waits for the person, on the page it belongs to; decided in the inbox, where all of it is shown. `filter` is that
 * of the inbox: `toolkit=x`. Nothing where nothing waits.
 */
export function Pending({ filter, compact }: Props) {
  const { data } = useQuery(`/inbox?brief=1&state=pending&limit=${SHOWN}&${filter}`, {
    topics: ['approvals'],
  });
  if (!data || data.total === 0) return null;
  const count = data.total === 1 ? '1 pending approval' : `${data.total} pending approvals`;
  return (
    <section className="pending" aria-label={count}>
      <header className="pending-head">
        <Icon name="inbox" small />
        <strong>{count}</strong>
        <Link href={`/?${filter}`}>Open in the inbox</Link>
      </header>
      {compact ? null : (
        <ul className="plain-list">
          {data.items.map(({ id, damaged, differs, summary, environment, gist, requester, created_at }) => (
            <li key={id}>
              <Link href={`/inbox/${id}?${filter}`} className="pending-row">
                <span className="pending-title">
                  {differs ? <DiffersBadge of="approval" /> : null}
                  {damaged ? (
                    <Prose text={summary} />
                  ) : (
                    <PlacedTitle title={summary} environment={environment} />
                  )}
                </span>
                {gist ? (
                  <span className="pending-gist">
                    <UntrustedText text={gist} />
                  </span>
                ) : null}
                {damaged ? null : (
                  <span className="pending-meta">
                    <UntrustedText text={requester.replace(/^agent:/, '')} />, <TimeAgo at={created_at} />
                  </span>
                )}
              </Link>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

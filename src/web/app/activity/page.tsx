import { useState } from 'react';
import { Link, useParams, useSearchParams } from 'wouter';
import type { Call, ListedCall } from '../../../kernel/views/shapes.ts';
import { useQuery } from '../../ui/api.ts';
import { Avatar, DiffersBadge, Empty, Skeleton } from '../../ui/badge.tsx';
import { Button } from '../../ui/field.tsx';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { ErrorNotice } from '../../ui/notice.tsx';
import { OutcomeBadge } from '../../ui/outcome-badge.tsx';
import { Page, TimeAgo } from '../../ui/page-head.tsx';
import { apiPath } from '../../ui/place.ts';
import { PlacedTitle, UntrustedText } from '../../ui/untrusted-text.tsx';
import { iconOf } from '../toolkits.ts';
import { CallPage } from './call.tsx';
import { Filters, queryOf } from './filters.tsx';
import '../styles/activity.css';

const PAGE = 100;

export default function ActivityPage() {
  const { call } = useParams<{ call?: string }>();
  return call ? <CallPage key={call} id={call} /> : <CallList />;
}

function CallList() {
  const [search, setSearch] = useSearchParams();
  const [page, setPage] = useState(0);
  const query = queryOf(search);
  const { data, error } = useQuery(`/activity?limit=${PAGE}&offset=${page * PAGE}${query}`, {
    topics: page === 0 ? ['calls'] : [],
  });
  const run = search.get('run');
  const clear = (): void => setSearch({}, { replace: true });
  return (
    <Page
      title="Activity"
      actions={
        run ? (
          <a
            className="button button-small"
            href={apiPath(`/runs/${encodeURIComponent(run)}/export`)}
            download
          >
            Export this run
          </a>
        ) : null
      }
    >
      <Filters
        search={search}
        onChange={(next) => {
          setPage(0);
          setSearch(next, { replace: true });
        }}
      />
      <ErrorNotice error={error} />
      {data && data.calls.length === 0 ? (
        query === '' ? (
          <Empty title="No calls yet" icon="activity">
            <p>
              Every call by every agent appears here in words, with its story and the proof that the log has
              it.
            </p>
            <Link href="/start" className="button button-primary">
              Connect an agent
            </Link>
          </Empty>
        ) : (
          <Empty title="No matching calls" icon="search">
            <p>All words must occur. What was erased, and what is private, cannot be found.</p>
            <Button small onClick={clear}>
              Clear filters
            </Button>
          </Empty>
        )
      ) : data ? (
        <Days calls={data.calls} />
      ) : error ? null : (
        <Skeleton lines={10} />
      )}
      {page > 0 || data?.calls.length === PAGE ? (
        <div className="row">
          {page > 0 ? (
            <Button small onClick={() => setPage(page - 1)}>
              Newer
            </Button>
          ) : null}
          {data?.calls.length === PAGE ? (
            <Button small onClick={() => setPage(page + 1)}>
              Older
            </Button>
          ) : null}
        </div>
      ) : null}
    </Page>
  );
}

const dayOf = (at: string): string =>
  new Date(at).toLocaleDateString('en-GB', { weekday: 'long', day: 'numeric', month: 'long' });

/** The calls of each day under its name. */
function Days({ calls }: { readonly calls: readonly ListedCall[] }) {
  const days = new Map<string, ListedCall[]>();
  for (const call of calls) {
    const day = dayOf(call.at);
    days.set(day, [...(days.get(day) ?? []), call]);
  }
  const today = dayOf(new Date().toISOString());
  return (
    <div>
      {[...days].map(([day, some]) => (
        <section key={day} aria-label={day}>
          <h2 className="day-head">{day === today ? 'Today' : day}</h2>
          <ul className="call-list">
            {some.map((call) => (
              <Row key={call.call_id} call={call} />
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

/** The icon of its kind, as in the inbox. */
const kindOf = ({ effect, toolkit }: Call): IconName =>
  effect === 'destroy' ? 'trash' : effect === 'decide' ? 'check' : (iconOf(toolkit) ?? 'server');

function Row({ call }: { readonly call: ListedCall }) {
  const who = call.principal.replace(/^(agent|person|system):/u, '');
  return (
    <li className="call-row">
      <span
        className={`kind${call.effect === 'destroy' ? ' kind-danger' : call.environment ? ` kind-${call.environment}` : ''}`}
      >
        <Icon name={kindOf(call)} />
      </span>
      <div className="stack-tight">
        <div className="clip">
          <Link className="call-link" href={`/activity/${call.call_id}`} title={call.tool}>
            <PlacedTitle title={call.title} environment={call.environment} />
          </Link>
        </div>
        <div className="call-line">
          {call.differs ? <DiffersBadge of="call" /> : null}
          <Avatar name={call.principal} />
          <span>{who}</span>
          {call.gist ? (
            <span className="clip muted">
              <UntrustedText text={call.gist} />
            </span>
          ) : null}
        </div>
      </div>
      <OutcomeBadge status={call.status} approval={call.approval_state} />
      <span className="call-when">
        <TimeAgo at={call.at} />
      </span>
    </li>
  );
}

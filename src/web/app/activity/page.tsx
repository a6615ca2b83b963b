import { useState } from 'react';
import { Link, useParams, useSearchParams } from 'wouter';
import { StateBadge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { Empty } from '../components/empty.tsx';
import { ErrorNotice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { type Column, Table } from '../components/table.tsx';
import { TimeAgo } from '../components/time-ago.tsx';
import { ToolName } from '../components/tool-name.tsx';
import { useQuery } from '../lib/api.ts';
import { CallPage } from './call.tsx';
import { Filters, queryOf } from './filters.tsx';
import type { Call } from './types.ts';
import '../styles/activity.css';

const PAGE = 100;

export default function ActivityPage() {
  const { call } = useParams<{ call?: string }>();
  return call ? <CallPage id={call} /> : <CallList />;
}

const COLUMNS: readonly Column<Call>[] = [
  { key: 'at', label: 'When', cell: ({ at }) => <TimeAgo at={at} /> },
  {
    key: 'status',
    label: 'Outcome',
    cell: ({ status, code }) => (
      <span className="row">
        <StateBadge state={status} />
        {code ? (
          <span className="muted small">
            <ToolName name={code} />
          </span>
        ) : null}
      </span>
    ),
  },
  {
    key: 'tool',
    label: 'Tool',
    cell: ({ call_id, tool, principal }) => (
      <>
        <Link className="call-link mono" href={`/activity/${call_id}`}>
          <ToolName name={tool} />
        </Link>
        <span className="narrow-only muted small">{principal}</span>
      </>
    ),
  },
  { key: 'principal', label: 'Who', minor: true, cell: ({ principal }) => principal },
  { key: 'effect', label: 'Effect', minor: true, cell: ({ effect }) => effect },
  { key: 'transport', label: 'By', minor: true, cell: ({ transport }) => transport },
  {
    key: 'ms',
    label: 'ms',
    numeric: true,
    minor: true,
    cell: ({ latency_ms }) => Math.round(latency_ms).toLocaleString('en'),
  },
];

function CallList() {
  const [search, setSearch] = useSearchParams();
  const [page, setPage] = useState(0);
  const query = queryOf(search);
  const { data, error } = useQuery<{ calls: readonly Call[] }>(
    `/activity?limit=${PAGE}&offset=${page * PAGE}${query}`,
    { topics: page === 0 ? ['calls'] : [] },
  );
  const run = search.get('run');
  const filtered = query !== '';
  return (
    <Page
      title="Activity"
      wide
      actions={
        run ? (
          <a className="button button-small" href={`/api/runs/${encodeURIComponent(run)}/export`} download>
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
        <Empty title={filtered ? 'No call fits these filters' : 'No calls yet'}>
          {filtered ? (
            <Button small onClick={() => setSearch({}, { replace: true })}>
              Clear the filters
            </Button>
          ) : (
            <p>
              Every call of every agent is listed here, with evidence.{' '}
              <Link href="/start">Connect an agent</Link>
            </p>
          )}
        </Empty>
      ) : data ? (
        <Table label="Calls" columns={COLUMNS} rows={data.calls} rowKey={({ call_id }) => call_id} />
      ) : error ? null : (
        <p className="muted">Loading…</p>
      )}
      <div className="row">
        {page > 0 ? (
          <Button small onClick={() => setPage(page - 1)}>
            Newer
          </Button>
        ) : null}
        {data && data.calls.length === PAGE ? (
          <Button small onClick={() => setPage(page + 1)}>
            Older
          </Button>
        ) : null}
      </div>
    </Page>
  );
}

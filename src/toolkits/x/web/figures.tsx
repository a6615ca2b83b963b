import { useState } from 'react';
import type { ViewData } from '../../../contract/view.ts';
import { lookup } from '../../../lib/lookup.ts';
import { dollars, plain } from '../../../web/ui/chart.tsx';
import { ErrorNotice } from '../../../web/ui/notice.tsx';
import { TimeAgo } from '../../../web/ui/page-head.tsx';
import { Table } from '../../../web/ui/table.tsx';
import type { views } from '../views.ts';
import XCharts from './insights.tsx';
import '../../../web/ui/chart.css';
import { useView } from './data.ts';

type Usage = ViewData<typeof views.usage>;
type Stats = ViewData<typeof views.stats>;

const ACTIONS: Readonly<Record<string, string>> = { tweet: 'Posts', reply: 'Replies', thread: 'Threads' };
const LIVE = { topics: ['calls', 'approvals'] } as const;

/** Followers, posts, limits and what X charges. */
export function Figures() {
  const [days, setDays] = useState(30);
  const stats = useView('stats', { days }, LIVE);
  const usage = useView('usage', { days }, LIVE);
  const { data } = stats;
  return (
    <>
      <label className="row nowrap small">
        Days
        <select className="fit" value={days} onChange={(event) => setDays(Number(event.target.value))}>
          {[7, 30, 90].map((count) => (
            <option key={count} value={count}>
              {count}
            </option>
          ))}
        </select>
      </label>
      <ErrorNotice error={stats.error ?? usage.error} />
      <dl className="numbers">
        <Tile name="Followers" value={data?.followers.current} more={changeOf(data)} />
        <Tile
          name="Posts"
          value={data && data.tweets + data.threads + data.quotes}
          more={scoreOf(data?.tweet_performance)}
        />
        <Tile name="Replies" value={data?.replies} more={scoreOf(data?.reply_performance)} />
        <Tile name="Discovered" value={data?.discovered} />
        <Tile name="Pending approvals" value={data?.pending_approvals} />
        <Tile
          name="Requests to X"
          value={usage.data?.x.calls}
          more={usage.data && dollars(usage.data.x.cost_usd)}
        />
      </dl>
      <h2 className="sr-only">Over time</h2>
      <XCharts days={days} />
      {usage.data && <Limits usage={usage.data} />}
    </>
  );
}

function Limits({ usage }: { readonly usage: Usage }) {
  return (
    <div className="charts">
      <section className="stack" aria-labelledby="limits">
        <h2 id="limits">Limits</h2>
        <Table
          label="Limits"
          rows={usage.limits}
          rowKey={({ action }) => action}
          columns={[
            { key: 'action', label: 'Action', cell: ({ action }) => lookup(ACTIONS, action) ?? action },
            { key: 'used', label: 'Used', numeric: true, cell: ({ used, max }) => `${used} of ${max}` },
            {
              key: 'until',
              label: 'Resets',
              cell: ({ resetsAt }) => <TimeAgo at={resetsAt} />,
            },
          ]}
        />
      </section>
      <section className="stack" aria-labelledby="endpoints">
        <h2 id="endpoints">Use of the X API</h2>
        {usage.x.endpoints.length === 0 ? (
          <p className="muted">No calls yet.</p>
        ) : (
          <Table
            label="Use of the X API"
            rows={usage.x.endpoints}
            rowKey={({ method, endpoint }) => `${method} ${endpoint}`}
            columns={[
              { key: 'endpoint', label: 'Endpoint', cell: ({ method, endpoint }) => `${method} ${endpoint}` },
              { key: 'calls', label: 'Calls', numeric: true, cell: ({ calls }) => calls },
              { key: 'cost', label: 'Cost', numeric: true, cell: ({ cost_usd }) => dollars(cost_usd) },
            ]}
          />
        )}
      </section>
    </div>
  );
}

const changeOf = (stats: Stats | undefined): string | undefined => {
  const change = stats?.followers.change;
  return change === null || change === undefined ? undefined : `${change >= 0 ? '+' : ''}${change}`;
};

const scoreOf = (performance: Stats['tweet_performance'] | undefined): string | undefined =>
  performance?.avg_score == null ? undefined : `average score ${Math.round(performance.avg_score)}`;

interface TileProps {
  readonly name: string;
  readonly value: number | null | undefined;
  readonly more?: string | undefined;
}

const Tile = ({ name, value, more }: TileProps) => (
  <div className="number">
    <dt>{name}</dt>
    <dd>
      {value === null || value === undefined ? '–' : plain(value)}{' '}
      {more && <span className="number-more">{more}</span>}
    </dd>
  </div>
);

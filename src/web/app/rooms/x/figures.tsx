import { useState } from 'react';
import { Foreign } from '../../components/foreign.tsx';
import { ErrorNotice } from '../../components/notice.tsx';
import { Table } from '../../components/table.tsx';
import { useView } from '../room-data.ts';
import { Trend } from './trend.tsx';

interface Stats {
  readonly tweets: number;
  readonly replies: number;
  readonly threads: number;
  readonly discovered: number;
  readonly pending_approvals: number;
  readonly followers: { readonly current: number | null; readonly change: number | null };
}
interface Analytics {
  readonly followers: readonly { readonly at: string; readonly followers: number }[];
  readonly posts_per_day: readonly ({ readonly day: string } & Readonly<Record<string, number | string>>)[];
  readonly best: readonly {
    readonly tweet_id: string;
    readonly text: string;
    readonly impressions: number | null;
    readonly likes: number | null;
    readonly score: number | null;
  }[];
}
interface Usage {
  readonly x: {
    readonly calls: number;
    readonly failures: number;
    readonly cost_usd: number;
    readonly daily: readonly { readonly day: string; readonly calls: number; readonly cost_usd: number }[];
    readonly endpoints: readonly {
      readonly endpoint: string;
      readonly method: string;
      readonly calls: number;
      readonly cost_usd: number;
    }[];
  };
  readonly limits: readonly {
    readonly action: string;
    readonly used: number;
    readonly max: number;
    readonly resetsAt: string;
  }[];
}

const dollars = (value: number) => `$${value.toFixed(value < 1 ? 3 : 2)}`;
const seconds = (text: string) => Date.parse(text) / 1000;

/** Followers, posts, limits and what X charges. */
export function Figures() {
  const [days, setDays] = useState(30);
  const stats = useView<Stats>('x', 'stats', { days });
  const analytics = useView<Analytics>('x', 'analytics', { days });
  const usage = useView<Usage>('x', 'usage', { days });
  const posts = analytics.data?.posts_per_day.map(({ day, ...kinds }) => ({
    at: seconds(day),
    value: Object.values(kinds).reduce<number>((sum, count) => sum + Number(count), 0),
  }));
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
      <ErrorNotice error={stats.error ?? analytics.error ?? usage.error} />
      <dl className="tiles">
        <Tile name="Followers" value={stats.data?.followers.current} more={changeOf(stats.data)} />
        <Tile name="Posts" value={stats.data && stats.data.tweets + stats.data.threads} />
        <Tile name="Replies" value={stats.data?.replies} />
        <Tile name="Discovered" value={stats.data?.discovered} />
        <Tile name="Waiting for you" value={stats.data?.pending_approvals} />
        <Tile
          name="X API calls"
          value={usage.data?.x.calls}
          more={usage.data && dollars(usage.data.x.cost_usd)}
        />
      </dl>
      <div className="trends">
        <Trend
          days={days}
          title="Followers"
          points={analytics.data?.followers.map(({ at, followers }) => ({
            at: seconds(at),
            value: followers,
          }))}
        />
        <Trend days={days} title="Posts and replies a day" bars points={posts} />
        <Trend
          days={days}
          title="Cost of the X API a day, US dollars"
          bars
          points={usage.data?.x.daily.map(({ day, cost_usd }) => ({ at: seconds(day), value: cost_usd }))}
        />
      </div>
      {usage.data && <Limits usage={usage.data} />}
      {analytics.data && analytics.data.best.length > 0 && (
        <section className="stack" aria-labelledby="best">
          <h2 id="best">Best posts</h2>
          <Table
            label="Best posts"
            rows={analytics.data.best}
            rowKey={({ tweet_id }) => tweet_id}
            columns={[
              { key: 'text', label: 'Post', cell: ({ text }) => <Foreign text={text} /> },
              { key: 'seen', label: 'Seen', numeric: true, cell: ({ impressions }) => impressions ?? '–' },
              { key: 'likes', label: 'Likes', numeric: true, cell: ({ likes }) => likes ?? '–' },
              { key: 'score', label: 'Score', numeric: true, cell: ({ score }) => score?.toFixed(0) ?? '–' },
            ]}
          />
        </section>
      )}
    </>
  );
}

function Limits({ usage }: { readonly usage: Usage }) {
  return (
    <div className="trends">
      <section className="stack" aria-labelledby="limits">
        <h2 id="limits">Limits</h2>
        <Table
          label="Limits"
          rows={usage.limits}
          rowKey={({ action }) => action}
          columns={[
            { key: 'action', label: 'Action', cell: ({ action }) => action },
            { key: 'used', label: 'Used', numeric: true, cell: ({ used, max }) => `${used} of ${max}` },
            {
              key: 'until',
              label: 'Starts anew',
              cell: ({ resetsAt }) => new Date(resetsAt).toLocaleString(),
            },
          ]}
        />
      </section>
      <section className="stack" aria-labelledby="endpoints">
        <h2 id="endpoints">Use of the X API</h2>
        {usage.x.endpoints.length === 0 ? (
          <p className="muted">No call was made yet.</p>
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

interface TileProps {
  readonly name: string;
  readonly value: number | null | undefined;
  readonly more?: string | undefined;
}

function Tile({ name, value, more }: TileProps) {
  return (
    <div className="tile">
      <dt>{name}</dt>
      <dd>
        {value?.toLocaleString('en') ?? '–'} {more && <span className="muted small">{more}</span>}
      </dd>
    </div>
  );
}

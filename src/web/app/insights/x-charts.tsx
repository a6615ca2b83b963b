import { useMemo } from 'react';
import { Foreign } from '../components/foreign.tsx';
import { ErrorNotice } from '../components/notice.tsx';
import { Table } from '../components/table.tsx';
import { roomPath, useQuery } from '../lib/api.ts';
import { Chart, type Series } from './chart.tsx';
import { dollars } from './figures.ts';

interface Analytics {
  readonly followers: readonly { readonly at: string; readonly followers: number }[];
  readonly posts_per_day: readonly ({ readonly day: string } & Readonly<Record<string, number | string>>)[];
  readonly performance_per_day: readonly {
    readonly day: string;
    readonly replies: number | null;
    readonly posts: number | null;
  }[];
  readonly best: readonly {
    readonly tweet_id: string;
    readonly kind: string;
    readonly text: string;
    readonly impressions: number | null;
    readonly likes: number | null;
    readonly replies: number | null;
    readonly score: number | null;
  }[];
}

interface Usage {
  readonly x: {
    readonly daily: readonly { readonly day: string; readonly calls: number; readonly cost_usd: number }[];
  };
}

const KINDS = [
  ['tweet', 'Posts', 'accent'],
  ['reply', 'Replies', 'good'],
  ['thread', 'Threads', 'warn'],
  ['quote', 'Quotes', 'soft'],
] as const;
const KIND_NAMES: Readonly<Record<string, string>> = { tweet: 'post' };
const dayTime = (day: string): number => Date.parse(`${day}T00:00:00Z`);

/** Followers, posts, how replies did, and what the API cost. */
export function XCharts({ days }: { readonly days: number }) {
  const analytics = useQuery<{ data: Analytics }>(roomPath('x', 'analytics', { days }), {
    topics: ['calls'],
  });
  const usage = useQuery<{ data: Usage }>(roomPath('x', 'usage', { days }), { topics: ['calls'] });
  const shown = useMemo(() => analytics.data && chartsOf(analytics.data.data), [analytics.data]);
  const spent = useMemo(() => usage.data && spending(usage.data.data), [usage.data]);
  const best = analytics.data?.data.best ?? [];
  return (
    <>
      <ErrorNotice error={analytics.error ?? usage.error} />
      <div className="charts">
        {shown && (
          <>
            <Chart title="Followers" close {...shown.followers} />
            <Chart title="Posts a day" byDay stacked {...shown.posts} />
            <Chart title="Reply performance (score)" byDay {...shown.performance} />
          </>
        )}
        {spent && (
          <>
            <Chart title="X API cost a day" byDay stacked format={dollars} {...spent.cost} />
            <Chart title="X API requests a day" byDay stacked {...spent.requests} />
          </>
        )}
      </div>
      {best.length > 0 && (
        <section className="stack" aria-labelledby="best-posts">
          <h3 id="best-posts">Best posts and replies</h3>
          <Table
            label="Best posts and replies"
            rows={best}
            rowKey={({ tweet_id }) => tweet_id}
            columns={[
              { key: 'text', label: 'Text', cell: ({ text }) => <Foreign text={text} /> },
              { key: 'kind', label: 'Kind', minor: true, cell: ({ kind }) => KIND_NAMES[kind] ?? kind },
              { key: 'seen', label: 'Seen', numeric: true, cell: ({ impressions }) => impressions ?? '–' },
              { key: 'likes', label: 'Likes', numeric: true, cell: ({ likes }) => likes ?? '–' },
              {
                key: 'replies',
                label: 'Replies',
                numeric: true,
                minor: true,
                cell: ({ replies }) => replies ?? '–',
              },
              {
                key: 'score',
                label: 'Score',
                numeric: true,
                cell: ({ score }) => (score === null ? '–' : Math.round(score)),
              },
            ]}
          />
        </section>
      )}
    </>
  );
}

interface Drawn {
  readonly at: readonly number[];
  readonly series: readonly Series[];
}

function chartsOf({ followers, posts_per_day, performance_per_day }: Analytics) {
  return {
    followers: {
      at: followers.map(({ at }) => Date.parse(at)),
      series: [{ label: 'Followers', tone: 'accent', values: followers.map((row) => row.followers) }],
    },
    posts: {
      at: posts_per_day.map(({ day }) => dayTime(day)),
      series: KINDS.map(([kind, label, tone]) => ({
        label,
        tone,
        values: posts_per_day.map((row) => Number(row[kind] ?? 0)),
      })),
    },
    performance: {
      at: performance_per_day.map(({ day }) => dayTime(day)),
      series: [
        { label: 'Replies', tone: 'good', values: performance_per_day.map(({ replies }) => replies) },
        { label: 'Posts', tone: 'accent', values: performance_per_day.map(({ posts }) => posts) },
      ],
    },
  } satisfies Readonly<Record<string, Drawn>>;
}

function spending({ x: { daily } }: Usage) {
  const at = daily.map(({ day }) => dayTime(day));
  return {
    cost: {
      at,
      series: [{ label: 'US dollars', tone: 'warn', values: daily.map(({ cost_usd }) => cost_usd) }],
    },
    requests: {
      at,
      series: [{ label: 'Requests', tone: 'accent', values: daily.map(({ calls }) => calls) }],
    },
  } satisfies Readonly<Record<string, Drawn>>;
}

import { useMemo } from 'react';
import { Foreign } from '../components/foreign.tsx';
import { ErrorNotice } from '../components/notice.tsx';
import { Table } from '../components/table.tsx';
import { roomPath, useQuery } from '../lib/api.ts';
import { Chart } from './chart.tsx';

interface Analytics {
  readonly followers: readonly { readonly at: string; readonly followers: number }[];
  readonly posts_per_day: readonly ({ readonly day: string } & Readonly<Record<string, number | string>>)[];
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
    readonly calls: number;
    readonly cost_usd: number;
    readonly daily: readonly { readonly day: string; readonly calls: number; readonly cost_usd: number }[];
  };
}

const dayTime = (day: string): number => Date.parse(`${day}T00:00:00Z`);
const KINDS = [
  ['tweet', 'Posts', 'accent'],
  ['reply', 'Replies', 'good'],
  ['thread', 'Threads', 'warn'],
  ['quote', 'Quotes', 'soft'],
] as const;

/** Followers, posts, how replies did, and what the API cost. */
export function XInsights({ days }: { readonly days: number }) {
  const analytics = useQuery<{ data: Analytics }>(roomPath('x', 'analytics', { days }));
  const usage = useQuery<{ data: Usage }>(roomPath('x', 'usage', { days }));
  const data = analytics.data?.data;
  const cost = usage.data?.data.x;
  const followers = useMemo(
    () => ({
      at: data?.followers.map(({ at }) => Date.parse(at)) ?? [],
      series: [
        {
          label: 'Followers',
          tone: 'accent' as const,
          values: data?.followers.map((row) => row.followers) ?? [],
        },
      ],
    }),
    [data],
  );
  const posts = useMemo(
    () => ({
      at: data?.posts_per_day.map(({ day }) => dayTime(day)) ?? [],
      series: KINDS.map(([kind, label, tone]) => ({
        label,
        tone,
        values: data?.posts_per_day.map((row) => Number(row[kind] ?? 0)) ?? [],
      })),
    }),
    [data],
  );
  const spent = useMemo(
    () => ({
      at: cost?.daily.map(({ day }) => dayTime(day)) ?? [],
      series: [
        { label: 'Requests', tone: 'accent' as const, values: cost?.daily.map(({ calls }) => calls) ?? [] },
        { label: 'US dollars', tone: 'warn' as const, values: cost?.daily.map((row) => row.cost_usd) ?? [] },
      ],
    }),
    [cost],
  );
  return (
    <>
      <h2>X</h2>
      <ErrorNotice error={analytics.error ?? usage.error} />
      <div className="charts">
        <Chart title="Followers" at={followers.at} series={followers.series} />
        <Chart title="Posts a day" at={posts.at} series={posts.series} />
        <Chart title="Use of the X API" at={spent.at} series={spent.series} />
      </div>
      {data && data.best.length > 0 ? (
        <Table
          label="Best posts and replies"
          rows={data.best}
          rowKey={({ tweet_id }) => tweet_id}
          columns={[
            { key: 'text', label: 'Best posts and replies', cell: ({ text }) => <Foreign text={text} /> },
            { key: 'kind', label: 'Kind', minor: true, cell: ({ kind }) => kind },
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
      ) : null}
    </>
  );
}

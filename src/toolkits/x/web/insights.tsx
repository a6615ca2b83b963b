import { useMemo } from 'react';
import type { ViewData } from '../../../contract/view.ts';
import { lookup } from '../../../lib/lookup.ts';
import { Chart, dollars, type Series } from '../../../web/ui/chart.tsx';
import { ErrorNotice } from '../../../web/ui/notice.tsx';
import { Table } from '../../../web/ui/table.tsx';
import { UntrustedText } from '../../../web/ui/untrusted-text.tsx';
import type { views } from '../views.ts';
import { useView } from './data.ts';

type Analytics = ViewData<typeof views.analytics>;
type Usage = ViewData<typeof views.usage>;

const KINDS = [
  ['tweet', 'Posts', 'accent'],
  ['reply', 'Replies', 'good'],
  ['thread', 'Threads', 'warn'],
  ['quote', 'Quotes', 'soft'],
] as const;
const KIND_NAMES: Readonly<Record<string, string>> = { tweet: 'post' };
const dayTime = (day: string): number => Date.parse(`${day}T00:00:00Z`);

/** Followers, posts, how replies did, and what the API cost. */
export default function XCharts({ days }: { readonly days: number }) {
  const analytics = useView('analytics', { days }, { topics: ['calls'] });
  const usage = useView('usage', { days }, { topics: ['calls'] });
  const shown = useMemo(() => analytics.data && chartsOf(analytics.data), [analytics.data]);
  const spent = useMemo(() => usage.data && spending(usage.data), [usage.data]);
  const best = analytics.data?.best ?? [];
  return (
    <>
      <ErrorNotice error={analytics.error ?? usage.error} />
      <div className="charts">
        {shown && (
          <>
            <Chart title="Followers" close {...shown.followers} />
            <Chart title="Posts per day" byDay stacked {...shown.posts} />
            <Chart title="Reply performance (score)" byDay {...shown.performance} />
          </>
        )}
        {spent && (
          <>
            <Chart title="X API cost per day" byDay stacked format={dollars} {...spent.cost} />
            <Chart title="X API requests per day" byDay stacked {...spent.requests} />
          </>
        )}
      </div>
      {best.length > 0 && (
        <section className="stack" aria-labelledby="best-posts">
          <h3 id="best-posts">Best posts and replies</h3>
          <Table
            label="Best posts and replies"
            rows={best}
            rowKey={({ tweet_id, text }) => tweet_id ?? text}
            columns={[
              { key: 'text', label: 'Text', cell: ({ text }) => <UntrustedText text={text} /> },
              {
                key: 'kind',
                label: 'Kind',
                minor: true,
                cell: ({ kind }) => lookup(KIND_NAMES, kind) ?? kind,
              },
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
        values: posts_per_day.map((row) => row[kind] ?? 0),
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

import { Suspense, useMemo, useState } from 'react';
import { Link } from 'wouter';
import type { InsightsData } from '../../../kernel/views/shapes.ts';
import { useQuery } from '../../ui/api.ts';
import { Empty, ToolName } from '../../ui/badge.tsx';
import { Chart, milliseconds } from '../../ui/chart.tsx';
import { ErrorNotice } from '../../ui/notice.tsx';
import { Page, TimeAgo } from '../../ui/page-head.tsx';
import { useSession } from '../../ui/session.ts';
import { Table } from '../../ui/table.tsx';
import { insights } from '../toolkits.ts';
import '../../ui/chart.css';

const SPANS = [
  [1, 'Day'],
  [7, 'Week'],
  [30, '30 days'],
  [90, '90 days'],
] as const;

const timeOf = (bucket: string): number =>
  Date.parse(bucket.length === 13 ? `${bucket}:00:00Z` : `${bucket}T00:00:00Z`);

/** Calls, errors, latency and approvals over time. */
export default function InsightsPage() {
  const [days, setDays] = useState<number>(7);
  const { session } = useSession();
  const [tool, setTool] = useState('');
  const only = tool === '' ? '' : `&tool=${encodeURIComponent(tool)}`;
  const { data, error } = useQuery(`/insights?days=${days}${only}`, {
    topics: ['calls', 'approvals'],
  });
  return (
    <Page
      title="Insights"
      wide
      actions={
        <fieldset className="segments">
          <legend className="sr-only">Time</legend>
          {SPANS.map(([value, label]) => (
            <label key={value} className={value === days ? 'segment segment-on' : 'segment'}>
              <input
                type="radio"
                name="days"
                className="sr-only"
                checked={value === days}
                onChange={() => setDays(value)}
              />
              {label}
            </label>
          ))}
        </fieldset>
      }
    >
      <ErrorNotice error={error} />
      {data && data.tools.length === 0 ? (
        <Empty title="No calls in this period" icon="insights">
          <p>
            When an agent calls a tool, its numbers appear here. <Link href="/start">Connect an agent</Link>
          </p>
        </Empty>
      ) : null}
      {data && data.tools.length > 0 ? <Overview data={data} tool={tool} onTool={setTool} /> : null}
      {session.toolkits.map(({ id, title }) => {
        const Charts = insights.get(id);
        return Charts ? (
          <section key={id} className="stack" aria-labelledby={`${id}-figures`}>
            <h2 id={`${id}-figures`}>{title}</h2>
            <Suspense fallback={<p className="muted">Loading…</p>}>
              <Charts days={days} />
            </Suspense>
          </section>
        ) : null;
      })}
    </Page>
  );
}

interface OverviewProps {
  readonly data: InsightsData;
  /** The tool the charts are about; empty: all. */
  readonly tool: string;
  onTool(tool: string): void;
}

function Overview({ data, tool, onTool }: OverviewProps) {
  const { at, calls, latency } = useMemo(() => callSeries(data), [data]);
  const approvals = useMemo(() => approvalSeries(data), [data]);
  const tools = useMemo(() => [...data.tools].sort((a, b) => b.totalCalls - a.totalCalls), [data]);
  const byDay = data.bucket === 'day';
  const total = data.series.reduce((sum, row) => sum + row.calls, 0);
  const failed = data.series.reduce((sum, row) => sum + row.errors, 0);
  const waited = data.approvals.reduce((sum, row) => sum + row.count, 0);
  return (
    <>
      <dl className="numbers">
        <Figure name="Calls" value={total} />
        <Figure name="Errors and refusals" value={failed} />
        <Figure name="Required approval" value={waited} />
        <Figure name="Tools used" value={data.tools.length} />
      </dl>
      <h2 className="sr-only">Over time</h2>
      <label className="row small">
        Charts of
        <select className="fit" value={tool} onChange={(event) => onTool(event.target.value)}>
          <option value="">all tools</option>
          {data.tools.map((each) => (
            <option key={each.tool}>{each.tool}</option>
          ))}
        </select>
      </label>
      <div className="charts">
        <Chart title="Calls and errors" at={at} series={calls} byDay={byDay} />
        <Chart title="Latency" at={at} series={latency} byDay={byDay} format={milliseconds} />
        <Chart title="Approvals" at={approvals.at} series={approvals.series} byDay={byDay} stacked={byDay} />
      </div>
      <h2>By tool</h2>
      <Table
        label="By tool"
        rows={tools}
        rowKey={({ tool }) => tool}
        columns={[
          {
            key: 'tool',
            label: 'Tool',
            cell: ({ tool }) => (
              <Link className="mono" href={`/activity?tool=${encodeURIComponent(tool)}`}>
                <ToolName name={tool} />
              </Link>
            ),
          },
          { key: 'calls', label: 'Calls', numeric: true, cell: ({ totalCalls }) => totalCalls },
          { key: 'failed', label: 'Failed', numeric: true, cell: ({ failureCount }) => failureCount },
          { key: 'p50', label: 'p50 ms', numeric: true, minor: true, cell: ({ p50Ms }) => whole(p50Ms) },
          { key: 'p95', label: 'p95 ms', numeric: true, cell: ({ p95Ms }) => whole(p95Ms) },
          { key: 'max', label: 'max ms', numeric: true, minor: true, cell: ({ maxMs }) => whole(maxMs) },
        ]}
      />
      {data.errors.length > 0 ? (
        <>
          <h2>Errors</h2>
          <Table
            label="Errors"
            rows={data.errors}
            rowKey={({ tool, code }) => `${tool} ${code}`}
            columns={[
              {
                key: 'tool',
                label: 'Tool',
                cell: ({ tool }) => (
                  <span className="mono">
                    <ToolName name={tool} />
                  </span>
                ),
              },
              {
                key: 'code',
                label: 'Code',
                cell: ({ code }) => (
                  <code>
                    <ToolName name={code} />
                  </code>
                ),
              },
              { key: 'count', label: 'Count', numeric: true, cell: ({ count }) => count },
              { key: 'last', label: 'Last', cell: ({ lastAt }) => <TimeAgo at={lastAt} /> },
            ]}
          />
        </>
      ) : null}
    </>
  );
}

const Figure = ({ name, value }: { readonly name: string; readonly value: number }) => (
  <div className="number">
    <dt>{name}</dt>
    <dd>{value.toLocaleString('en')}</dd>
  </div>
);

const GROUPS = [
  { label: 'Approved', tone: 'good', states: ['approved', 'executing', 'done', 'failed', 'indeterminate'] },
  { label: 'Rejected', tone: 'bad', states: ['rejected'] },
  { label: 'Pending', tone: 'accent', states: ['pending'] },
  { label: 'Expired or withdrawn', tone: 'soft', states: ['expired', 'withdrawn'] },
] as const;

const BUCKET_MS = { hour: 3_600_000, day: 86_400_000 } as const;

/** Every hour or day of the time looked at, so that quiet ones show as quiet. */
function bucketsOf({ from, bucket }: InsightsData): string[] {
  const length = bucket === 'hour' ? 13 : 10;
  const names: string[] = [];
  for (let time = Date.parse(from); time <= Date.now(); time += BUCKET_MS[bucket])
    names.push(new Date(time).toISOString().slice(0, length));
  const last = new Date().toISOString().slice(0, length);
  return names.at(-1) === last ? names : [...names, last];
}

function callSeries(data: InsightsData) {
  const buckets = bucketsOf(data);
  const rows = buckets.map((bucket) => data.series.find(({ at }) => at === bucket));
  return {
    at: buckets.map(timeOf),
    calls: [
      { label: 'Calls', tone: 'accent' as const, values: rows.map((row) => row?.calls ?? 0) },
      { label: 'Errors', tone: 'bad' as const, values: rows.map((row) => row?.errors ?? 0) },
    ],
    latency: [
      { label: 'Average', tone: 'accent' as const, values: rows.map((row) => row?.latency_ms ?? null) },
    ],
  };
}

function approvalSeries(data: InsightsData) {
  const { approvals } = data;
  const buckets = bucketsOf(data);
  return {
    at: buckets.map(timeOf),
    series: GROUPS.map(({ label, tone, states }) => ({
      label,
      tone,
      values: buckets.map((bucket) =>
        approvals
          .filter(({ at, state }) => at === bucket && (states as readonly string[]).includes(state))
          .reduce((sum, { count }) => sum + count, 0),
      ),
    })),
  };
}

const whole = (value: number): string => Math.round(value).toLocaleString('en');

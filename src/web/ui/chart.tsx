import 'uplot/dist/uPlot.min.css';
import { useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import { Table } from './table.tsx';

const readScheme = (): string =>
  `${document.documentElement.dataset.theme}${matchMedia('(prefers-color-scheme: dark)').matches}`;

/** Changes whenever the colours of the page do: a canvas does not follow them automatically. */
function useColourScheme(): string {
  const [scheme, setScheme] = useState(readScheme);
  useEffect(() => {
    const update = (): void => setScheme(readScheme());
    const query = matchMedia('(prefers-color-scheme: dark)');
    query.addEventListener('change', update);
    const watch = new MutationObserver(update);
    watch.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      query.removeEventListener('change', update);
      watch.disconnect();
    };
  }, []);
  return scheme;
}

export const plain = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 1 });

export const milliseconds = (value: number): string => `${plain(value)} ms`;

/** Single calls cost parts of a cent. */
export const dollars = (value: number): string =>
  `$${value.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: Math.abs(value) < 1 ? 3 : 2 })}`;

export interface Series {
  readonly label: string;
  readonly tone: 'accent' | 'bad' | 'good' | 'warn' | 'soft';
  readonly values: readonly (number | null)[];
}

interface Props {
  readonly title: string;
  /** Times of the points, as milliseconds. */
  readonly at: readonly number[];
  readonly series: readonly Series[];
  /** How a value is written. */
  readonly format?: (value: number) => string;
  /** Bars that stand on each other instead of lines, for things that add up. */
  readonly stacked?: boolean;
  /** Points are whole days of universal time instead of moments. */
  readonly byDay?: boolean;
  /** Shows the range of the values instead of starting at zero. */
  readonly close?: boolean;
}

interface Point {
  readonly time: number;
  readonly index: number;
}

const HEIGHT = 220;

/** A chart that says its values under the pointer, and the same numbers as a table for readers who prefer one. */
export function Chart(props: Props) {
  const { title, at, series, format = plain, byDay = false } = props;
  const [asTable, setAsTable] = useState(false);
  return (
    <section className="card" aria-label={title}>
      <div className="chart-head">
        <h3>{title}</h3>
        {at.length > 0 && (
          <button
            type="button"
            className="link-button nowrap-text"
            aria-pressed={asTable}
            onClick={() => setAsTable(!asTable)}
          >
            {asTable ? 'Show chart' : 'Show table'}
          </button>
        )}
      </div>
      {at.length === 0 ? (
        <p className="muted">No data for this period.</p>
      ) : asTable ? (
        <div className="chart-table">
          <Table<Point>
            label={`${title} as a table`}
            rows={at.map((time, index) => ({ time, index }))}
            rowKey={({ time }) => time}
            columns={[
              {
                key: 'at',
                label: byDay ? 'Day (UTC)' : 'When',
                cell: ({ time }) => <time>{timeName(time, byDay)}</time>,
              },
              ...series.map(({ label, values }) => ({
                key: label,
                label,
                numeric: true,
                cell: ({ index }: Point) => show(values[index], format),
              })),
            ]}
          />
        </div>
      ) : (
        <Plot {...props} />
      )}
    </section>
  );
}

const show = (value: number | null | undefined, format: (value: number) => string): string =>
  value === null || value === undefined ? '–' : format(value);

const timeName = (time: number, byDay: boolean): string =>
  byDay
    ? new Date(time).toISOString().slice(0, 10)
    : new Date(time).toLocaleString('en', {
        month: 'short',
        day: 'numeric',
        hour: '2-digit',
        minute: '2-digit',
        hour12: false,
        timeZoneName: 'short',
      });

/** What a place on the time axis is called: a day, or a time of day where days are too far apart. */
const tickName = (time: number, byDay: boolean, step: number): string =>
  new Date(time).toLocaleString('en-GB', {
    ...(byDay || step >= 2 * HALF_A_DAY
      ? { day: 'numeric', month: 'short' }
      : { hour: '2-digit', minute: '2-digit' }),
    ...(byDay ? { timeZone: 'UTC' } : {}),
  });

const HALF_A_DAY = 43_200;
const DAY_STEPS = [1, 2, 3, 7, 14, 30, 60, 90].map((days) => days * 2 * HALF_A_DAY);
/** There is no half of a call, a post or a follower. */
const WHOLE_STEPS = Array.from({ length: 10 }, (_, power) =>
  [1, 2, 5].map((step) => step * 10 ** power),
).flat();

/** From the first point to the last in seconds; the library would give a single point a scale of years. */
function days(at: readonly number[], bars: boolean): [number, number] {
  const [first = 0, last = first] = [at[0], at.at(-1)].map((time) => (time ?? 0) / 1000);
  const room = bars || first === last ? HALF_A_DAY : 0;
  return [first - room, last + room];
}

function Plot({ at, series, format = plain, stacked = false, byDay = false, close = false, title }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const scheme = useColourScheme();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours are read again when the scheme changes
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const ink = (tone: string): string => {
      const probe = document.createElement('span');
      probe.className = `ink-${tone}`;
      element.append(probe);
      const { color } = getComputedStyle(probe);
      probe.remove();
      return color;
    };
    // What never happened would only draw a line at zero over the others.
    const drawn = stacked ? series.filter(({ values }) => values.some((value) => value)) : series;
    const whole = drawn.every(({ values }) => values.every((value) => Number.isInteger(value ?? 0)));
    const axis = {
      stroke: ink('text'),
      font: `12px ${getComputedStyle(element).fontFamily}`,
      grid: { stroke: ink('line'), width: 1 },
      ticks: { show: false },
    };
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        cursor: { drag: { x: false, y: false } },
        ...(byDay ? { tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC') } : {}),
        scales: {
          x: { range: () => days(at, stacked) },
          y: { range: (_plot, low, high) => (close ? around(low, high) : [0, high * 1.1 || 1]) },
        },
        axes: [
          // A point is a whole day, so there is nothing to read off between two.
          {
            ...axis,
            gap: 10,
            size: 40,
            ...(byDay ? { incrs: DAY_STEPS } : {}),
            values: (_plot: uPlot, splits: number[], _axis: number, _space: number, step: number) =>
              splits.map((seconds) => tickName(seconds * 1000, byDay, step)),
          },
          {
            ...axis,
            size: 56,
            ...(whole ? { incrs: WHOLE_STEPS } : {}),
            values: (_plot: uPlot, splits: number[]) => splits.map((one) => format(one)),
          },
        ],
        series: [
          {
            label: byDay ? 'Day (UTC)' : 'Time',
            value: (_plot, time) => (time ? timeName(time * 1000, byDay) : '–'),
          },
          ...drawn.map(({ label, tone, values }) => ({
            label,
            stroke: ink(tone),
            width: 2,
            points: { show: !stacked && at.length < 40, size: 6, fill: ink(tone) },
            ...(stacked && uPlot.paths.bars
              ? { paths: uPlot.paths.bars({ size: [0.6, 40] }), fill: ink(tone) }
              : {}),
            value: (_plot: uPlot, _raw: number, _series: number, index: number | null) =>
              show(index === null ? null : values[index], format),
          })),
        ],
      },
      [
        at.map((time) => time / 1000),
        ...drawn.map(({ values }, first) => (stacked ? piled(drawn.slice(first), at.length) : [...values])),
      ],
      element,
    );
    const watch = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      plot.destroy();
    };
  }, [at, series, format, stacked, byDay, close, scheme]);
  return (
    <div ref={box} className="plot" role="img" aria-label={`${title}; the same numbers are in the table`} />
  );
}

/** The heights of a bar that stands on all the following ones. */
const piled = (series: readonly Series[], length: number): number[] =>
  Array.from({ length }, (_, at) => series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0));

function around(low: number, high: number): [number, number] {
  const spare = Math.max(1, (high - low) * 0.1);
  return [Math.floor(low - spare), Math.ceil(high + spare)];
}

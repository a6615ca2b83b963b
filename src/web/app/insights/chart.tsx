import { useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { Table } from '../components/table.tsx';

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
  readonly unit?: string;
  readonly bars?: boolean;
}

interface Point {
  readonly time: number;
  readonly index: number;
}

const HEIGHT = 220;

/** A chart that says its values under the pointer, and the same numbers as a table for whoever reads better. */
export function Chart({ title, at, series, unit = '', bars }: Props) {
  const [asTable, setAsTable] = useState(false);
  return (
    <section className="card" aria-label={title}>
      <div className="chart-head">
        <h2>{title}</h2>
        <button
          type="button"
          className="link-button"
          aria-pressed={asTable}
          onClick={() => setAsTable(!asTable)}
        >
          {asTable ? 'Show chart' : 'Show table'}
        </button>
      </div>
      {at.length === 0 ? (
        <p className="muted">Nothing happened in this time.</p>
      ) : asTable ? (
        <Table<Point>
          label={title}
          rows={at.map((time, index) => ({ time, index }))}
          rowKey={({ time }) => time}
          columns={[
            { key: 'at', label: 'When', cell: ({ time }) => new Date(time).toLocaleString() },
            ...series.map(({ label, values }) => ({
              key: label,
              label,
              numeric: true,
              cell: ({ index }: Point) => show(values[index], unit),
            })),
          ]}
        />
      ) : (
        <Plot at={at} series={series} unit={unit} bars={bars} title={title} />
      )}
    </section>
  );
}

const show = (value: number | null | undefined, unit: string): string =>
  value === null || value === undefined
    ? '–'
    : `${value.toLocaleString('en', { maximumFractionDigits: 1 })}${unit ? ` ${unit}` : ''}`;

function Plot({ at, series, unit, bars, title }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const scheme = useColourScheme();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours are read anew when the scheme changes
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
    const axis = { stroke: ink('text'), grid: { stroke: ink('line'), width: 1 }, ticks: { show: false } };
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        cursor: { drag: { x: false, y: false } },
        scales: { y: { range: (_plot, _min, max) => [0, Math.max(1, max * 1.1)] } },
        axes: [axis, { ...axis, size: 56 }],
        series: [
          { value: (_plot, time) => (time ? new Date(time * 1000).toLocaleString() : '–') },
          ...series.map(({ label, tone }) => ({
            label,
            stroke: ink(tone),
            width: 2,
            points: { show: at.length < 40, size: 6, fill: ink(tone) },
            ...(bars && uPlot.paths.bars
              ? { paths: uPlot.paths.bars({ size: [0.6, 40] }), fill: ink(tone), points: { show: false } }
              : {}),
            value: (_plot: uPlot, value: number | null) => show(value, unit ?? ''),
          })),
        ],
      },
      [at.map((time) => time / 1000), ...series.map(({ values }) => [...values])],
      element,
    );
    const watch = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      plot.destroy();
    };
  }, [at, series, unit, bars, scheme]);
  return (
    <div ref={box} className="plot" role="img" aria-label={`${title}; the same numbers are in the table`} />
  );
}

const readScheme = (): string =>
  `${document.documentElement.dataset.theme}${matchMedia('(prefers-color-scheme: dark)').matches}`;

/** Changes whenever the colours of the page do. */
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

import { useEffect, useRef } from 'react';
import 'uplot/dist/uPlot.min.css';

interface Point {
  /** Seconds since 1970. */
  readonly at: number;
  readonly value: number;
}

interface Props {
  readonly title: string;
  readonly points: readonly Point[] | undefined;
  readonly bars?: boolean;
  /** How far back the chart reaches. */
  readonly days: number;
}

const HEIGHT = 160;
const DAY = 86_400;

/** A small chart; the numbers stand below it for those who do not see it. */
export function Trend({ title, points, days, bars = false }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const enough = points !== undefined && points.length > (bars ? 0 : 1);
  useEffect(() => {
    const target = box.current;
    if (!target || !points || !enough) return;
    let plot: { destroy(): void; setSize(size: { width: number; height: number }): void } | undefined;
    let open = true;
    const watcher = new ResizeObserver(() => plot?.setSize({ width: target.clientWidth, height: HEIGHT }));
    void import('uplot').then(({ default: UPlot }) => {
      if (!open) return;
      const axis = {
        stroke: paint(target, '--text-soft'),
        grid: { stroke: paint(target, '--line'), width: 1 },
      };
      plot = new UPlot(
        {
          width: target.clientWidth,
          height: HEIGHT,
          legend: { show: false },
          cursor: { y: false },
          scales: {
            x: { range: () => [Date.now() / 1000 - days * DAY, Date.now() / 1000 + DAY / 2] },
            y: { range: (_, low, high) => (bars ? [0, high || 1] : [low - 1, high + 1]) },
          },
          axes: [axis, { ...axis, size: 56 }],
          series: [
            {},
            {
              label: title,
              stroke: paint(target, '--accent'),
              ...(bars ? { fill: paint(target, '--accent') } : {}),
              width: 2,
              points: { show: points.length < 40 },
              ...(bars && UPlot.paths.bars ? { paths: UPlot.paths.bars({ size: [0.6, 32] }) } : {}),
            },
          ],
        },
        [points.map(({ at }) => at), points.map(({ value }) => value)],
        target,
      );
      watcher.observe(target);
    });
    return () => {
      open = false;
      watcher.disconnect();
      plot?.destroy();
    };
  }, [points, enough, bars, title, days]);
  return (
    <section className="card" aria-label={title}>
      <h3>{title}</h3>
      {enough ? (
        <>
          <div ref={box} className="trend-box" role="img" aria-label={`Chart: ${title}`} />
          <details className="small">
            <summary>As a table</summary>
            <table className="table">
              <tbody>
                {points.map(({ at, value }) => (
                  <tr key={at}>
                    <td>{new Date(at * 1000).toISOString().slice(0, 10)}</td>
                    <td className="numeric">{value}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </details>
        </>
      ) : (
        <p className="muted small">
          {points?.[0]
            ? `${points[0].value.toLocaleString('en')} so far; a line needs two days.`
            : 'No numbers yet.'}
        </p>
      )}
    </section>
  );
}

/** Canvases know no custom properties, and light-dark() only resolves on an element. */
function paint(near: HTMLElement, name: string): string {
  const probe = document.createElement('i');
  probe.style.color = `var(${name})`;
  near.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

import type { AgentBrief } from '../../../kernel/views/shapes.ts';

const BAR = 5;
const GAP = 1;
const HIGH = 20;

/** Calls of each of the last days. */
export function DayBars({ days }: { readonly days: readonly number[] }) {
  const most = Math.max(1, ...days);
  const total = days.reduce((sum, count) => sum + count, 0);
  return (
    <svg
      className="day-bars"
      viewBox={`0 0 ${days.length * (BAR + GAP)} ${HIGH}`}
      role="img"
      aria-label={`${total.toLocaleString('en')} calls in ${days.length} days`}
    >
      {days.map((count, day) => {
        const height = count === 0 ? 1 : Math.max(2, (count / most) * HIGH);
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: days are their places
          <rect key={day} x={day * (BAR + GAP)} y={HIGH - height} width={BAR} height={height} rx={1}>
            <title>{`${count.toLocaleString('en')} calls`}</title>
          </rect>
        );
      })}
    </svg>
  );
}

/** Approved as asked, edited and rejected, as parts of what people decided. */
export function DecisionBar({ decisions }: { readonly decisions: AgentBrief['decisions'] }) {
  const { approved, edited, rejected } = decisions;
  const of = approved + edited + rejected;
  if (of === 0) return <span className="muted small">No decisions</span>;
  const parts = [
    ['approved', approved],
    ['edited', edited],
    ['rejected', rejected],
  ] as const;
  let at = 0;
  return (
    <svg
      className="decision-bar"
      viewBox="0 0 100 6"
      preserveAspectRatio="none"
      role="img"
      aria-label={parts.map(([name, count]) => `${count} ${name}`).join(', ')}
    >
      {parts.map(([name, count]) => {
        const width = (count / of) * 100;
        const x = at;
        at += width;
        return width > 0 ? (
          <rect
            key={name}
            className={`decision-${name}`}
            x={x}
            width={Math.max(0, width - 1)}
            height={6}
            rx={1}
          />
        ) : null;
      })}
    </svg>
  );
}

/** The share of decisions that were an approval, with or without an edit; undefined before the first. */
export function approvalRate({ approved, edited, rejected }: AgentBrief['decisions']): number | undefined {
  const of = approved + edited + rejected;
  return of === 0 ? undefined : Math.round(((approved + edited) / of) * 100);
}

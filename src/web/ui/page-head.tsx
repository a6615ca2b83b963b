import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { useTabTitle } from './title.ts';

interface Props {
  readonly title: string;
  /** A few words next to the heading. */
  readonly note?: string | undefined;
  readonly actions?: ReactNode;
  readonly wide?: boolean;
  readonly children: ReactNode;
}

/** The frame of every screen: its heading, what can be done with it as a whole, its content. */
export function Page({ title, note, actions, wide, children }: Props) {
  useTabTitle(title);
  return (
    <div className={wide ? 'page page-wide' : 'page'}>
      <header className="page-head">
        <h1>{title}</h1>
        {note ? <span className="muted small page-note">{note}</span> : null}
        {actions ? <div className="page-actions">{actions}</div> : null}
      </header>
      {children}
    </div>
  );
}

interface Tab<K extends string> {
  readonly key: K;
  readonly label: ReactNode;
}

interface TabsProps<K extends string> {
  readonly label: string;
  readonly tabs: readonly Tab<K>[];
  readonly current: K;
  readonly children: ReactNode;
  onChange(key: K): void;
}

/** So much of the tab before the chosen one stays in sight. */
const EDGE = 32;

/** Arrow keys move between tabs, as the ARIA practice has it. */
export function Tabs<K extends string>({ label, tabs, current, children, onChange }: TabsProps<K>) {
  const base = useId();
  const list = useRef<HTMLDivElement>(null);
  // On a narrow screen the tabs scroll, and the chosen one may be out of sight.
  const chosen = tabs.findIndex(({ key }) => key === current);
  useEffect(() => {
    const tab = list.current?.querySelectorAll<HTMLElement>('[role=tab]')[chosen];
    if (list.current && tab) list.current.scrollLeft = tab.offsetLeft - list.current.offsetLeft - EDGE;
  }, [chosen]);
  const move = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const next = (chosen + step + tabs.length) % tabs.length;
    const tab = tabs[next];
    if (!tab) return;
    onChange(tab.key);
    list.current?.querySelectorAll<HTMLButtonElement>('[role=tab]')[next]?.focus();
  };
  return (
    <>
      <div className="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={move}>
        {tabs.map(({ key, label: text }) => (
          <button
            key={key}
            type="button"
            role="tab"
            id={`${base}-${key}`}
            aria-selected={key === current}
            aria-controls={`${base}-panel`}
            tabIndex={key === current ? 0 : -1}
            className="tab"
            onClick={() => onChange(key)}
          >
            {text}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${base}-panel`} aria-labelledby={`${base}-${current}`} className="tab-panel">
        {children}
      </div>
    </>
  );
}

const STEPS: readonly [number, Intl.RelativeTimeFormatUnit][] = [
  [60, 'second'],
  [60, 'minute'],
  [24, 'hour'],
  [30, 'day'],
  [12, 'month'],
  [Number.POSITIVE_INFINITY, 'year'],
];
/** Units have symbols, with a space before them; days and longer have words. */
const SYMBOLS: Readonly<Record<string, string>> = { second: 's', minute: 'min', hour: 'h' };
const format = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

function ago(value: number, unit: Intl.RelativeTimeFormatUnit): string {
  const symbol = SYMBOLS[unit];
  if (symbol === undefined) return format.format(value, unit);
  return value > 0 ? `in ${value} ${symbol}` : `${-value} ${symbol} ago`;
}

export function timeAgo(at: Date, now: Date): string {
  let value = (at.getTime() - now.getTime()) / 1000;
  if (Math.abs(value) < 5) return 'just now';
  for (const [size, unit] of STEPS) {
    const rounded = Math.round(value);
    // 59.6 s are a minute; an approval that expires in 24 h does not just expire tomorrow.
    if (Math.abs(unit === 'hour' ? value : rounded) < size) return ago(rounded, unit);
    value /= size;
  }
  return at.toISOString();
}

/** "3 min ago", the exact time with its zone on hover. */
export function TimeAgo({ at }: { readonly at: string }) {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), 15_000);
    return () => clearInterval(timer);
  }, []);
  const date = new Date(at);
  return (
    <time dateTime={at} title={date.toLocaleString('en', { dateStyle: 'medium', timeStyle: 'long' })}>
      {timeAgo(date, now)}
    </time>
  );
}

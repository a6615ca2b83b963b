import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef } from 'react';

interface Tab<K extends string> {
  readonly key: K;
  readonly label: ReactNode;
}

interface Props<K extends string> {
  readonly label: string;
  readonly tabs: readonly Tab<K>[];
  readonly current: K;
  readonly children: ReactNode;
  onChange(key: K): void;
}

/** So much of the tab before the chosen one stays in sight. */
const EDGE = 32;

/** Arrow keys move between tabs, as the ARIA practice has it. */
export function Tabs<K extends string>({ label, tabs, current, children, onChange }: Props<K>) {
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

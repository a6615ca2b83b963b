import { Suspense, useEffect, useRef, useState } from 'react';
import { Button } from '../../ui/field.tsx';
import { Icon } from '../../ui/icon.tsx';
import { lazyPart } from '../../ui/part.ts';
import { UntrustedText } from '../../ui/untrusted-text.tsx';
import { FILTERS, GROUPS, type Group, type InboxView, useValueName } from './filter.ts';

const FilterPanel = lazyPart(async () => (await import('./filter-panel.tsx')).FilterPanel);
const TYPING_MS = 250;
const LABELS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(FILTERS.map(({ key, label }) => [key, label.toLowerCase()])),
  newer: 'age',
  older: 'age',
  toolkit: 'server',
  environment: 'env',
};

interface Props {
  readonly view: InboxView;
  /** Opened by the page's key as well. */
  readonly open: boolean;
  setOpen(open: boolean): void;
}

/** Filters, search and grouping; all of it is in the address. */
export function FilterBar({ view, open, setOpen }: Props) {
  const nameOf = useValueName();
  return (
    <div className="filter-bar" data-open={open || undefined}>
      <div className="filter-line">
        <Button
          small
          icon="filter"
          aria-expanded={open}
          aria-keyshortcuts="f"
          title="Filter (F)"
          onClick={() => setOpen(!open)}
        >
          Filter
        </Button>
        <SearchField view={view} />
        {view.shelf === 'waiting' ? (
          <select
            className="group-select"
            aria-label="Group by"
            value={view.group}
            onChange={(event) => view.setGroup(event.target.value as Group)}
          >
            {Object.entries(GROUPS).map(([key, label]) => (
              <option key={key} value={key}>
                {label}
              </option>
            ))}
          </select>
        ) : null}
      </div>
      {view.parts.length > 0 || view.text ? (
        <div className="filter-line">
          {view.parts.map((part) => (
            <span key={`${part.key} ${part.value}`} className="chip">
              <span className="chip-name">{LABELS[part.key] ?? part.key}</span>
              <span>
                <UntrustedText text={nameOf(part)} />
              </span>
              <button
                type="button"
                aria-label={`Remove filter ${nameOf(part)}`}
                onClick={() => view.toggle(part)}
              >
                <Icon name="cross" small />
              </button>
            </span>
          ))}
          <button type="button" className="link-button small" onClick={view.clear}>
            Clear
          </button>
        </div>
      ) : null}
      <Suspense>{open ? <FilterPanel view={view} onClose={() => setOpen(false)} /> : null}</Suspense>
    </div>
  );
}

/** Searches while one types, a moment after the last key. */
function SearchField({ view }: { readonly view: InboxView }) {
  const [text, setText] = useState(view.text);
  const set = useRef(view.setText);
  useEffect(() => {
    set.current = view.setText;
  });
  useEffect(() => setText(view.text), [view.text]);
  useEffect(() => {
    if (text === view.text) return;
    const timer = setTimeout(() => set.current(text.trim()), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text, view.text]);
  return (
    <input
      id="inbox-search"
      type="search"
      className="inbox-search"
      placeholder="Search"
      aria-label="Search the inbox"
      aria-keyshortcuts="/"
      maxLength={200}
      value={text}
      onChange={(event) => setText(event.target.value)}
      onKeyDown={(event) => {
        if (event.key === 'Escape') event.currentTarget.blur();
      }}
    />
  );
}

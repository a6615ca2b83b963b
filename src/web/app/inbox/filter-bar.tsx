import { useEffect, useRef, useState } from 'react';
import type { InboxPageData } from '../../../kernel/views/shapes.ts';
import { lookup } from '../../../lib/lookup.ts';
import { useQuery } from '../../ui/api.ts';
import { Button } from '../../ui/field.tsx';
import { Icon } from '../../ui/icon.tsx';
import { useSession } from '../../ui/session.ts';
import { UntrustedText } from '../../ui/untrusted-text.tsx';
import { AGES, FILTERS, GROUPS, type Group, type InboxView, type Part, valueName } from './filter.ts';

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
              <span className="chip-name">{lookup(LABELS, part.key) ?? part.key}</span>
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
      {open ? <FilterPanel view={view} onClose={() => setOpen(false)} /> : null}
    </div>
  );
}

/** With the titles of toolkits. */
function useValueName(): (part: Part) => string {
  const { session } = useSession();
  return (part) =>
    (part.key === 'toolkit' ? session.toolkits.find(({ id }) => id === part.value)?.title : undefined) ??
    valueName(part);
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

function FilterPanel({ view, onClose }: { readonly view: InboxView; onClose(): void }) {
  const box = useRef<HTMLElement>(null);
  const nameOf = useValueName();
  const answer = useQuery(`/inbox?brief=1&facets=1&limit=1&${view.query}`).data;
  // The counts before stay until the new ones are there: nothing jumps, and the focus keeps its place.
  const before = useRef<InboxPageData>(undefined);
  if (answer) before.current = answer;
  const data = answer ?? before.current;
  const ready = data !== undefined;
  useEffect(() => {
    if (ready) box.current?.querySelector<HTMLElement>('input')?.focus();
  }, [ready]);
  return (
    <section className="filter-panel" aria-label="Filters" ref={box}>
      {FILTERS.map(({ key, facet, label }) => {
        const counts = data?.facets?.[facet] ?? [];
        if (counts.length === 0) return null;
        return (
          <fieldset key={key} className="plain-set">
            <legend>{label}</legend>
            {counts.map(({ value, count }) => (
              <label key={value} className="choice">
                <input
                  type="checkbox"
                  checked={view.has({ key, value })}
                  onChange={() => view.toggle({ key, value })}
                />
                <span className="clip" title={value}>
                  <UntrustedText text={nameOf({ key, value })} />
                </span>
                <span className="choice-count">{count.toLocaleString('en')}</span>
              </label>
            ))}
          </fieldset>
        );
      })}
      <fieldset className="plain-set">
        <legend>Age</legend>
        {AGES.map((age) => (
          <label key={age.label} className="choice">
            <input type="checkbox" checked={view.has(age)} onChange={() => view.toggle(age)} />
            <span>{age.label}</span>
            <span className="choice-count">
              {data?.facets?.age
                .find(({ value }) => value === `${age.key} ${age.value}`)
                ?.count.toLocaleString('en')}
            </span>
          </label>
        ))}
      </fieldset>
      <div className="row">
        <Button small onClick={view.clear}>
          Clear
        </Button>
        <Button small tone="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </section>
  );
}

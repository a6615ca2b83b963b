import { useEffect, useRef } from 'react';
import type { InboxPageData } from '../../../kernel/views/shapes.ts';
import { useQuery } from '../../ui/api.ts';
import { Button } from '../../ui/field.tsx';
import { UntrustedText } from '../../ui/untrusted-text.tsx';
import { AGES, FILTERS, type InboxView, useValueName } from './filter.ts';

/** What can be filtered by, with counts. */
export function FilterPanel({ view, onClose }: { readonly view: InboxView; onClose(): void }) {
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

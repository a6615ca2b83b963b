import { useState } from 'react';
import type { Brief, DecisionResult } from '../../../kernel/views/shapes.ts';
import { useQuery } from '../../ui/api.ts';
import { DiffersBadge, EnvironmentBadge, Skeleton, shortName } from '../../ui/badge.tsx';
import { Unshown, useFold } from '../../ui/folds.tsx';
import { Icon } from '../../ui/icon.tsx';
import { ErrorNotice } from '../../ui/notice.tsx';
import { PlacedTitle, UntrustedText } from '../../ui/untrusted-text.tsx';
import { ItemBody } from './body.tsx';
import { Reasons } from './facts.tsx';
import { effectName } from './filter.ts';

/** So many are shown in full without a further press. */
const OPEN = 10;

interface Props {
  readonly items: readonly Brief[];
  readonly results: readonly DecisionResult[] | undefined;
  readonly excluded: ReadonlySet<number>;
  readonly locked: boolean;
  onToggle(id: number): void;
}

/** Every item of a bulk decision by requester; each in full before it is decided. */
export function BulkItems({ items, results, excluded, locked, onToggle }: Props) {
  const [all, setAll] = useState(items.length <= OPEN);
  const requesters = [...new Set(items.map(({ requester }) => requester))];
  return (
    <div className="bulk">
      {items.length > OPEN && !results ? (
        <button type="button" className="link-button" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? 'Show titles only' : `Show all ${items.length} in full`}
        </button>
      ) : null}
      {requesters.map((requester) => {
        const own = items.filter((item) => item.requester === requester);
        return (
          <section key={requester} aria-label={shortName(requester)}>
            <h3 className="inbox-group">
              {shortName(requester)} <span className="muted">{own.length}</span>
            </h3>
            <ul className="bulk-list">
              {own.map((item) => (
                <li key={item.id}>
                  <Row
                    // Another choice for all resets each row.
                    key={String(all)}
                    item={item}
                    opened={all && !results}
                    result={results?.find(({ id }) => id === item.id)}
                    chosen={!excluded.has(item.id)}
                    locked={locked}
                    onToggle={() => onToggle(item.id)}
                  />
                </li>
              ))}
            </ul>
          </section>
        );
      })}
    </div>
  );
}

interface RowProps {
  readonly item: Brief;
  readonly opened: boolean;
  readonly result: DecisionResult | undefined;
  readonly chosen: boolean;
  readonly locked: boolean;
  onToggle(): void;
}

function Row({ item, opened, result, chosen, locked, onToggle }: RowProps) {
  const [open, setOpen] = useState(opened);
  const [viewed, setViewed] = useState(opened);
  const ref = useFold(!viewed && chosen && !result);
  return (
    <div className="bulk-item">
      <div className="bulk-line">
        {locked ? null : (
          <input
            type="checkbox"
            checked={chosen}
            aria-label={`Include approval ${item.id}`}
            onChange={onToggle}
          />
        )}
        <div className="bulk-text">
          <strong>
            <PlacedTitle title={item.summary} environment={item.environment} />
          </strong>
          {item.gist ? (
            <span className="inbox-gist">
              <UntrustedText text={item.gist} />
            </span>
          ) : null}
          {result ? (
            <span className={result.error ? 'tone-bad' : 'muted'}>
              <UntrustedText
                text={
                  result.error ??
                  result.result?.message ??
                  (result.state === 'held'
                    ? 'Runs after you close this; you can still undo it.'
                    : result.state) ??
                  ''
                }
              />{' '}
              {result.hint ?? result.result?.hint}
            </span>
          ) : null}
        </div>
        <span className="meta bulk-marks">
          {item.differs ? <DiffersBadge of="approval" /> : null}
          {item.environment ? <EnvironmentBadge environment={item.environment} /> : null}
          {effectName(item.effect)}
        </span>
        <button
          type="button"
          className="icon-button"
          ref={ref}
          aria-expanded={open}
          aria-label={`Approval ${item.id} in full`}
          onClick={() => {
            setOpen(!open);
            setViewed(true);
          }}
        >
          <Icon name={open ? 'down' : 'right'} />
        </button>
      </div>
      {open && chosen ? <Whole id={item.id} version={item.version} /> : null}
    </div>
  );
}

function Whole({ id, version }: { readonly id: number; readonly version: number }) {
  const { data: item, error } = useQuery(`/inbox/${id}`);
  if (!item)
    return (
      <>
        <Unshown />
        {error ? <ErrorNotice error={error} /> : <Skeleton />}
      </>
    );
  return (
    <div className="bulk-whole">
      {item.version === version ? null : (
        <p className="tone-warn">It changed since it was listed and will be skipped.</p>
      )}
      <Reasons item={item} />
      <ItemBody item={item} />
    </div>
  );
}

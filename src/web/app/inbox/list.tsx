import { useEffect, useRef } from 'react';
import { Virtualizer, type VirtualizerHandle } from 'virtua';
import { Link } from 'wouter';
import { Badge, StateBadge } from '../components/badge.tsx';
import { Foreign } from '../components/foreign.tsx';
import { TimeAgo } from '../components/time-ago.tsx';
import type { Inbox } from './paging.ts';
import type { Brief } from './types.ts';

interface Props {
  readonly inbox: Inbox;
  readonly current: number | undefined;
  readonly selected: ReadonlySet<number>;
  readonly selectable: boolean;
  toggle(item: Brief): void;
}

/** What waits, as far as it is on screen. */
export function InboxList({ inbox, current, selected, selectable, toggle }: Props) {
  const handle = useRef<VirtualizerHandle>(null);
  const at = current === undefined ? -1 : inbox.rows.findIndex((row) => row?.id === current);
  useEffect(() => {
    if (at >= 0) handle.current?.scrollToIndex(at, { align: 'nearest' });
  }, [at]);
  const look = (): void => {
    const list = handle.current;
    if (!list) return;
    const from = list.findItemIndex(list.scrollOffset);
    inbox.show(from, list.findItemIndex(list.scrollOffset + list.viewportSize));
  };
  return (
    <div className="inbox-scroll">
      <Virtualizer ref={handle} as="ul" item="li" data={inbox.rows} itemSize={84} onScroll={look}>
        {(row, index) =>
          row ? (
            <div key={row.id} className={row.id === current ? 'inbox-row inbox-row-current' : 'inbox-row'}>
              {selectable ? (
                <input
                  type="checkbox"
                  checked={selected.has(row.id)}
                  aria-label={`Select item ${row.id}`}
                  onChange={() => toggle(row)}
                />
              ) : null}
              <Row row={row} current={row.id === current} />
            </div>
          ) : (
            <div key={`gap-${index}`} className="inbox-row inbox-row-gap" aria-hidden="true" />
          )
        }
      </Virtualizer>
    </div>
  );
}

function Row({ row, current }: { readonly row: Brief; readonly current: boolean }) {
  return (
    <Link href={`/inbox/${row.id}`} className="inbox-link" aria-current={current ? 'true' : undefined}>
      <span className="inbox-line">
        <Foreign text={row.summary.replaceAll('\n', ' ')} />
      </span>
      <span className="inbox-meta">
        {row.state === 'pending' ? null : <StateBadge state={row.state} />}
        {row.effect === 'destroy' ? <Badge tone="bad">destroys</Badge> : null}
        {row.risks > 0 ? (
          <Badge tone="warn">{row.risks === 1 ? '1 risk' : `${row.risks} risks`}</Badge>
        ) : null}
        {row.kind === 'permit' ? <Badge tone="info">permit</Badge> : null}
        <span className="inbox-who">{row.requester}</span>
        <TimeAgo at={row.created_at} />
      </span>
    </Link>
  );
}

import { useEffect, useRef } from 'react';
import { Virtualizer, type VirtualizerHandle } from 'virtua';
import { Link } from 'wouter';
import type { Brief } from '../../../kernel/views/shapes.ts';
import { Avatar, Badge, DiffersBadge, StateBadge, shortName } from '../../ui/badge.tsx';
import { Icon } from '../../ui/icon.tsx';
import { PlacedTitle, UntrustedText } from '../../ui/untrusted-text.tsx';
import { useDecisions } from './decisions.tsx';
import { type InboxView, valueName } from './filter.ts';
import { groupOf, isGrave, KindMark, RISKS, ShortAge } from './marks.tsx';
import type { Inbox } from './paging.ts';

interface Props {
  readonly inbox: Inbox;
  readonly view: InboxView;
  readonly current: number | undefined;
  isSelected(id: number): boolean;
  readonly selecting: boolean;
  toggle(item: Brief, range: boolean): void;
}

/** What waits, as far as it is on screen. */
export function InboxList({ inbox, view, current, isSelected, selecting, toggle }: Props) {
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
  const selectable = view.shelf === 'waiting';
  return (
    <div className={selecting ? 'inbox-scroll inbox-selecting' : 'inbox-scroll'}>
      <Virtualizer ref={handle} as="ul" item="li" data={inbox.rows} itemSize={84} onScroll={look}>
        {(row, index) => {
          if (!row)
            return (
              <div key={`gap-${index}`} className="inbox-row inbox-row-gap" aria-hidden="true">
                <span className="kind" />
                <span className="skeleton" />
              </div>
            );
          const before = inbox.rows[index - 1];
          const heading = view.shelf === 'waiting' ? groupOf(row, view.group) : undefined;
          const shown = heading !== undefined && (!before || groupOf(before, view.group) !== heading);
          return (
            <div key={row.id}>
              {shown ? (
                <p className="inbox-group">
                  {groupName(heading, view.group)}{' '}
                  <span className="muted">
                    {inbox.groups.find(({ value }) => value === heading)?.count.toLocaleString('en')}
                  </span>
                </p>
              ) : null}
              <div className={row.id === current ? 'inbox-row inbox-row-current' : 'inbox-row'}>
                {selectable && !row.damaged ? (
                  <input
                    type="checkbox"
                    checked={isSelected(row.id)}
                    aria-label={`Select approval ${row.id}`}
                    onClick={(event) => toggle(row, event.shiftKey)}
                    onChange={() => {}}
                  />
                ) : null}
                <Row row={row} current={row.id === current} search={view.search} />
              </div>
            </div>
          );
        }}
      </Virtualizer>
    </div>
  );
}

const groupName = (heading: string, group: string): string =>
  group === 'risk'
    ? (RISKS[Number(heading)] ?? '')
    : heading === ''
      ? 'Without a run'
      : valueName({ key: group, value: heading });

interface RowProps {
  readonly row: Brief;
  readonly current: boolean;
  readonly search: string;
}

function Row({ row, current, search }: RowProps) {
  const { holdOf, busy } = useDecisions();
  const held = holdOf(row.id) !== undefined;
  if (row.damaged)
    return (
      <Link
        href={`/inbox/${row.id}${search}`}
        className="inbox-link"
        aria-current={current ? 'true' : undefined}
      >
        <span className="kind">
          <Icon name="warn" />
        </span>
        <span className="inbox-text">
          <span className="inbox-line">Approval {row.id}</span>
          <span className="inbox-gist">
            <UntrustedText text={row.tool} />
          </span>
          <span className="inbox-meta">
            <Badge tone="bad">Cannot be read</Badge>
          </span>
        </span>
      </Link>
    );
  return (
    <Link
      href={`/inbox/${row.id}${search}`}
      className="inbox-link"
      aria-current={current ? 'true' : undefined}
    >
      <KindMark row={row} />
      <span className="inbox-text">
        <span className="inbox-title">
          <span className="inbox-line">
            <PlacedTitle title={row.summary} environment={row.environment} />
          </span>
          <ShortAge at={row.created_at} />
        </span>
        {row.gist ? (
          <span className="inbox-gist">
            <UntrustedText text={row.gist} />
          </span>
        ) : null}
        <span className="inbox-meta">
          {row.differs ? <DiffersBadge of="approval" /> : null}
          {row.state === 'pending' ? null : <StateBadge state={row.state} />}
          {held || busy.has(row.id) ? (
            <Badge tone="info">{held ? 'Approved, on hold' : 'Approving'}</Badge>
          ) : null}
          <Avatar name={row.requester} />
          <span className="inbox-who">
            {shortName(row.requester)}
            {row.ordered_by ? ` for ${shortName(row.ordered_by)}` : ''}
          </span>
          {row.effect === 'destroy' ? <Badge tone="bad">Destructive</Badge> : null}
          {row.first_risk ? (
            <span
              className={`badge ${isGrave(row) ? 'badge-bad' : 'badge-warn'} clip`}
              title={row.first_risk}
            >
              <UntrustedText text={row.first_risk} />
              {row.risks > 1 ? ` +${row.risks - 1}` : ''}
            </span>
          ) : null}
          {row.signers > 0 ? (
            <Badge>
              <Icon name="fingerprint" small /> Signature
            </Badge>
          ) : null}
          {row.kind === 'permit' ? <Badge tone="info">Permit</Badge> : null}
        </span>
      </span>
    </Link>
  );
}

import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import { lookup } from '../../../lib/lookup.ts';
import { Badge, Skeleton, StateBadge } from '../../../web/ui/badge.tsx';
import { Button } from '../../../web/ui/field.tsx';
import { ErrorNotice } from '../../../web/ui/notice.tsx';
import { useAct } from '../../../web/ui/page-data.ts';
import { UntrustedText } from '../../../web/ui/untrusted-text.tsx';
import { type Item, textsOf, useView } from './data.ts';
import { addDays, dayOf, EditDialog, mondayOf, onDay, ZONE } from './dialogs.tsx';

const WEEKS = 4;
const MOVES: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 };

/** Four weeks of posts. A post is dragged to another day, or moved there with Alt and the arrow keys. */
export function Calendar() {
  const act = useAct();
  const schedule = useView('schedule', { limit: 200 }, { topics: ['approvals', 'calls', 'x.changed'] });
  const [from, setFrom] = useState(() => mondayOf(new Date()));
  const [dragged, setDragged] = useState<Item>();
  const [over, setOver] = useState<string>();
  const [editing, setEditing] = useState<Item>();
  const moved = useRef<number>(undefined);
  const items = [...(schedule.data?.upcoming ?? []), ...(schedule.data?.past ?? [])];
  const pending = schedule.data?.pending ?? [];
  const days = Array.from({ length: WEEKS * 7 }, (_, at) => addDays(from, at));
  const today = dayOf(new Date());

  const move = async (item: Item, day: string) => {
    if (!item.scheduled_for || dayOf(new Date(item.scheduled_for)) === day) return;
    await act(
      'update_draft',
      { id: item.id, scheduled_for: onDay(item.scheduled_for, day) },
      `Moved to ${day}.`,
    );
    await schedule.refresh();
  };
  const keyed = (event: KeyboardEvent, item: Item) => {
    const by = event.altKey ? lookup(MOVES, event.key) : undefined;
    if (by === undefined || !item.scheduled_for || item.status !== 'scheduled') return;
    event.preventDefault();
    moved.current = item.id;
    void move(item, dayOf(addDays(new Date(item.scheduled_for), by)));
  };
  // On another day it is another button, which exists once the new schedule is drawn.
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs for each new schedule
  useEffect(() => {
    if (moved.current === undefined) return;
    document.getElementById(`post-${moved.current}`)?.focus();
    moved.current = undefined;
  }, [schedule.data]);

  return (
    <>
      <div className="row">
        <Button small aria-label="Earlier weeks" onClick={() => setFrom(addDays(from, -7 * WEEKS))}>
          ←
        </Button>
        <Button small onClick={() => setFrom(mondayOf(new Date()))}>
          Today
        </Button>
        <Button small aria-label="Later weeks" onClick={() => setFrom(addDays(from, 7 * WEEKS))}>
          →
        </Button>
        <span className="muted small">
          Drag a post to another day, press <kbd className="key">Alt</kbd> with an arrow key on it, or open
          it. Times are in {ZONE}.
        </span>
      </div>
      <ErrorNotice error={schedule.error} />
      {schedule.loading && <Skeleton lines={6} />}
      {schedule.data?.upcoming.length === 0 && pending.length === 0 && (
        <p className="muted">No scheduled posts. Give a draft a time under Write, and it appears here.</p>
      )}
      <ol className="plain-list calendar" aria-label="Scheduled posts by day">
        {days.map((date) => {
          const day = dayOf(date);
          const ofDay = items.filter((item) => dayOn(item) === day);
          const waiting = ofDay.filter(isWaiting);
          const here = ofDay.filter((item) => !isWaiting(item));
          const asked = pending.filter(({ scheduled_for }) => dayOf(new Date(scheduled_for)) === day);
          return (
            <li
              key={day}
              data-day={day}
              className={dayClass({
                today: day === today,
                past: day < today,
                over: day === over,
                empty: ofDay.length + asked.length === 0,
              })}
              onDragOver={(event) => {
                event.preventDefault();
                setOver(day);
              }}
              onDragLeave={() => setOver(undefined)}
              onDrop={(event) => {
                event.preventDefault();
                setOver(undefined);
                if (dragged) void move(dragged, day);
              }}
            >
              <time dateTime={day} className="day-name">
                {date.toLocaleDateString('en', { weekday: 'short', day: 'numeric', month: 'short' })}
              </time>
              {asked.map(({ approval_id, scheduled_for, text }) => (
                <PendingPost key={approval_id} id={approval_id} at={scheduled_for} text={text} />
              ))}
              {waiting.map((item) => (
                <PendingPost
                  key={item.id}
                  id={item.approval_id ?? 0}
                  at={momentOf(item) ?? ''}
                  text={textsOf(item)[0] ?? ''}
                />
              ))}
              {here.map((item) => (
                <button
                  type="button"
                  key={item.id}
                  id={`post-${item.id}`}
                  className={`planned planned-${item.status}`}
                  draggable={item.status === 'scheduled'}
                  onDragStart={() => setDragged(item)}
                  onDragEnd={() => setDragged(undefined)}
                  onKeyDown={(event) => keyed(event, item)}
                  onClick={() => setEditing(item)}
                >
                  <span className="row">
                    <strong>{timeOf(item)}</strong>
                    {item.status !== 'scheduled' && <StateBadge state={item.status} />}
                  </span>
                  <span className="planned-text">
                    <UntrustedText text={textsOf(item)[0] ?? ''} />
                  </span>
                </button>
              ))}
            </li>
          );
        })}
      </ol>
      {editing && (
        <EditDialog
          item={editing}
          onClose={() => setEditing(undefined)}
          onSaved={async () => {
            setEditing(undefined);
            await schedule.refresh();
          }}
        />
      )}
    </>
  );
}

/** A post that a person has not approved yet; it is decided in the inbox. */
const PendingPost = ({
  id,
  at,
  text,
}: {
  readonly id: number;
  readonly at: string;
  readonly text: string;
}) => (
  <Link href={`/inbox/${id}`} className="planned planned-pending">
    <span className="row">
      <strong>{clock(at)}</strong>
      <Badge tone="warn">pending approval</Badge>
    </span>
    <span className="planned-text">
      <UntrustedText text={text} />
    </span>
  </Link>
);

const isWaiting = (item: Item): boolean => item.status === 'waiting_approval' && item.approval_id !== null;
const momentOf = (item: Item): string | null => item.posted_at ?? item.scheduled_for;
const dayOn = (item: Item): string | undefined => {
  const moment = momentOf(item);
  return moment === null ? undefined : dayOf(new Date(moment));
};
const timeOf = (item: Item): string => clock(momentOf(item) ?? '');
const clock = (at: string): string =>
  new Date(at).toLocaleTimeString('en', { hour: '2-digit', minute: '2-digit', hour12: false });

const dayClass = (is: Readonly<Record<string, boolean>>): string =>
  ['day', ...Object.keys(is).flatMap((name) => (lookup(is, name) ? [`day-${name}`] : []))].join(' ');

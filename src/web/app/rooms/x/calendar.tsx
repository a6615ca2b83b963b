import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { StateBadge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Foreign } from '../../components/foreign.tsx';
import { ErrorNotice } from '../../components/notice.tsx';
import { useAct, useView } from '../room-data.ts';
import { EditDialog } from './edit-dialog.tsx';
import { type Item, type Schedule, textsOf } from './types.ts';
import { addDays, dayOf, mondayOf, onDay, ZONE } from './when.ts';

const WEEKS = 4;
const MOVES: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 };

/** Four weeks of posts. A post is dragged to another day, or moved there with Alt and the arrow keys. */
export function Calendar() {
  const act = useAct();
  const schedule = useView<Schedule>(
    'x',
    'schedule',
    { limit: 200 },
    { topics: ['approvals', 'calls', 'x.changed'] },
  );
  const [from, setFrom] = useState(() => mondayOf(new Date()));
  const [dragged, setDragged] = useState<Item>();
  const [over, setOver] = useState<string>();
  const [editing, setEditing] = useState<Item>();
  const moved = useRef<number>(undefined);
  const items = [...(schedule.data?.upcoming ?? []), ...(schedule.data?.past ?? [])];
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
    const by = event.altKey ? MOVES[event.key] : undefined;
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
          Drag a post to another day, press <kbd>Alt</kbd> with an arrow key on it, or open it. Times are of{' '}
          {ZONE}.
        </span>
      </div>
      <ErrorNotice error={schedule.error} />
      {schedule.loading && <p className="muted">Loading…</p>}
      {schedule.data?.upcoming.length === 0 && (
        <p className="muted">Nothing is scheduled. Give a draft a time under Write, and it appears here.</p>
      )}
      <ol className="plain-list calendar" aria-label="Scheduled posts by day">
        {days.map((date) => {
          const day = dayOf(date);
          const here = items.filter((item) => dayOn(item) === day);
          return (
            <li
              key={day}
              data-day={day}
              className={dayClass({
                today: day === today,
                past: day < today,
                over: day === over,
                empty: here.length === 0,
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
                    <Foreign text={textsOf(item)[0] ?? ''} />
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

const momentOf = (item: Item): string | null => item.posted_at ?? item.scheduled_for;
const dayOn = (item: Item): string | undefined => {
  const moment = momentOf(item);
  return moment === null ? undefined : dayOf(new Date(moment));
};
const timeOf = (item: Item): string =>
  new Date(momentOf(item) ?? '').toLocaleTimeString('en', {
    hour: '2-digit',
    minute: '2-digit',
    hour12: false,
  });

const dayClass = (is: Readonly<Record<string, boolean>>): string =>
  ['day', ...Object.keys(is).flatMap((name) => (is[name] ? [`day-${name}`] : []))].join(' ');

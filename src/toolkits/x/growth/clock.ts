import { hash } from 'node:crypto';
import type { XSettings } from '../services.ts';

export const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;
export type Weekday = (typeof WEEKDAYS)[number];

type Schedule = XSettings['schedule'];

const AUTO_TIMES = ['09:15', '12:30', '17:00'];
const DAY_MS = 86_400_000;

/** The times of day original posts go out on a weekday; empty: they follow an interval instead. */
export function timesOn(schedule: Schedule, day: Weekday): readonly string[] {
  const times = schedule.preferred_times_override[day] ?? schedule.preferred_times;
  return times === 'auto' ? AUTO_TIMES : [...times].sort();
}

export interface LocalTime {
  /** `2026-02-25` on the wall of that zone. */
  readonly date: string;
  readonly weekday: Weekday;
  readonly hour: number;
  readonly minute: number;
}

export function localTime(at: Date, timeZone: string): LocalTime {
  const parts = new Map(
    formatFor(timeZone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  );
  const part = (name: Intl.DateTimeFormatPartTypes): string => parts.get(name) ?? '';
  return {
    date: `${part('year')}-${part('month')}-${part('day')}`,
    weekday: part('weekday') as Weekday,
    hour: Number(part('hour')),
    minute: Number(part('minute')),
  };
}

export function isActive(at: Date, schedule: Schedule): boolean {
  const { hour, weekday } = localTime(at, schedule.timezone);
  if (!schedule.active_days.includes(weekday)) return false;
  const { active_hours_start: start, active_hours_end: end } = schedule;
  if (start === end) return true;
  return start < end ? hour >= start && hour < end : hour >= start || hour < end;
}

/** The instant a wall-clock time has on a date in a zone; in the spring gap, the instant the gap begins. */
export function instantOf(date: string, time: string, timeZone: string): Date {
  const naive = Date.parse(`${date}T${time}:00Z`);
  // Two rounds settle every zone: the first offset can be wrong only on the day the offset changes.
  let guess = naive - offsetAt(new Date(naive), timeZone);
  guess = naive - offsetAt(new Date(guess), timeZone);
  return new Date(guess);
}

/** When the local day that holds `at` began and ends. */
export function dayOf(at: Date, timeZone: string): { readonly start: Date; readonly end: Date } {
  const { date } = localTime(at, timeZone);
  const next = new Date(Date.parse(`${date}T00:00:00Z`) + DAY_MS).toISOString().slice(0, 10);
  return { start: instantOf(date, '00:00', timeZone), end: instantOf(next, '00:00', timeZone) };
}

function offsetAt(at: Date, timeZone: string): number {
  const { date, hour, minute } = localTime(at, timeZone);
  const wall = Date.parse(`${date}T${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}:00Z`);
  return wall - Math.floor(at.getTime() / 60_000) * 60_000;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatFor(timeZone: string): Intl.DateTimeFormat {
  let format = formats.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      weekday: 'short',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
    });
    formats.set(timeZone, format);
  }
  return format;
}

const SPREAD_MS = 15 * 60_000;
const OPEN_MS = 60 * 60_000;

export interface Slot {
  /** The same for every process on every look. */
  readonly id: string;
  readonly at: Date;
}

/** The slot that is open now: its time has come and an hour has not passed since. */
export function openSlot(now: Date, schedule: XSettings['schedule']): Slot | undefined {
  const { date, weekday } = localTime(now, schedule.timezone);
  return find(now, date, timesOn(schedule, weekday), schedule.timezone);
}

export function openThreadSlot(now: Date, schedule: XSettings['schedule']): Slot | undefined {
  const { date, weekday } = localTime(now, schedule.timezone);
  if (weekday !== schedule.thread_preferred_day) return undefined;
  return find(now, date, [schedule.thread_preferred_time], schedule.timezone);
}

export const hasSlots = (schedule: XSettings['schedule'], days: readonly Weekday[]): boolean =>
  days.some((day) => timesOn(schedule, day).length > 0);

function find(now: Date, date: string, times: readonly string[], timeZone: string): Slot | undefined {
  return times
    .map((time) => slotAt(date, time, timeZone))
    .findLast(({ at }) => at <= now && now.getTime() - at.getTime() < OPEN_MS);
}

/** A quarter of an hour early or late, different each day, but the same for all who look. */
function slotAt(date: string, time: string, timeZone: string): Slot {
  const id = `${date}T${time}`;
  const share = Number.parseInt(hash('sha256', id).slice(0, 8), 16) / 0xffff_ffff;
  const at = instantOf(date, time, timeZone).getTime() + (share * 2 - 1) * SPREAD_MS;
  return { id, at: new Date(at) };
}

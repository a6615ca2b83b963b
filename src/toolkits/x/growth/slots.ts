import { hash } from 'node:crypto';
import type { XSettings } from '../services.ts';
import { instantOf, localTime, timesOn, type Weekday } from './clock.ts';

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

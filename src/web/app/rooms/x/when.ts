/** Where this browser thinks it is; what a person types is meant there. */
export const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

const two = (value: number): string => String(value).padStart(2, '0');

/** A moment as a date-and-time field of this browser shows it. */
export function toLocal(iso: string): string {
  const at = new Date(iso);
  return `${dayOf(at)}T${two(at.getHours())}:${two(at.getMinutes())}`;
}

export const toIso = (local: string): string => new Date(local).toISOString();

/** The day of a moment in this browser's zone, as 2026-03-09. */
export const dayOf = (at: Date): string =>
  `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;

export function addDays(at: Date, days: number): Date {
  const moved = new Date(at);
  moved.setDate(moved.getDate() + days);
  return moved;
}

/** Midnight of the Monday on or before a day. */
export function mondayOf(at: Date): Date {
  const monday = addDays(at, -((at.getDay() + 6) % 7));
  monday.setHours(0, 0, 0, 0);
  return monday;
}

/** The same time of day on another day. */
export function onDay(iso: string, day: string): string {
  return toIso(`${day}T${toLocal(iso).slice(11)}`);
}

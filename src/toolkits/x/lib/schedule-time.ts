import { ToolFault } from '../../../contract/faults.ts';
import { instantOf } from '../growth/clock.ts';

const WITH_ZONE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/u;
const LOCAL = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/u;
const YEAR_MS = 366 * 86_400_000;

/** A time without a zone means the wall clock of `[schedule] timezone`: that is what people write. */
export function scheduleTime(text: string, timeZone: string, now: Date): Date {
  const at = read(text.trim(), timeZone);
  if (!at || Number.isNaN(at.getTime())) {
    throw fault(
      `scheduled_for "${text}" is not a time; write it like 2026-03-01T09:15 or 2026-03-01T09:15:00Z.`,
    );
  }
  if (at <= now) throw fault(`scheduled_for is in the past (${at.toISOString()}).`);
  if (at.getTime() - now.getTime() > YEAR_MS) throw fault('scheduled_for is more than a year ahead.');
  return at;
}

function read(text: string, timeZone: string): Date | undefined {
  const [date, time] = [text.slice(0, 10), text.slice(11, 16)];
  // Catches the 31st of February and the like, which would otherwise roll over.
  const wall = new Date(`${date}T${time}:00Z`);
  if (Number.isNaN(wall.getTime()) || !wall.toISOString().startsWith(`${date}T${time}`)) return undefined;
  if (WITH_ZONE.test(text)) return new Date(text);
  return LOCAL.test(text) ? instantOf(date, time, timeZone) : undefined;
}

const fault = (message: string): ToolFault =>
  new ToolFault('validation_error', message, { detail: { field: 'scheduled_for' } });

import { type PolicySchedule, WEEKDAYS } from '../../contract/policy.ts';

export type InWindow = (now: Date) => boolean;

/** A window that ends at or before it starts passes midnight and belongs to the day on which it opened. */
export function compileSchedule({ start, end, timezone, days }: PolicySchedule): InWindow {
  const from = minutes(start);
  const to = minutes(end);
  const open = WEEKDAYS.map((day) => days.includes(day));
  const local = localClock(timezone);
  return (now) => {
    const { day, minute } = local(now);
    if (from < to) return open[day] === true && minute >= from && minute < to;
    return (open[day] === true && minute >= from) || (open[(day + 6) % 7] === true && minute < to);
  };
}

interface LocalTime {
  /** 0 is Monday. */
  readonly day: number;
  readonly minute: number;
}

const clocks = new Map<string, (now: Date) => LocalTime>();

/** Asking the time zone costs more than all rules together, so the answer is kept for the minute. */
function localClock(timezone: string): (now: Date) => LocalTime {
  const known = clocks.get(timezone);
  if (known) return known;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  let keptMinute = Number.NaN;
  let kept: LocalTime = { day: 0, minute: 0 };
  const clock = (now: Date): LocalTime => {
    const minute = Math.floor(now.getTime() / 60_000);
    if (minute !== keptMinute) {
      const parts = new Map(format.formatToParts(now).map(({ type, value }) => [type, value]));
      const weekday: readonly string[] = WEEKDAYS;
      kept = {
        day: weekday.indexOf(parts.get('weekday') ?? ''),
        minute: Number(parts.get('hour')) * 60 + Number(parts.get('minute')),
      };
      keptMinute = minute;
    }
    return kept;
  };
  clocks.set(timezone, clock);
  return clock;
}

function minutes(time: string): number {
  const [hour, minute] = time.split(':');
  return Number(hour) * 60 + Number(minute);
}

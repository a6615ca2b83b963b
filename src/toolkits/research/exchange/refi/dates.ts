import { qualcoderDate } from '../../lib/dates.ts';

/** QualCoder's local time as the UTC time that REFI-QDA wants, or undefined for what is no date. */
export function toRefiDate(date: string): string | undefined {
  const match = /^(\d{4})-(\d{2})-(\d{2})[ T](\d{2}):(\d{2})(?::(\d{2}))?/.exec(date);
  if (!match) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1).map((part) => Number(part ?? 0));
  const at = new Date(year ?? 0, (month ?? 1) - 1, day, hour, minute, second ?? 0);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString().replace('.000Z', 'Z');
}

/** An XML dateTime as QualCoder's local time, or undefined for what is none. A time without a zone is taken as local. */
export function fromRefiDate(date: string): string | undefined {
  const at = new Date(date.trim());
  const year = at.getFullYear();
  return Number.isNaN(year) || year < 1900 || year > 9999 ? undefined : qualcoderDate(at);
}

import { z } from 'zod';

/** `days` is the documented parameter, `since_hours` the finer one the original had. */
export const days = z.number().int().min(1).max(365).optional().describe('Days back.');
export const sinceHours = z
  .number()
  .int()
  .min(1)
  .max(8760)
  .optional()
  .describe('Hours back, instead of days.');

const HOUR = 3_600_000;

export function sinceOf(now: Date, span: { days?: number; since_hours?: number }, defaultHours = 24): Date {
  const hours = span.since_hours ?? (span.days === undefined ? defaultHours : span.days * 24);
  return new Date(now.getTime() - hours * HOUR);
}

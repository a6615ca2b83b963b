import type { JsonObject } from '../contract/json.ts';
import { CliError } from './context.ts';

/** How long ago, in the largest unit that says something. */
export function age(from: Date, now: Date): string {
  const seconds = Math.max(0, Math.round((now.getTime() - from.getTime()) / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

/** Arguments typed by a person as JSON. */
export function parseArgs(text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new CliError(
      `The arguments are not JSON (${error instanceof Error ? error.message : ''}). Example: --args '{"text":"Hello"}'`,
      2,
    );
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new CliError('The arguments must be a JSON object.', 2);
  return value as JsonObject;
}

/** `7d`, `24h`, `30m` or a number of days, as a point in time. */
export function since(text: string, now: Date): Date {
  const match = /^(\d+)\s*([mhd]?)$/.exec(text);
  if (!match) throw new CliError(`"${text}" is not a time span; use 30m, 24h or 7d.`, 2);
  const unit = { m: 60_000, h: 3_600_000, d: 86_400_000, '': 86_400_000 }[match[2] as 'm' | 'h' | 'd' | ''];
  return new Date(now.getTime() - Number(match[1]) * unit);
}

/** How many rows at most, as a person typed it. */
export function limitOf(text: string | undefined, most = 500): number | undefined {
  if (text === undefined) return undefined;
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 1 || limit > most)
    throw new CliError(`"${text}" is not a number from 1 to ${most}.`, 2);
  return limit;
}

/** `1 post`, `2 posts`. */
export const counted = (number: number, one: string, many = `${one}s`): string =>
  `${number} ${number === 1 ? one : many}`;

/** Ends with a full stop, unless it has an end of its own. */
export const sentence = (text: string): string => (/[.!?:)]$/.test(text) ? text : `${text}.`);

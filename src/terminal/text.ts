import { CliError } from '../contract/command.ts';
import type { JsonObject } from '../contract/json.ts';
import { showUnseen } from '../lib/unseen.ts';

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
      `The arguments are not valid JSON (${error instanceof Error ? error.message : ''}). Example: --args '{"text":"Hello"}'`,
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
  if (!match) throw new CliError(`Invalid duration "${text}". Use a duration such as 30m, 24h or 7d.`, 2);
  const unit = { m: 60_000, h: 3_600_000, d: 86_400_000, '': 86_400_000 }[match[2] as 'm' | 'h' | 'd' | ''];
  return new Date(now.getTime() - Number(match[1]) * unit);
}

/** How many rows at most, as a person typed it. */
export function limitOf(text: string | undefined, most = 500): number | undefined {
  if (text === undefined) return undefined;
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 1 || limit > most)
    throw new CliError(`Invalid number "${text}". Use a number from 1 to ${most}.`, 2);
  return limit;
}

/** `1 post`, `2 posts`. */
export const counted = (number: number, one: string, many = `${one}s`): string =>
  `${number} ${number === 1 ? one : many}`;

/** Ends with a full stop, unless it has an end of its own. */
export const sentence = (text: string): string => (/[.!?:)]$/.test(text) ? text : `${text}.`);

/**
 * Text from elsewhere (posts, titles, memos) must neither steer the terminal nor deceive: escape sequences, direction
 * overrides and characters that are not seen are written out. Line breaks and tabs are kept.
 */
export const plainText = (text: string): string => showUnseen(text.replaceAll('\r\n', '\n'));

/** The same on one line, cut where a row would overflow. */
export function oneLine(text: string, most = 100): string {
  const line = plainText(text).replace(/\s+/g, ' ').trim();
  const signs = [...line];
  return signs.length > most ? `${signs.slice(0, most - 1).join('')}…` : line;
}

/** Wrapped at words for a terminal, each line behind the same margin. */
export function paragraph(text: string, margin = '  ', width = 88): string {
  const lines = plainText(text)
    .split('\n')
    .flatMap((line) => {
      const wrapped: string[] = [];
      const [indent = ''] = /^ */u.exec(line) ?? [];
      let current: string | undefined;
      for (const word of line.slice(indent.length).split(' ')) {
        if (current && current.length + word.length + 1 > width) {
          wrapped.push(current);
          current = word;
        } else current = current === undefined ? `${indent}${word}` : `${current} ${word}`;
      }
      return [...wrapped, current ?? ''];
    });
  return lines.map((line) => `${margin}${line}`.trimEnd()).join('\n');
}

const LEVELS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'] as const;

/** A line of small columns, scaled between the smallest and the largest value; a flat series is drawn in the middle. */
export function sparkline(values: readonly number[]): string {
  if (values.length === 0) return '';
  const low = values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
  const high = values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
  if (high === low) return LEVELS[3].repeat(values.length);
  const top = LEVELS.length - 1;
  return values.map((value) => LEVELS[Math.round(((value - low) / (high - low)) * top)] ?? ' ').join('');
}

/** At most `most` values, each the mean of those it stands for, so that a long series fits on a line. */
export function thinned(values: readonly number[], most: number): number[] {
  if (values.length <= most) return [...values];
  return Array.from({ length: most }, (_, at) => {
    const part = values.slice(
      Math.floor((at * values.length) / most),
      Math.floor(((at + 1) * values.length) / most),
    );
    return part.reduce((sum, value) => sum + value, 0) / part.length;
  });
}

/** A bar in eighths of a character; anything above zero shows at least a sliver. */
export function bar(value: number, max: number, width = 20): string {
  if (value <= 0 || max <= 0) return '';
  const eighths = Math.max(1, Math.round((Math.min(value, max) / max) * width * 8));
  return `${'█'.repeat(Math.floor(eighths / 8))}${EIGHTHS[eighths % 8] ?? ''}`;
}

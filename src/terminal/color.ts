import { lookup } from '../lib/lookup.ts';

const CODES = { red: 31, green: 32, yellow: 33, cyan: 36, bold: 1, dim: 2 } as const;
export type Color = keyof typeof CODES;

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Colour is for terminals, never for pipes. `NO_COLOR` switches it off everywhere, `FORCE_COLOR` on where a program
 * shows our output on a terminal of its own; `FORCE_COLOR=0` switches it off as well.
 */
export function hasColor(
  stream: Pick<NodeJS.WriteStream, 'isTTY'> = process.stdout,
  env: Env = process.env,
): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false';
  return stream.isTTY === true && env.TERM !== 'dumb';
}

export const paint = (color: Color, text: string, isOn = hasColor()): string =>
  isOn && text !== '' ? `\u001b[${CODES[color]}m${text}\u001b[0m` : text;

const STATES: Readonly<Record<string, Color>> = {
  pending: 'cyan',
  approved: 'green',
  executing: 'cyan',
  done: 'green',
  failed: 'red',
  rejected: 'red',
  indeterminate: 'yellow',
  expired: 'dim',
  withdrawn: 'dim',
};

/** The colour of an approval's state, the same in every table. */
export const colorOf = (state: string): Color | undefined => lookup(STATES, state);

const OPENINGS: Readonly<Record<string, Color>> = { 'Error:': 'red', 'Warning:': 'yellow' };

/** A message for stderr with its first word in the colour of what it says. */
export const paintOpening = (text: string): string =>
  text.replace(/^(Error|Warning):/, (word) =>
    paint(lookup(OPENINGS, word) ?? 'bold', word, hasColor(process.stderr)),
  );

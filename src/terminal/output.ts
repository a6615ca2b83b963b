import { showUnseen } from '../lib/unseen.ts';
import { type Color, hasColor, paint, paintOpening } from './color.ts';

/** The only module that writes to stdout: in `mcp serve` stdout is the protocol, so nothing else may. */
export const print = (text: string): void => {
  process.stdout.write(`${readable(text)}\n`);
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with a control character
const COLOURS = /(\u001b\[(?:[012]|3[1-6])m)/u;

/** The last guard for what people read: apart from our own colours, what is not seen is written out. */
const readable = (text: string): string =>
  text
    .split(COLOURS)
    .map((part, at) => (at % 2 === 1 ? part : showUnseen(part)))
    .join('');

/** Text that already ends as it must, byte for byte. */
export const printExact = (text: string | Uint8Array): void => {
  process.stdout.write(text);
};

/** For output without end: waits for a reader that is slower than we are. */
export const printLine = async (text: string): Promise<void> => {
  if (process.stdout.write(`${text}\n`)) return;
  await new Promise<void>((resolve) => process.stdout.once('drain', () => resolve()));
};

// `countersign … | head` closes the pipe early; that is the reader's right and no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

export const printJson = (value: unknown): void => printExact(`${JSON.stringify(value, null, 2)}\n`);

export const printStderr = (text: string): void => {
  process.stderr.write(`${readable(paintOpening(text))}\n`);
};

/** A cell with a colour of its own, which takes no room. */
export interface Painted {
  readonly text: string;
  readonly color: Color | undefined;
}

/** For a table that a person decides by: its cells are not cut. */
export const WHOLE = Number.POSITIVE_INFINITY;

/** Columns aligned for a terminal; long cells are cut so that a row stays a row. */
export function table(
  head: readonly string[],
  rows: readonly (readonly (string | Painted)[])[],
  maxCell = 60,
): string {
  const isOn = hasColor();
  const cut = (cell: string | Painted): Painted => {
    const { text, color } = typeof cell === 'string' ? { text: cell, color: undefined } : cell;
    const line = text.replace(/\s+/g, ' ');
    return { text: line.length > maxCell ? `${line.slice(0, maxCell - 1)}…` : line, color };
  };
  const titles = head.map((text) => ({ text, color: 'dim' as const }));
  const cells = [titles, ...rows].map((row) => row.map(cut));
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.text.length ?? 0)));
  return cells
    .map((row) => {
      const filled = row.findLastIndex(({ text }) => text !== '');
      return row
        .slice(0, filled + 1)
        .map(({ text, color }, column) => {
          const shown = color && isOn ? paint(color, text, true) : text;
          return column === filled
            ? shown.trimEnd()
            : `${shown}${' '.repeat((widths[column] ?? 0) - text.length)}`;
        })
        .join('  ');
    })
    .join('\n');
}

const WIDTH = 24;
const PAUSE_MS = 100;

interface Progress {
  show(message: string, done: number, total: number | undefined): void;
  end(): void;
}

/** Draws a bar on stderr during long work, to keep stdout clean for results; nothing where stderr is not a terminal. */
export function startProgress(
  out: NodeJS.WriteStream = process.stderr,
  now: () => number = Date.now,
): Progress {
  let drawn = false;
  let last = Number.NEGATIVE_INFINITY;
  return {
    show(message, done, total) {
      const complete = total !== undefined && done >= total;
      if (!out.isTTY) return;
      if (now() - last < PAUSE_MS && !complete) return;
      last = now();
      drawn = true;
      out.write(`\r\u001b[K${total ? `${bar(done / total)} ${done}/${total} ` : ''}${message.slice(0, 60)}`);
    },
    end() {
      if (drawn) out.write('\r\u001b[K');
      drawn = false;
    },
  };
}

const bar = (share: number): string => {
  const full = Math.round(Math.min(1, Math.max(0, share)) * WIDTH);
  return `[${'#'.repeat(full)}${'.'.repeat(WIDTH - full)}]`;
};

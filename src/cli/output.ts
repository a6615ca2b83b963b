/** The only module that writes to stdout: in `mcp serve` stdout is the protocol, so nothing else may. */
export const print = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

/** Text that already ends as it must, byte for byte. */
export const printExact = (text: string): void => {
  process.stdout.write(text);
};

// `countersign … | head` closes the pipe early; that is the reader's right and no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

export const printJson = (value: unknown): void => print(JSON.stringify(value, null, 2));

export const complain = (text: string): void => {
  process.stderr.write(`${text}\n`);
};

/** Columns aligned for a terminal; long cells are cut so that a row stays a row. */
export function table(head: readonly string[], rows: readonly (readonly string[])[], maxCell = 60): string {
  const cut = (cell: string): string => {
    const line = cell.replace(/\s+/g, ' ');
    return line.length > maxCell ? `${line.slice(0, maxCell - 1)}…` : line;
  };
  const cells = [head, ...rows].map((row) => row.map(cut));
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

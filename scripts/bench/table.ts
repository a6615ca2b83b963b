export interface Row {
  readonly what: string;
  readonly bare: string;
  readonly ours: string;
  readonly ratio: number;
  readonly budget: number;
  readonly better: 'lower' | 'higher';
  /** Why a machine may miss the budget; printed when it does. */
  readonly note?: string;
}

export const isMet = ({ ratio, budget, better }: Row): boolean =>
  better === 'lower' ? ratio <= budget : ratio >= budget;

export function printRows(rows: readonly Row[]): void {
  const head = ['', 'what', 'compared with', 'ours', 'ratio', 'budget'];
  const cells = rows.map((row) => [
    isMet(row) ? '✓' : '✗',
    row.what,
    row.bare,
    row.ours,
    row.ratio < 10 ? row.ratio.toFixed(2) : Math.round(row.ratio).toString(),
    `${row.better === 'lower' ? '≤' : '≥'} ${row.budget}`,
  ]);
  const all = [head, ...cells];
  const widths = head.map((_, column) => Math.max(...all.map((line) => line[column]?.length ?? 0)));
  for (const line of all)
    process.stdout.write(
      `${line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd()}\n`,
    );
  for (const row of rows)
    if (row.note !== undefined && !isMet(row)) process.stdout.write(`${row.what}: ${row.note}\n`);
}

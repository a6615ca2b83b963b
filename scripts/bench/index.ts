import { existsSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { gatewayRows } from './gateway.ts';
import { kernelRows } from './kernel.ts';
import { logRows } from './log.ts';
import { removeHomes } from './measure.ts';
import { passkeyRows } from './passkeys.ts';
import { researchRows } from './research.ts';
import { suggestionRows } from './suggestions.ts';
import { isMet, printRows, type Row } from './table.ts';
import { tokenRows } from './tokens.ts';

const PARTS = {
  kernel: kernelRows,
  tokens: tokenRows,
  log: logRows,
  passkeys: passkeyRows,
  research: researchRows,
  suggestions: suggestionRows,
  gateway: gatewayRows,
};

if (!existsSync('dist/main.js')) throw new Error('There is no build; run `npm run build` first.');
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !Object.hasOwn(PARTS, name));
if (unknown.length > 0)
  throw new Error(`There is no part ${unknown.join(', ')}; choose from ${Object.keys(PARTS).join(', ')}.`);
const load = (): string => loadavg()[0]?.toFixed(1) ?? '?';
const before = load();
process.stderr.write(
  'Ratios to a bare SDK server measured in the same run, or to the budget itself; absolute figures depend on the machine.\n',
);
const rows: Row[] = [];
try {
  for (const [name, measure] of Object.entries(PARTS))
    if (wanted.length === 0 || wanted.includes(name)) rows.push(...(await measure()));
} finally {
  removeHomes();
}
printRows(rows);
process.stdout.write(
  `\nLoad average ${before} at the start and ${load()} at the end, on ${availableParallelism()} cores.\n`,
);
const missed = rows.filter((row) => !isMet(row));
process.stdout.write(
  missed.length === 0 ? 'Every budget is met.\n' : `${missed.length} of ${rows.length} budgets are missed.\n`,
);

import { existsSync } from 'node:fs';
import { kernelRows } from './kernel.ts';
import { logRows } from './log.ts';
import { removeHomes } from './measure.ts';
import { isMet, printRows, type Row } from './table.ts';
import { tokenRows } from './tokens.ts';

if (!existsSync('dist/main.js')) throw new Error('There is no build; run `npm run build` first.');
process.stderr.write('Ratios to a bare SDK server measured in the same run; absolute figures depend on the machine.\n');
const rows: Row[] = [];
for (const measure of [kernelRows, tokenRows, logRows]) rows.push(...(await measure()));
printRows(rows);
const missed = rows.filter((row) => !isMet(row));
process.stdout.write(missed.length === 0 ? '\nEvery budget is met.\n' : `\n${missed.length} of ${rows.length} budgets are missed.\n`);
removeHomes();

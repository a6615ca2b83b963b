import type { CaseMatrix } from '../../toolkits/research/statistics/case-matrix.ts';
import type { CoOccurrence } from '../../toolkits/research/statistics/co-occurrence.ts';
import type { CodeFrequency } from '../../toolkits/research/statistics/frequencies.ts';
import type { Agreement } from '../../toolkits/research/statistics/reliability.ts';
import { look } from '../act.ts';
import { bar } from '../chart.ts';
import { type GlobalOptions, withApp } from '../context.ts';
import { print, printJson, table } from '../output.ts';
import { oneLine, plainText } from '../plain-text.ts';
import { limitOf } from '../text.ts';

interface Statistics {
  readonly frequencies: readonly CodeFrequency[];
  readonly co_occurrence: readonly CoOccurrence[];
  readonly case_matrix: CaseMatrix;
}

const MEASURES = {
  cohen_kappa: "Cohen's kappa",
  fleiss_kappa: "Fleiss' kappa",
  krippendorff_alpha: "Krippendorff's alpha",
} as const;

export function agreement(
  global: GlobalOptions,
  options: { unit?: string; perSource?: boolean },
): Promise<void> {
  return withApp(global, async (app) => {
    const rows = await look<Agreement[]>(app, 'research', 'agreement', {
      unit: options.unit,
      per_source: options.perSource,
    });
    if (global.json) return printJson(rows);
    if (rows.length === 0)
      return print('There is nothing to compare yet: it takes two coders who coded the same source.');
    const head = [
      'CODE',
      ...(options.perSource ? ['SOURCE'] : []),
      'CODERS',
      'MEASURE',
      'VALUE',
      '95 % INTERVAL',
      'AGREED',
      'UNITS',
    ];
    print(
      table(
        head,
        rows.map((row) => [
          row.code ? oneLine(row.code.name, 40) : 'all codes',
          ...(options.perSource ? [row.source ? oneLine(row.source.name, 30) : 'all'] : []),
          plainText(row.coders.join(', ')),
          MEASURES[row.measure],
          row.value === null ? '-' : fixed(row.value, 3),
          row.interval ? `${fixed(row.interval.low, 2)} to ${fixed(row.interval.high, 2)}` : '-',
          row.observed === null ? '-' : `${(row.observed * 100).toFixed(1)} %`,
          String(Math.round(row.units)),
        ]),
      ),
    );
    for (const note of new Set(rows.flatMap((row) => (row.note ? [row.note] : [])))) print(`\n-: ${note}`);
    print(
      `\nUnits are ${options.unit === 'segment' ? 'sentences' : 'characters'} of sources that each coder worked on. Intervals by bootstrap.`,
    );
  });
}

/** Without the minus that rounding leaves before a nought. */
const fixed = (value: number, digits: number): string => value.toFixed(digits).replace(/^-(?=[0.]*$)/, '');

export function frequencies(global: GlobalOptions): Promise<void> {
  return withApp(global, async (app) => {
    const { frequencies: rows } = await look<Statistics>(app, 'research', 'statistics');
    if (global.json) return printJson(rows);
    if (rows.length === 0) return print('The project has no codes yet.');
    const sorted = [...rows].sort((a, b) => b.segments - a.segments);
    const most = sorted[0]?.segments ?? 0;
    print(
      table(
        ['CODE', 'SEGMENTS', 'SOURCES', 'CHARACTERS', 'SHARE', '', 'BY'],
        sorted.map((row) => [
          oneLine(row.code.name, 40),
          String(row.segments),
          String(row.sources),
          String(row.characters),
          `${(row.share * 100).toFixed(1)} %`,
          bar(row.segments, most, 16),
          plainText(
            Object.entries(row.byCoder)
              .map(([name, count]) => `${name} ${count}`)
              .join(', '),
          ),
        ]),
      ),
    );
  });
}

export function coOccurrence(global: GlobalOptions, options: { limit?: string }): Promise<void> {
  return withApp(global, async (app) => {
    const { co_occurrence: all } = await look<Statistics>(app, 'research', 'statistics');
    if (global.json) return printJson(all);
    if (all.length === 0) return print('No two codes meet in the same text.');
    const rows = all.slice(0, limitOf(options.limit, 100_000) ?? 50);
    print(
      table(
        ['CODE', 'CODE', 'TOGETHER', 'EXACT', 'WITHIN', 'OVERLAP', 'COEFFICIENT', ''],
        rows.map((row) => [
          oneLine(row.first.name, 40),
          oneLine(row.second.name, 40),
          String(row.together),
          String(row.exact),
          String(row.inclusion),
          String(row.overlap),
          row.coefficient.toFixed(2),
          bar(row.coefficient, 1, 12),
        ]),
      ),
    );
    if (rows.length < all.length) print(`\n${all.length - rows.length} more; --limit shows them.`);
  });
}

/** Code × case. */
export function caseMatrix(global: GlobalOptions, options: { characters?: boolean }): Promise<void> {
  return withApp(global, async (app) => {
    const { case_matrix: matrix } = await look<Statistics>(app, 'research', 'statistics');
    if (global.json) return printJson(matrix);
    if (matrix.cases.length === 0) return print('The project has no cases.');
    if (matrix.codes.length === 0) return print('The project has no codes yet.');
    const cells = options.characters ? matrix.characters : matrix.segments;
    print(
      table(
        ['CODE', ...matrix.cases.map(({ name }) => oneLine(name, 20))],
        matrix.codes.map((code, row) => [
          oneLine(code.name, 40),
          ...matrix.cases.map((_, column) => String(cells[row]?.[column] ?? 0)),
        ]),
      ),
    );
    print(`\n${options.characters ? 'Coded characters' : 'Coded segments'} in the text of each case.`);
  });
}

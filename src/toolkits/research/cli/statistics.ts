import type { CommandHost } from '../../../contract/command.ts';
import { print, printJson, table } from '../../../terminal/output.ts';
import { bar, counted, limitOf, oneLine, plainText } from '../../../terminal/text.ts';
import { views } from '../views.ts';

const MEASURES = {
  cohen_kappa: "Cohen's kappa",
  fleiss_kappa: "Fleiss' kappa",
  krippendorff_alpha: "Krippendorff's alpha",
} as const;

export function agreement(host: CommandHost, options: { unit?: string; perSource?: boolean }): Promise<void> {
  return host.open(async (app) => {
    const rows = await app.view(views, 'agreement', {
      unit: options.unit,
      per_source: options.perSource,
    });
    if (host.options.json) return printJson(rows);
    if (rows.length === 0)
      return print('Nothing to compare yet: two coders must have coded the same source.');
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
      `\nUnits are ${options.unit === 'segment' ? 'sentences' : 'characters'} of sources that each coder worked on. Intervals are bootstrapped.`,
    );
  });
}

/** Removes the minus sign that rounding can leave before a zero. */
const fixed = (value: number, digits: number): string => value.toFixed(digits).replace(/^-(?=[0.]*$)/, '');

export function frequencies(host: CommandHost): Promise<void> {
  return host.open(async (app) => {
    const { frequencies: rows } = await app.view(views, 'statistics');
    if (host.options.json) return printJson(rows);
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

export function coOccurrence(host: CommandHost, options: { limit?: string }): Promise<void> {
  return host.open(async (app) => {
    const { co_occurrence: all } = await app.view(views, 'statistics');
    if (host.options.json) return printJson(all);
    if (all.length === 0) return print('No codes co-occur.');
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
    if (rows.length < all.length)
      print(`\n${counted(all.length - rows.length, 'more pair')}. Use --limit to show them.`);
  });
}

/** Code × case. */
export function caseMatrix(host: CommandHost, options: { characters?: boolean }): Promise<void> {
  return host.open(async (app) => {
    const { case_matrix: matrix } = await app.view(views, 'statistics');
    if (host.options.json) return printJson(matrix);
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

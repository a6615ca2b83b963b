import { indexText } from '../../project/source-text.ts';
import type { SourceText } from '../../project/types.ts';
import { tidyText } from '../documents/read-document.ts';
import type { RefiTextSelection } from './model.ts';

/** How a program counted positions in a text. The standard leaves line ends and byte order marks open, and programs differ. */
interface Reading {
  readonly lineEnds: 'one' | 'two';
  readonly countsMark: boolean;
  readonly unit: 'codepoint' | 'utf16';
  /** The end is the last character itself, as the wording of the standard can be read. */
  readonly inclusive: boolean;
}

export interface ReadPositions {
  /** The text as it is stored: LF line ends, no byte order mark. */
  readonly text: SourceText;
  place(selection: { readonly start: number; readonly end: number }): {
    readonly start: number;
    readonly end: number;
  };
  /** What was unusual about the counting, in words for the report. */
  readonly remarks: readonly string[];
}

/** Finds the counting under which the quoted texts stand where the selections say. */
export function readPositions(
  raw: string,
  selections: readonly RefiTextSelection[],
  origin: string,
): ReadPositions {
  const text = indexText(tidyText(raw));
  const readings = possibleReadings(raw, origin);
  const quoted = selections.filter(({ name }) => squeeze(name).length >= 3).slice(0, 300);
  const mappings = readings.map((reading) => ({ reading, place: mapping(raw, text, reading) }));
  let best = mappings[0] ?? {
    reading: readings[0] ?? USUAL,
    place: (span: { start: number; end: number }) => span,
  };
  let most = -1;
  for (const candidate of mappings) {
    const score = quoted.reduce((sum, item) => sum + fitness(text, candidate.place(item), item.name), 0);
    // Only more evidence than the usual counting has may change it.
    if (score > most) [best, most] = [candidate, score];
  }
  return { text, place: best.place, remarks: remarksOn(best.reading, raw) };
}

const USUAL: Reading = { lineEnds: 'one', countsMark: false, unit: 'codepoint', inclusive: false };

/** The likeliest first. Only readings that differ for this text are tried. */
function possibleReadings(raw: string, origin: string): Reading[] {
  const hasCrlf = raw.includes('\r\n');
  // ATLAS.ti counts a line end as one character even where its file has two; NVivo and MAXQDA count two.
  const usualEnds = hasCrlf && !/atlas/i.test(origin) ? 'two' : 'one';
  const lineEnds: Reading['lineEnds'][] = hasCrlf
    ? usualEnds === 'two'
      ? ['two', 'one']
      : ['one', 'two']
    : ['one'];
  const marks = raw.startsWith('\ufeff') ? [false, true] : [false];
  const units: Reading['unit'][] = /[\ud800-\udbff]/.test(raw) ? ['codepoint', 'utf16'] : ['codepoint'];
  return [false, true].flatMap((inclusive) =>
    units.flatMap((unit) =>
      marks.flatMap((countsMark) =>
        lineEnds.map((ends) => ({ lineEnds: ends, countsMark, unit, inclusive })),
      ),
    ),
  );
}

function mapping(raw: string, text: SourceText, reading: Reading) {
  const counted = reading.lineEnds === 'two' ? raw.replace(/^\ufeff/, '') : text.value;
  const indexed = counted === text.value ? text : indexText(counted);
  // Where the counted text has characters that the stored one lacks (CR, zero), positions move back by as many.
  const dropped: number[] = [];
  if (counted !== text.value)
    for (const match of counted.matchAll(/\r(?=\n)|\0/g)) dropped.push(indexed.fromUnits(match.index));
  const before = (position: number) => {
    let low = 0;
    let high = dropped.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((dropped[middle] ?? 0) < position) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const one = (position: number) => {
    const bare = position - (reading.countsMark ? 1 : 0);
    const points = reading.unit === 'utf16' ? indexed.fromUnits(Math.max(0, bare)) : bare;
    return points - before(points);
  };
  return ({ start, end }: { start: number; end: number }) => ({
    start: one(start),
    end: one(end + (reading.inclusive ? 1 : 0)),
  });
}

/** 2: the quote is exactly there; 1: it begins there (quotes are often cut); 0: it is elsewhere. */
function fitness(text: SourceText, { start, end }: { start: number; end: number }, quote: string): number {
  if (!(start >= 0 && end <= text.length && start < end)) return 0;
  const there = squeeze(text.slice(start, end));
  const wanted = squeeze(quote).replace(/(\.\.\.|…)$/, '');
  if (there === wanted) return 2;
  return there.startsWith(wanted) && wanted.length >= 10 ? 1 : 0;
}

const squeeze = (text: string): string => text.replace(/[\s\u2028\u2029]+/gu, ' ').trim();

function remarksOn(reading: Reading, raw: string): string[] {
  const remarks: string[] = [];
  if (raw.startsWith('\ufeff'))
    remarks.push(
      reading.countsMark
        ? 'Removed a byte order mark that positions had counted'
        : 'Removed a byte order mark',
    );
  if (raw.includes('\r')) {
    const counted = reading.lineEnds === 'two' ? 'two characters' : 'one';
    remarks.push(`Changed line ends to LF; positions had counted them as ${counted}`);
  }
  if (reading.unit === 'utf16') remarks.push('Positions had counted UTF-16 units instead of characters');
  if (reading.inclusive) remarks.push('Positions had named the last character instead of the end');
  return remarks;
}

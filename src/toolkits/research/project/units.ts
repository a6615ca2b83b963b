import { countBelow, type IndexedText } from './source-text.ts';

/**
 * How a project counts positions. What a person marks in QualCoder is counted by Qt (`utf16`; `qt` when the text
 * has CRLF line ends, which Qt holds as one character); what its programs add is counted in code points.
 */
export type StoredUnit = 'codepoint' | 'utf16' | 'qt';

export interface StoredRange {
  readonly pos0: number;
  readonly pos1: number;
}

export interface Anchored {
  readonly start: number;
  readonly end: number;
  readonly unit: StoredUnit;
  readonly anchored: boolean;
}

/** The readings that differ for this text, the one to use without evidence first. */
function readingsOf(text: IndexedText): readonly StoredUnit[] {
  // Without evidence UTF-16 is right: QualCoder's own page highlights by Qt positions.
  const units: StoredUnit[] = text.plain ? ['codepoint'] : ['utf16', 'codepoint'];
  return text.crlf.length > 0 ? [...units, 'qt'] : units;
}

export function encodePosition(text: IndexedText, unit: StoredUnit, position: number): number {
  if (unit === 'codepoint') return position;
  const index = text.toUnits(position);
  return unit === 'utf16' ? index : index - countBelow(text.crlf, index);
}

/** Undefined when no code point starts there: beyond the text, or inside a surrogate pair. */
function decodePosition(text: IndexedText, unit: StoredUnit, stored: number): number | undefined {
  const position = decodeRoughly(text, unit, stored);
  const exact = position >= 0 && position <= text.length && encodePosition(text, unit, position) === stored;
  return exact ? position : undefined;
}

/** The unit most rows prove; rows that fit several readings prove nothing. */
export function settleUnit(
  text: IndexedText,
  rows: () => Iterable<StoredRange & { readonly seltext: string }>,
): StoredUnit {
  const readings = readingsOf(text);
  const [first = 'codepoint'] = readings;
  if (readings.length === 1) return first;
  const votes = new Map(readings.map((unit) => [unit, 0]));
  for (const row of rows()) {
    const fitting = readings.filter((unit) => fits(text, unit, row, row.seltext));
    // Where all readings agree, or the same text stands at two places, a row is no evidence.
    const places = new Set(fitting.map((unit) => rangeKey(text, unit, row)));
    if (places.size !== 1 || fitting.length === readings.length) continue;
    for (const unit of fitting) votes.set(unit, (votes.get(unit) ?? 0) + 1);
  }
  return [...votes].reduce((best, vote) => (vote[1] > best[1] ? vote : best))[0];
}

/** Where a stored row really is: the reading in which its text stands there, the settled one first. */
export function locate(text: IndexedText, settled: StoredUnit, row: StoredRange, seltext: string): Anchored {
  const order = [settled, ...readingsOf(text).filter((unit) => unit !== settled)];
  for (const same of [exactly, ignoringLineEnds]) {
    for (const unit of order) {
      const range = decodeRange(text, unit, row);
      if (range && same(text.slice(range.start, range.end), seltext))
        return { ...range, unit, anchored: true };
    }
  }
  return { ...decodeLoosely(text, settled, row), unit: settled, anchored: false };
}

/** A range without its text (annotations, case texts): the settled unit, or a whole file in any unit. */
export function locateBlind(
  text: IndexedText,
  settled: StoredUnit,
  row: StoredRange,
): { start: number; end: number } {
  const wholes = readingsOf(text).map((unit) => encodePosition(text, unit, text.length));
  if (row.pos0 === 0 && wholes.includes(row.pos1)) return { start: 0, end: text.length };
  return decodeRange(text, settled, row) ?? decodeLoosely(text, settled, row);
}

/** Ways to store a range that `locate` reads back as exactly this range, the settled unit first. */
export function* encodings(
  text: IndexedText,
  settled: StoredUnit,
  start: number,
  end: number,
): Generator<StoredRange> {
  const seltext = text.slice(start, end);
  for (const unit of [settled, ...readingsOf(text).filter((other) => other !== settled)]) {
    const row = { pos0: encodePosition(text, unit, start), pos1: encodePosition(text, unit, end) };
    const back = locate(text, settled, row, seltext);
    if (back.anchored && back.start === start && back.end === end) yield row;
  }
}

function decodeRoughly(text: IndexedText, unit: StoredUnit, stored: number): number {
  if (unit === 'codepoint') return stored;
  if (unit === 'utf16') return text.fromUnits(stored);
  return text.fromUnits(stored + crlfBefore(text.crlf, stored));
}

/** CRLF pairs in front of a Qt position: the nth one starts at Qt position `index - n`. */
function crlfBefore(crlf: Uint32Array, position: number): number {
  let low = 0;
  let high = crlf.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((crlf[middle] ?? 0) - middle < position) low = middle + 1;
    else high = middle;
  }
  return low;
}

function decodeRange(text: IndexedText, unit: StoredUnit, row: StoredRange) {
  const start = decodePosition(text, unit, row.pos0);
  const end = decodePosition(text, unit, row.pos1);
  return start === undefined || end === undefined || end < start ? undefined : { start, end };
}

function decodeLoosely(text: IndexedText, unit: StoredUnit, row: StoredRange) {
  const clamp = (stored: number) =>
    Math.min(Math.max(decodeRoughly(text, unit, Math.max(stored, 0)), 0), text.length);
  const start = clamp(row.pos0);
  return { start, end: Math.max(start, clamp(row.pos1)) };
}

const fits = (text: IndexedText, unit: StoredUnit, row: StoredRange, seltext: string) => {
  const range = decodeRange(text, unit, row);
  return range !== undefined && ignoringLineEnds(text.slice(range.start, range.end), seltext);
};

const rangeKey = (text: IndexedText, unit: StoredUnit, row: StoredRange) => {
  const range = decodeRange(text, unit, row);
  return `${range?.start}-${range?.end}`;
};

const exactly = (a: string, b: string) => a === b;
const ignoringLineEnds = (a: string, b: string) => a === b || unifyLineEnds(a) === unifyLineEnds(b);

/** Qt gives line breaks in a selection as U+2029. */
export const unifyLineEnds = (text: string) => text.replace(/\r\n|[\r\u2028\u2029]/g, '\n');

import type { SourceText } from '../project/types.ts';

/**
 * A text with arithmetic in code points. JavaScript strings count UTF-16 units; the two differ by one for every
 * character beyond U+FFFF before the position, so only the places of those characters are kept.
 */
export interface IndexedText extends SourceText {
  /** True when code points and UTF-16 units are the same everywhere. */
  readonly plain: boolean;
  /** UTF-16 indices of the CR of each CRLF pair, which Qt counts as one character. */
  readonly crlf: Uint32Array;
}

export function indexText(value: string): IndexedText {
  const astral = findAstral(value);
  const length = value.length - astral.length;
  const toUnits = (position: number) => position + countBelow(astral, position);
  const fromUnits = (index: number) => index - countUnitsBelow(astral, index);
  let crlf: Uint32Array | undefined;
  return {
    value,
    length,
    plain: astral.length === 0,
    get crlf() {
      crlf ??= findCrlf(value);
      return crlf;
    },
    toUnits,
    fromUnits,
    slice: (start, end) => value.slice(toUnits(start), toUnits(end)),
  };
}

/** How many items of a sorted list are smaller than `limit`. */
export function countBelow(sorted: Uint32Array, limit: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The nth astral character starts at unit `position + n`: a position inside a pair falls back to its start. */
function countUnitsBelow(astral: Uint32Array, index: number): number {
  let low = 0;
  let high = astral.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((astral[middle] ?? 0) + middle < index) low = middle + 1;
    else high = middle;
  }
  return low;
}

const SURROGATE = /[\ud800-\udbff][\udc00-\udfff]/g;

function findAstral(value: string): Uint32Array {
  const found: number[] = [];
  for (const match of value.matchAll(SURROGATE)) found.push(match.index - found.length);
  return Uint32Array.from(found);
}

function findCrlf(value: string): Uint32Array {
  const found: number[] = [];
  for (let at = value.indexOf('\r\n'); at !== -1; at = value.indexOf('\r\n', at + 2)) found.push(at);
  return Uint32Array.from(found);
}

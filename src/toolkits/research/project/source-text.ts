import type { SourceText } from './types.ts';

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

export const indexText = (value: string): IndexedText =>
  withAstral(value, Uint32Array.from(findAstral(value)));

/** Characters that are worth a step of their own. */
const JOINED = 100_000;

/**
 * Indexes a long text piece by piece. No piece ends within a character. Small pieces are joined on the way: joining
 * half a million of them at the end would keep other work waiting.
 */
export class TextBuilder {
  readonly #parts: string[] = [];
  readonly #astral: Uint32Array[] = [];
  #small: string[] = [];
  #smallLength = 0;
  #length = 0;
  #count = 0;

  add(piece: string): void {
    this.#small.push(piece);
    this.#smallLength += piece.length;
    if (this.#smallLength >= JOINED) this.#join();
  }

  text(): IndexedText {
    this.#join();
    const astral = new Uint32Array(this.#count);
    let at = 0;
    for (const part of this.#astral) {
      astral.set(part, at);
      at += part.length;
    }
    return withAstral(this.#parts.join(''), astral);
  }

  #join(): void {
    const part = this.#small.join('');
    const found = findAstral(part, this.#length - this.#count);
    this.#parts.push(part);
    this.#astral.push(Uint32Array.from(found));
    this.#length += part.length;
    this.#count += found.length;
    this.#small = [];
    this.#smallLength = 0;
  }
}

function withAstral(value: string, astral: Uint32Array): IndexedText {
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

/** Positions in code points; `before` is that of the first character. */
function findAstral(value: string, before = 0): number[] {
  const found: number[] = [];
  for (const match of value.matchAll(SURROGATE)) found.push(before + match.index - found.length);
  return found;
}

function findCrlf(value: string): Uint32Array {
  const found: number[] = [];
  for (let at = value.indexOf('\r\n'); at !== -1; at = value.indexOf('\r\n', at + 2)) found.push(at);
  return Uint32Array.from(found);
}

const two = (value: number) => String(value).padStart(2, '0');

/** As QualCoder writes dates: local time, to the second. */
export function qualcoderDate(at: Date): string {
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/** `yyyymmdd`, the day in the name of a backup folder. */
export const backupDay = (at: Date) => `${at.getFullYear()}${two(at.getMonth() + 1)}${two(at.getDate())}`;

/** `yyyymmdd_HH`, as QualCoder names its backups. */
export const backupStamp = (at: Date) => `${backupDay(at)}_${two(at.getHours())}`;

/** Not shown and not part of any word: tells apart two sources that must have the same name for different readers. */
export const JOINER = '\u2060';

export const shownName = (name: string): string => name.replace(/\u2060+$/, '');

import { lookup } from '../../../../lib/lookup.ts';

/** The text of a Taguette document, with the way from its positions to ours. */
export interface TaguetteText {
  readonly text: string;
  /** UTF-16 index in `text` of a position that Taguette counts in UTF-8 bytes of the text nodes; an end stays before a break of ours. */
  fromBytes(offset: number, edge?: 'start' | 'end'): number;
}

interface Piece {
  /** Where the piece begins: in bytes as Taguette counts, and in `text`. */
  readonly bytes: number;
  readonly at: number;
  readonly value: string;
}

const TOKEN = /<!--[\s\S]*?-->|<(\/?)([a-zA-Z][a-zA-Z0-9]*)\b[^>]*>|[^<]+|</gu;
const BLOCK = /^(?:p|div|h[1-6]|li|ul|ol|tr|table|blockquote|pre|br|hr|section|article|header|footer)$/i;
const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
};

/**
 * Reads the HTML that Taguette stores. Text nodes are kept as they are; where two blocks touch, a line break that Taguette does not
 * count is put between them, because a text without line breaks has no paragraphs.
 */
export function textOfHtml(html: string): TaguetteText {
  const pieces: Piece[] = [];
  let text = '';
  let bytes = 0;
  let breaks = false;
  for (const [token, , tag] of html.matchAll(TOKEN)) {
    if (tag !== undefined) {
      if (BLOCK.test(tag)) breaks = text !== '';
      continue;
    }
    if (token.startsWith('<!--')) continue;
    const value = decode(token);
    if (breaks && !/\s$/u.test(text) && !/^[\n\r]/u.test(value)) text += '\n';
    breaks = false;
    // As the project stores it: line feeds only.
    const stored = value.replace(/\r\n?/g, '\n');
    pieces.push({ bytes, at: text.length, value });
    text += stored;
    bytes += Buffer.byteLength(value);
  }
  return { text, fromBytes: (offset, edge = 'start') => locate(pieces, offset, edge, text.length) };
}

function locate(pieces: readonly Piece[], offset: number, edge: 'start' | 'end', end: number): number {
  const last = edge === 'start' ? offset : offset - 1;
  let low = 0;
  let high = pieces.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((pieces[middle]?.bytes ?? 0) <= last) low = middle + 1;
    else high = middle;
  }
  const piece = pieces[low - 1];
  if (!piece) return 0;
  const before = Buffer.from(piece.value)
    .subarray(0, offset - piece.bytes)
    .toString('utf8');
  return Math.min(end, piece.at + before.replace(/\r\n?/g, '\n').length);
}

const decode = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z]+));/g, (whole, decimal, hex, name) => {
    if (name !== undefined) return lookup(ENTITIES, String(name)) ?? whole;
    const point = Number.parseInt(String(decimal ?? hex), decimal === undefined ? 16 : 10);
    return point > 0 && point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff)
      ? String.fromCodePoint(point)
      : whole;
  });

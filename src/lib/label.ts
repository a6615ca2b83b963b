/** Longer than any name a person reads in a table. */
export const MAX_LABEL = 120;

/** Control characters, which no name needs: PostgreSQL stores no NUL, and a terminal obeys the others. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/g;

/** Almost every name: nothing in it can need cleaning. */
const PRINTABLE = /^[ -~]*$/;

/** Text that a client wrote for people, as both engines can store it: it keeps its lines. */
export const cleanText = (text: string, max: number): string =>
  text.slice(0, max).toWellFormed().replaceAll('\u0000', '\u{fffd}');

/**
 * A name that a client chose, as both engines can store it: without control characters, in valid Unicode, and cut at
 * `max` characters.
 */
export function cleanLabel(text: string, max: number = MAX_LABEL): string {
  if (text.length <= max && PRINTABLE.test(text)) return text;
  // Cut first: a cut can split a surrogate pair.
  return text.slice(0, max).toWellFormed().replace(CONTROL, '\u{fffd}');
}

/** About a paragraph: small enough that words in it belong together, large enough to keep the index small. */
const TARGET = 300;
const LONGEST = 600;

/** Consecutive UTF-16 ranges of a text that together hold every word of it once; a word is never cut. */
export function* passages(value: string): Generator<{ readonly start: number; readonly end: number }> {
  let start = 0;
  while (start < value.length) {
    const end = cut(value, start);
    yield { start, end };
    start = end;
  }
}

function cut(value: string, start: number): number {
  if (value.length - start <= LONGEST) return value.length;
  const line = value.indexOf('\n', start + TARGET);
  if (line !== -1 && line - start < LONGEST) return line + 1;
  const window = value.slice(start + TARGET, start + LONGEST);
  const sentence = Math.max(...['. ', '? ', '! ', '。', '！', '？'].map((mark) => window.lastIndexOf(mark)));
  const space = sentence >= 0 ? sentence + 1 : window.lastIndexOf(' ');
  if (space >= 0) return start + TARGET + space + 1;
  // Text without spaces (Chinese, a very long word): cut anywhere but inside a surrogate pair.
  const low = value.charCodeAt(start + LONGEST);
  return start + LONGEST + (low >= 0xdc00 && low <= 0xdfff ? 1 : 0);
}

/**
 * Text from elsewhere (posts, titles, memos) must not steer the terminal: control characters, escape sequences and
 * direction overrides are shown as a replacement, line breaks and tabs are kept.
 */
export const plainText = (text: string): string =>
  text
    .replace(/\r\n?/g, '\n')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is the point
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '\ufffd');

/** The same on one line, cut where a row would overflow. */
export function oneLine(text: string, most = 100): string {
  const line = plainText(text).replace(/\s+/g, ' ').trim();
  const signs = [...line];
  return signs.length > most ? `${signs.slice(0, most - 1).join('')}…` : line;
}

/** Wrapped at words for a terminal, each line behind the same margin. */
export function paragraph(text: string, margin = '  ', width = 88): string {
  const lines = plainText(text)
    .split('\n')
    .flatMap((line) => {
      const wrapped: string[] = [];
      let current = '';
      for (const word of line.split(' ')) {
        if (current && current.length + word.length + 1 > width) {
          wrapped.push(current);
          current = word;
        } else current = current ? `${current} ${word}` : word;
      }
      return [...wrapped, current];
    });
  return lines.map((line) => `${margin}${line}`.trimEnd()).join('\n');
}

/** How many lines the file grows by; a final line break does not begin another line. */
export const lineDelta = (before: string, after: string): number => countLines(after) - countLines(before);

function countLines(text: string): number {
  const body = text.replaceAll('\r\n', '\n').replace(/\n$/, '');
  return text === '' ? 0 : body.split('\n').length;
}

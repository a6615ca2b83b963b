/** How an explanation quotes a segment of another source; see `nearestSegments`. */
const QUOTED = /(?:; )?near to a segment of (.+?), \d+–\d+: “[\s\S]*?”(?=; near to a segment of |\.?$)/giu;

/**
 * A stored explanation without the segments it quotes from sources that have been put off limits since. `isHidden` is asked with the
 * name of the source, as it stands there.
 */
export function withoutHiddenQuotes(text: string, isHidden: (source: string) => boolean): string {
  const rest = text.replace(QUOTED, (clause, source: string) => (isHidden(source) ? '' : clause));
  if (rest === text) return text;
  const left = rest.replace(/^(?:; )?\.?/u, '');
  return left === '' ? 'The evidence is no longer available.' : left.charAt(0).toUpperCase() + left.slice(1);
}

/** The beginning of a passage on one line, for a summary. */
export function excerpt(text: string, longest = 120): string {
  const line = text.replace(/\s+/g, ' ').trim();
  const points = [...line];
  return points.length <= longest ? line : `${points.slice(0, longest).join('').trimEnd()}…`;
}

const LEVELS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'] as const;

/** A line of small columns, scaled between the smallest and the largest value; a flat series is drawn in the middle. */
export function sparkline(values: readonly number[]): string {
  if (values.length === 0) return '';
  const low = values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
  const high = values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
  if (high === low) return LEVELS[3].repeat(values.length);
  const top = LEVELS.length - 1;
  return values.map((value) => LEVELS[Math.round(((value - low) / (high - low)) * top)] ?? ' ').join('');
}

/** At most `most` values, each the mean of those it stands for, so that a long series fits on a line. */
export function thinned(values: readonly number[], most: number): number[] {
  if (values.length <= most) return [...values];
  return Array.from({ length: most }, (_, at) => {
    const part = values.slice(
      Math.floor((at * values.length) / most),
      Math.floor(((at + 1) * values.length) / most),
    );
    return part.reduce((sum, value) => sum + value, 0) / part.length;
  });
}

/** A bar in eighths of a character; anything above zero shows at least a sliver. */
export function bar(value: number, max: number, width = 20): string {
  if (value <= 0 || max <= 0) return '';
  const eighths = Math.max(1, Math.round((Math.min(value, max) / max) * width * 8));
  return `${'█'.repeat(Math.floor(eighths / 8))}${EIGHTHS[eighths % 8] ?? ''}`;
}

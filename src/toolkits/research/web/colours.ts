/** Distinguishable by most eyes, on light and on dark; new codes take them in turn. */
const COLOURS = [
  '#4477AA',
  '#EE6677',
  '#228833',
  '#CCBB44',
  '#66CCEE',
  '#AA3377',
  '#EE7733',
  '#009988',
  '#CC3311',
  '#8866CC',
] as const;

export const newColour = (count: number): string => COLOURS[count % COLOURS.length] ?? COLOURS[0];

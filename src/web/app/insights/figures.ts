export const plain = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 1 });

export const milliseconds = (value: number): string => `${plain(value)} ms`;

/** Single calls cost parts of a cent. */
export const dollars = (value: number): string =>
  `$${value.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: Math.abs(value) < 1 ? 3 : 2 })}`;

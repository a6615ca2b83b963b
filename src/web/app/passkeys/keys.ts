/** Grouped in fours, as people compare them. */
export const readable = (fingerprint: string): string =>
  fingerprint.match(/.{1,4}/g)?.join(' ') ?? fingerprint;

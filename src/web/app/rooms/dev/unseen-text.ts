const UNSEEN = /[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\u{e0001}-\u{e007f}]/gu;

/** Code that reads one way and runs another is an old trick: characters nobody sees are written out by their codes. */
export const showUnseen = (text: string): string =>
  text.replace(UNSEEN, (found) => `⟦U+${found.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}⟧`);

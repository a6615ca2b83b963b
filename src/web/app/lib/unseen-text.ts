/**
 * Characters that change how text looks or reads without being seen: direction marks and overrides, zero-width and
 * filler characters, tags that carry hidden text, and controls. Joiners and the plain variation selectors stay, because
 * scripts and emoji need them; so do tabs and line ends.
 */
export const UNSEEN =
  /(?!\u200c|\u200d|[\ufe00-\ufe0f])\p{Default_Ignorable_Code_Point}|[\u2028\u2029\ufff9-\ufffb]|[^\P{Cc}\t\n\r]/gu;

export const codeOf = (found: string): string =>
  `U+${found.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;

/** Code that reads one way and runs another is an old trick: characters nobody sees are written out by their codes. */
export const showUnseen = (text: string): string => text.replace(UNSEEN, (found) => `⟦${codeOf(found)}⟧`);

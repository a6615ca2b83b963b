/**
 * Characters that a reader does not see, or that change how the text around them is seen: controls, line separators,
 * direction marks, zero-width and filler characters, tags that carry hidden text, variation selectors, private use and
 * half surrogate pairs. Tabs and line ends stay, and so does what scripts and emoji need: a joiner after a letter of a
 * script that has joined forms, or between two emoji, and the selector right after an emoji.
 */
const SCRIPTS = 'Arab Syrc Mong Nkoo Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Khmr Mymr';
const JOINED = SCRIPTS.replace(/\w+ ?/gu, (name) => String.raw`\p{sc=${name.trim()}}`);
const NEEDED = [
  String.raw`(?<=[${JOINED}])[\u200c\u200d]`,
  String.raw`(?<=\p{Extended_Pictographic}\ufe0f?|\p{Emoji_Modifier})\u200d(?=\p{Extended_Pictographic})`,
  String.raw`(?<=\p{Extended_Pictographic}|\p{Emoji_Modifier})[\ufe0e\ufe0f]`,
  String.raw`(?<=[0-9#*])\ufe0f(?=\u20e3)`,
  String.raw`\r(?=\n)`,
].join('|');
export const UNSEEN = new RegExp(
  String.raw`(?!${NEEDED}|[\t\n])[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}]`,
  'gu',
);

/** `U+202E`. */
export const codeOf = (found: string): string =>
  `U+${found.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;

const written = (found: string): string => `‹${codeOf(found)}›`;

/** Text as a person can judge it: what would not be seen is written out by its code, such as ‹U+202E›. */
export const showUnseen = (text: string): string => text.replace(UNSEEN, written);

/** The same for what has one line: a line break in it would let the text draw further lines. */
export const showUnseenLine = (text: string): string => showUnseen(text).replace(/[\r\n]/gu, written);

import { lookup } from '../../../lib/lookup.ts';
import type { Pseudonym } from './pseudonyms.ts';

/** A form in which a name occurs, and what stands for it. */
interface NameForm {
  readonly text: string;
  readonly pseudonym: string;
  /** Only as it is written: no endings, no other separators. */
  readonly exact: boolean;
}

/** A form that several people share, or that cannot be looked up, must not show either. */
const UNKNOWN = '[name]';

/** Shorter parts are initials, particles and titles. */
const SHORTEST_PART = 3;
const SHORTEST_IN_ADDRESS = 4;

/** Scripts that put no spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;
/** A letter next to which a name is part of a longer word; “Anna” in “我叫Anna” is not. */
const LETTER = `(?!${UNSPACED.source})[\\p{L}\\p{M}]`;
/** Endings of the genitive, dative and other cases in languages that inflect names; none that makes another name of it. */
const ENDINGS = 's|es|n|en|ns|ens|em|sche[mnrs]?|ov|ova|ou|om|ovi|owi|lle|lla|llä|lta|ltä|sta|stä|ssa|ssä';
/** A short name with any ending is soon another word. */
const SHORT_ENDINGS = 's|ens';
const SHORT = 4;

export const fold = (text: string) => text.normalize('NFC').toLowerCase().replace(/\s+/g, ' ');

/** Parts of a full name that stand for the person alone: “Anna” and “Schmidt” for “Anna Schmidt”. */
export function partsOf({ original, exact }: Pseudonym): string[] {
  if (exact) return [];
  const parts = original.split(/[\s\-–.,'’/]+/u).filter((part) => [...part].length >= SHORTEST_PART);
  return parts[0] === original.trim() ? [] : parts;
}

/** All forms of all names, the longest first; a part that two people share belongs to neither. */
function formsOf(names: readonly Pseudonym[]): NameForm[] {
  const forms = new Map<string, NameForm>();
  for (const name of names) {
    const { original, pseudonym, exact = false, variants = [] } = name;
    forms.set(fold(original), { text: original, pseudonym, exact });
    for (const variant of variants) forms.set(fold(variant), { text: variant, pseudonym, exact });
  }
  const whole = new Set(forms.keys());
  for (const name of names) {
    for (const part of partsOf(name)) {
      const key = fold(part);
      if (whole.has(key)) continue;
      const other = forms.get(key);
      const pseudonym = other && other.pseudonym !== name.pseudonym ? UNKNOWN : name.pseudonym;
      forms.set(key, { text: part, pseudonym, exact: false });
    }
  }
  return [...forms.values()].sort((a, b) => b.text.length - a.text.length);
}

export interface FoundName {
  readonly index: number;
  readonly length: number;
  readonly to: string;
}

export type NameFinder = (text: string) => readonly FoundName[];

/** Finds names in a text. Undefined for no names. */
export function nameFinder(names: readonly Pseudonym[]): NameFinder | undefined {
  const forms = formsOf(names);
  if (forms.length === 0) return undefined;
  const findWords = wordFinder(forms);
  const inCompounds = new RegExp(
    forms.map((form) => `(${form.exact ? '(?!)' : compoundPattern(form)})`).join('|'),
    'gu',
  );
  return (text) => {
    const found = findWords(text);
    if (!COMPOUND.test(text)) return found;
    for (const match of text.matchAll(inCompounds))
      found.push({
        index: match.index,
        length: match[0].length,
        to: forms[groupOf(match)]?.pseudonym ?? UNKNOWN,
      });
    return joinOverlapping(found);
  };
}

/** In “InterviewAnna Schmidt” the word “Schmidt” is found, and “Anna Schmidt” in the compound: one name covers both. */
function joinOverlapping(found: FoundName[]): FoundName[] {
  const joined: FoundName[] = [];
  for (const name of found.sort((a, b) => a.index - b.index)) {
    const last = joined.at(-1);
    if (last === undefined || name.index >= endOf(last)) joined.push(name);
    else joined.splice(-1, 1, { ...last, length: Math.max(endOf(last), endOf(name)) - last.index });
  }
  return joined;
}

const endOf = ({ index, length }: FoundName): number => index + length;

/** The group of a pattern that matched, from 0. */
const groupOf = (match: RegExpMatchArray): number =>
  match.findIndex((group, index) => index > 0 && group !== undefined) - 1;

function wordFinder(forms: readonly NameForm[]): (text: string) => FoundName[] {
  const plain = forms.map((form) => `(${patternOf(form)})`).join('|');
  const pattern = new RegExp(plain, 'giu');
  const withAddresses = new RegExp(`${plain}|(?<![\\p{L}\\p{N}._%+-])([\\p{L}\\p{N}._%+-]+)(?=@)`, 'giu');
  const inAddress = forms
    .filter(({ text, exact }) => !exact && [...text].length >= SHORTEST_IN_ADDRESS)
    .flatMap(({ text, pseudonym }) =>
      [text, ...plainForms(text)].map((form) => ({ text: fold(form), pseudonym })),
    );
  return (text) =>
    [...text.matchAll(text.includes('@') ? withAddresses : pattern)].flatMap((match) => {
      const local = fold(match[0]);
      const to =
        forms[groupOf(match)]?.pseudonym ?? inAddress.find((part) => local.includes(part.text))?.pseudonym;
      return to === undefined ? [] : [{ index: match.index, length: match[0].length, to }];
    });
}

function patternOf({ text, exact }: NameForm): string {
  return spellingsOf(text, exact)
    .map((spelling) => spellingPattern(spelling, exact))
    .join('|');
}

const spellingsOf = (text: string, exact: boolean): readonly string[] => [
  ...new Set([text.normalize('NFC'), text.normalize('NFD'), ...(exact ? [] : plainForms(text))]),
];

/**
 * File names are written “InterviewAnnaSchmidt”: only capitals say where a name begins and ends. A letter of another script, which
 * has no capitals, says so too: “Anna는”.
 */
const COMPOUND = /[^\P{L}\p{Lu}]\p{M}*[^\P{L}\p{Ll}]/u;

function compoundPattern({ text }: NameForm): string {
  const capital = text.replace(
    /([\p{L}])([\p{L}\p{M}]*)/gu,
    (_, first: string, rest: string) =>
      first.toUpperCase() + (/\p{Ll}/u.test(rest) ? rest : rest.toLowerCase()),
  );
  const spelled = spellingsOf(capital, false)
    .map((spelling) => lettersOf(spelling))
    .join('|');
  return `(?<!\\p{Lu}\\p{M}*)(?:${spelled})s?(?![\\p{Ll}\\p{M}])`;
}

/** Addresses, file names and typists write “Mueller” and “Muller” for “Müller”. */
function plainForms(text: string): string[] {
  const spelled = text
    .normalize('NFC')
    .replace(/[äöüßæøåÄÖÜÆØÅ]/gu, (letter) => lookup(SPELLED, letter.toLowerCase()) ?? letter);
  return [withoutMarks(spelled), withoutMarks(text.replace(/ß/gu, 'ss').replace(/ø/giu, 'o'))];
}

const SPELLED: Readonly<Record<string, string>> = {
  ä: 'ae',
  ö: 'oe',
  ü: 'ue',
  ß: 'ss',
  æ: 'ae',
  ø: 'oe',
  å: 'aa',
};

const withoutMarks = (text: string): string =>
  text
    .normalize('NFD')
    .replace(/\p{M}+/gu, '')
    .normalize('NFC');

/** Copied and scanned texts hyphenate, visibly at the end of a line or not. */
const HYPHENATION = '(?:[\\u00ad\\u200b-\\u200d\\u2060]|-\\r?\\n\\s*)?';

/** File names and addresses write “Anna_Schmidt”, “anna.schmidt” and “AnnaSchmidt”. */
const lettersOf = (text: string, between = '[\\s._-]*'): string =>
  text
    .split(/\s+/u)
    .map((word) => [...word].map((sign) => sign.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join(HYPHENATION))
    .join(between);

function spellingPattern(text: string, exact: boolean): string {
  const joined = lettersOf(text, exact ? '\\s+' : undefined);
  if (UNSPACED.test(text)) return joined;
  const last = [...(text.split(/\s+/u).at(-1) ?? '')].length;
  const ending = exact ? '' : `(?:${last < SHORT ? SHORT_ENDINGS : ENDINGS})?`;
  return `(?<!${LETTER})${joined}${ending}(?!${LETTER})`;
}

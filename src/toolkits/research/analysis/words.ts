import { stem } from './stem.ts';
import { isStopWord } from './stop-words.ts';

/** A word of a text; `start` and `end` are UTF-16 indices into the string it was read from. */
export interface Word {
  readonly text: string;
  /** Lower case, without accents, stemmed: what is compared and indexed. */
  readonly stem: string;
  readonly start: number;
  readonly end: number;
}

// Scripts written without spaces give one word per character; a phrase of them is then found as a run of words.
export const wordPattern =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:['’][\p{L}\p{N}]+)*/gu;
const PLAIN = /^[a-z0-9]+$/;

export function wordsOf(text: string): Word[] {
  const found: Word[] = [];
  for (const match of text.matchAll(wordPattern)) {
    const word = match[0];
    found.push({
      text: word,
      stem: stem(normalize(word)),
      start: match.index,
      end: match.index + word.length,
    });
  }
  return found;
}

/** The stems alone, in order: faster where positions are not needed. */
export function stemsOf(text: string): string[] {
  return (text.match(wordPattern) ?? []).map((word) => stem(normalize(word)));
}

/** Stems that say something: no stop words, unless nothing else is there. */
export function contentStems(text: string): string[] {
  const words = wordsOf(text);
  const telling = words.filter((word) => !isStopWord(normalize(word.text)));
  return (telling.length ? telling : words).map((word) => word.stem);
}

export function normalize(word: string): string {
  const lower = word.toLowerCase();
  if (PLAIN.test(lower)) return lower;
  return lower
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replaceAll('’', "'");
}

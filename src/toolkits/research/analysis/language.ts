import { isStopWord } from './stop-words.ts';

/** Enough words to tell a language by. */
const ENOUGH = 60;

/**
 * Whether the sentence model, which knows English only, can read these texts. Every other word of an English text is one of its small
 * words; other languages share only a few of them. A few words tell nothing and pass.
 */
export function isEnglish(texts: readonly string[]): boolean {
  let words = 0;
  let small = 0;
  for (const text of texts) {
    for (const [word] of text.toLowerCase().matchAll(/[\p{L}']+/gu)) {
      words += 1;
      if (isStopWord(word)) small += 1;
    }
    if (words >= 20 * ENOUGH) break;
  }
  return words < ENOUGH || small / words >= 0.2;
}

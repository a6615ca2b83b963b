import { stem } from '../analysis/stem.ts';
import { normalize, wordPattern } from '../analysis/words.ts';

/**
 * Articles, pronouns, prepositions and forms of "be". Negations stay: "not clear" and "clear" get different codes, and leaving "not"
 * out costs two points of accuracy on real projects.
 */
const SMALL = new Set(
  `a an the i me my mine myself you your yours yourself he him his himself she her hers herself it its itself we us our ours
ourselves they them their theirs themselves this that these those who whom which whose of in on at by for with from to into onto about as
is am are was were be been being i'm i've it's that's there's he's she's we're you're they're and or s t`.split(
    /\s+/,
  ),
);

export interface Terms {
  readonly words: readonly string[];
  /** Pairs of neighbouring words of one sentence, small words left out. */
  readonly pairs: readonly string[];
}

/** The terms of a text: lower case, without accents, stemmed. */
export function termsOf(text: string): Terms {
  const words: string[] = [];
  const pairs: string[] = [];
  let last: { term: string; end: number } | undefined;
  for (const match of text.matchAll(wordPattern)) {
    const term = termOf(match[0]);
    if (term === '') continue;
    words.push(term);
    if (last && !/[.!?…\n]/.test(text.slice(last.end, match.index))) pairs.push(`${last.term} ${term}`);
    last = { term, end: match.index + match[0].length };
  }
  return { words, pairs };
}

/** Texts repeat their words, and stemming one takes longer than finding it again. */
const known = new Map<string, string>();
const MOST_KNOWN = 50_000;

/** Empty for a small word. */
function termOf(word: string): string {
  const before = known.get(word);
  if (before !== undefined) return before;
  const plain = normalize(word);
  const term = SMALL.has(plain) ? '' : stem(plain);
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(word, term);
  return term;
}

const SHORTEST = 3;
const LONGEST = 5;

/** The words of a text whose letter sequences count, as they are compared. */
export function plainWords(text: string): string[] {
  return (text.match(wordPattern) ?? []).map(normalize).filter((word) => !SMALL.has(word));
}

/** Letter sequences of a word, its edges marked: they match word families, compounds and misspelt words. */
export function gramsOf(word: string): string[] {
  const grams: string[] = [];
  const marked = `_${word}_`;
  for (let size = SHORTEST; size <= LONGEST; size += 1)
    for (let at = 0; at + size <= marked.length; at += 1) grams.push(marked.slice(at, at + size));
  return grams;
}

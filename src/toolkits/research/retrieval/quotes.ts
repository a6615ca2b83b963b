import { Pace } from '../analysis/pace.ts';
import type { PrivacyView } from '../privacy/privacy-view.ts';
import type { SourceText } from '../project/types.ts';

export interface QuotePlace {
  readonly sourceId: number;
  readonly start: number;
  readonly end: number;
  /** 1: the same words in the same order, regardless of case, spaces and quotation marks. */
  readonly similarity: number;
}

/** Below this another sentence is meant. */
const LEAST_SIMILAR = 0.8;
/** A few words are in many places by chance. */
const FEWEST_FOR_GUESS = 5;

interface Word {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Where a quote stands. Words decide, not characters: transcripts are copied with other spaces, quotes and case. */
export async function findQuote(
  lens: PrivacyView,
  quote: string,
  sourceIds: readonly number[],
  signal?: AbortSignal,
): Promise<QuotePlace[]> {
  const words = [...wordsOf(quote)];
  const wanted = words.map(({ text }) => text);
  if (wanted.length === 0) return [];
  const around = {
    before: quote.slice(0, words[0]?.start).trimStart(),
    after: quote.slice(words.at(-1)?.end).trimEnd(),
  };
  const pace = new Pace(signal);
  const exact: QuotePlace[] = [];
  const similar: QuotePlace[] = [];
  for (const id of sourceIds) {
    if (!lens.reader.source(id)?.hasText) continue;
    const { text, original } = await lens.shownInSlices(id, pace);
    for (const match of await matchesIn(text.value, wanted, pace)) {
      const { similarity } = match;
      const { start, end } = withMarks(text.value, match, around);
      // Agents quote what they read, in which names are replaced.
      const place = { sourceId: id, ...original(inPoints(text, start, end)), similarity };
      (similarity === 1 && match.inOrder ? exact : similar).push(place);
    }
  }
  if (exact.length > 0 || wanted.length < FEWEST_FOR_GUESS) return exact;
  return similar.sort((a, b) => b.similarity - a.similarity);
}

/** A sentence is quoted with its full stop, also within the quotation marks of the one who quotes it. */
function withMarks(
  value: string,
  { start, end }: Pick<Match, 'start' | 'end'>,
  { before, after }: { readonly before: string; readonly after: string },
): { readonly start: number; readonly end: number } {
  let [left, right] = [0, 0];
  while (left < before.length && value[start - left - 1] === before.at(-left - 1)) left += 1;
  while (right < after.length && value[end + right] === after[right]) right += 1;
  return {
    start: start - value.slice(start - left, start).trimStart().length,
    end: end + value.slice(end, end + right).trimEnd().length,
  };
}

const inPoints = (text: SourceText, start: number, end: number) => ({
  start: text.fromUnits(start),
  end: text.fromUnits(end),
});

function* wordsOf(text: string): Generator<Word> {
  for (const { 0: word, index } of text.matchAll(/[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}]+)*/gu))
    yield {
      text: word.normalize('NFC').toLowerCase().replaceAll('’', "'"),
      start: index,
      end: index + word.length,
    };
}

interface Match {
  readonly start: number;
  readonly end: number;
  readonly similarity: number;
  readonly inOrder: boolean;
}

/** The words of the quote one after the other, and the best places where most of them stand together: a misquoted passage. */
async function matchesIn(value: string, wanted: readonly string[], pace: Pace): Promise<Match[]> {
  const size = wanted.length;
  const shared = new SharedWords(wanted);
  /** The last words read, as many as the quote has. */
  const window: Word[] = [];
  const exact: Match[] = [];
  const similar: Match[] = [];
  for (const word of wordsOf(value)) {
    if (pace.isDue) await pace.rest();
    window.push(word);
    shared.add(word.text, 1);
    if (window.length > size) shared.add(window.shift()?.text ?? '', -1);
    const similarity = shared.count / size;
    if (window.length < size || similarity < LEAST_SIMILAR) continue;
    const range = { start: window[0]?.start ?? 0, end: word.end, similarity };
    if (similarity === 1 && window.every(({ text }, at) => text === wanted[at]))
      exact.push({ ...range, inOrder: true });
    const last = similar.at(-1);
    if (!last || last.end <= range.start) similar.push({ ...range, inOrder: false });
    else if (similarity > last.similarity) similar[similar.length - 1] = { ...range, inOrder: false };
  }
  return exact.length > 0 ? exact : similar;
}

/** How many words of a quote are among others, each as often as the quote has it. */
class SharedWords {
  readonly #limits = new Map<string, number>();
  readonly #have = new Map<string, number>();
  count = 0;

  constructor(wanted: readonly string[]) {
    for (const word of wanted) this.#limits.set(word, (this.#limits.get(word) ?? 0) + 1);
  }

  add(word: string, by: 1 | -1): void {
    const limit = this.#limits.get(word);
    if (limit === undefined) return;
    const before = this.#have.get(word) ?? 0;
    this.#have.set(word, before + by);
    this.count += Math.min(before + by, limit) - Math.min(before, limit);
  }
}

import { normalize, wordsOf } from '../analysis/words.ts';
import { excerpt } from '../tools/shapes.ts';
import { CHANNELS, type Channel } from './channels.ts';
import type { Reading, SuggestionModel } from './model.ts';
import { termsOf } from './terms.ts';
import type { StoredPassage } from './training.ts';

const MOST_WORDS = 3;
const MOST_QUOTES = 2;
const QUOTE = 90;
/** Below this a word or a passage is in common by chance. */
const TELLING_SHARE = 0.01;
const NEAR = 0.08;

/** Why a code is suggested, strongest first: words of the passage, the question it answers, the nearest coded segments. */
export function explain(model: SuggestionModel, reading: Reading, code: number): string {
  const parts = [
    wordsOfExamples(model, reading, code),
    wordsOfDefinition(model, reading, code),
    questionAnswered(model, reading, code),
    ...nearestSegments(model, reading, code),
  ].filter((part) => part !== undefined);
  if (parts.length === 0) parts.push(background(model, reading, code));
  const [first = '', ...rest] = parts;
  return `${[first.charAt(0).toUpperCase() + first.slice(1), ...rest].join('; ')}.`;
}

function wordsOfExamples(model: SuggestionModel, reading: Reading, code: number): string | undefined {
  const shares = model.channels.telling('words', reading.features, code);
  const ids = shares.filter(({ share }) => share >= TELLING_SHARE).map(({ id }) => id);
  const own = model.passagesOf(code).filter((passage) => !reading.without.has(passage));
  const telling = ids
    .filter((id) => own.some(({ features }) => features.words.ids.includes(id)))
    .slice(0, MOST_WORDS);
  const words = surfaceOf(model, reading.body, telling);
  if (words.length === 0) return undefined;
  const holding = own.filter(({ features }) => telling.some((id) => features.words.ids.includes(id)));
  const documents = new Set(holding.map(({ sourceId }) => sourceId)).size;
  return `${quoted(words)} ${words.length === 1 ? 'is' : 'are'} in ${counted(holding.length, 'segment')} with this code in ${counted(documents, 'source')}`;
}

function wordsOfDefinition(model: SuggestionModel, reading: Reading, code: number): string | undefined {
  const ids = model.channels.telling('memo', reading.features, code).map(({ id }) => id);
  const words = surfaceOf(model, reading.body, ids.slice(0, MOST_WORDS));
  if (words.length === 0) return undefined;
  const name = new Set(termsOf(model.codes[code]?.name ?? '').words);
  const isName = ids.slice(0, MOST_WORDS).every((id) => name.has(model.vocabulary.termOf(id)));
  return `${quoted(words)} ${words.length === 1 ? 'is' : 'are'} in the code's name${isName ? '' : ' or memo'}`;
}

/** Only where the guide really speaks for the code: it is among the two strongest channels. */
function questionAnswered(model: SuggestionModel, reading: Reading, code: number): string | undefined {
  if (!reading.question.trim() || !strongest(model, reading, code, 2).includes('question')) return undefined;
  const asked = (text: string) => termsOf(text).words.join(' ');
  const same = model
    .passagesOf(code)
    .filter(
      (passage) => !reading.without.has(passage) && asked(passage.question) === asked(reading.question),
    );
  if (same.length === 0) return undefined;
  return `follows “${excerptOf(reading.question)}”, as ${counted(same.length, 'segment')} with this code`;
}

function nearestSegments(model: SuggestionModel, reading: Reading, code: number): string[] {
  return model.channels
    .nearest(reading.features, code, reading.without)
    .filter(({ similarity }) => similarity >= NEAR)
    .slice(0, MOST_QUOTES)
    .flatMap(({ passage }) => {
      const { sourceId, start, end } = passage as StoredPassage;
      const document = model.document(sourceId);
      if (!document) return [];
      const words = excerptOf(document.text.slice(start, end));
      return [`near to a segment of ${document.name}, ${start}–${end}: “${words}”`];
    });
}

function background(model: SuggestionModel, reading: Reading, code: number): string {
  const [first] = strongest(model, reading, code, 1);
  if (first === 'place') return 'the code is often given at this part of a source; no word speaks for it';
  if (first === 'before' || first === 'themeBefore' || first === 'question')
    return 'what precedes the passage is like what precedes this code elsewhere; no word of it speaks for the code';
  return 'the code is frequent in this project; no word of the passage speaks for it';
}

function strongest(model: SuggestionModel, reading: Reading, code: number, most: number): Channel[] {
  const shares = model.contributions(reading.scores, code);
  const of = (at: number) => shares?.[at] ?? reading.scores[at]?.[code] ?? 0;
  return [...CHANNELS.keys()]
    .filter((at) => of(at) > 0)
    .sort((a, b) => of(b) - of(a))
    .slice(0, most)
    .flatMap((at) => CHANNELS[at] ?? []);
}

/** The terms as they stand in the passage. */
function surfaceOf(model: SuggestionModel, body: string, ids: readonly number[]): string[] {
  const forms = new Map<string, string>();
  for (const { text } of wordsOf(body)) {
    const [term] = termsOf(text).words;
    if (term !== undefined && !forms.has(term))
      forms.set(term, normalize(text) === text ? text : text.toLowerCase());
  }
  return ids.flatMap((id) => forms.get(model.vocabulary.termOf(id)) ?? []);
}

/** Cut between words: half a name would not be recognised as one. */
function excerptOf(text: string): string {
  const line = excerpt(text, QUOTE);
  if (!line.endsWith('…')) return line;
  const space = line.lastIndexOf(' ');
  return space > QUOTE / 2 ? `${line.slice(0, space)}…` : line;
}

const quoted = (words: readonly string[]): string => words.map((word) => `“${word}”`).join(', ');
const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

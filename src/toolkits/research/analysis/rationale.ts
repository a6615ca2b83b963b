import type { Evidence } from './score.ts';

const quote = (words: readonly string[]): string => words.map((word) => `“${word}”`).join(', ');
const EXCERPT = 80;
/** Standard deviations above the average of all codes. */
const STANDS_OUT = 1.5;

/** The evidence in a sentence or two, strongest first, so that a person can check it against the text. */
export function explain(evidence: Evidence): string {
  const parts: string[] = [];
  const { name, memo, typical, meaning, contrast = 0, nearest } = evidence;
  if (name.words.length)
    parts.push(`${quote(name.words)} ${name.whole ? 'matches' : 'matches part of'} the code's name`);
  const near = nearest.filter(({ similarity }) => similarity >= 0.5).slice(0, 2);
  for (const { example, similarity } of near) {
    parts.push(
      `close in meaning (${similarity.toFixed(2)}) to coding ${example.codingId} in ${example.sourceName}: “${excerpt(example.text)}”`,
    );
  }
  if (typical.words.length)
    parts.push(`${quote(typical.words)} ${be(typical.words)} typical of this code's earlier codings`);
  if (memo.words.length) parts.push(`${quote(memo.words)} ${be(memo.words)} in the code's memo`);
  if (meaning !== undefined && meaning >= 0.3)
    parts.push(
      contrast >= STANDS_OUT
        ? `the text is closer in meaning to the code than to the others (${meaning.toFixed(2)})`
        : `the text is close in meaning to the code (${meaning.toFixed(2)})`,
    );
  if (parts.length === 0) return 'Nothing in the text or in earlier codings speaks for this code.';
  const [first = '', ...rest] = parts;
  return `${[first.charAt(0).toUpperCase() + first.slice(1), ...rest].join('; ')}.`;
}

const be = (words: readonly string[]): string => (words.length === 1 ? 'is' : 'are');

function excerpt(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > EXCERPT ? `${[...line].slice(0, EXCERPT - 1).join('')}…` : line;
}

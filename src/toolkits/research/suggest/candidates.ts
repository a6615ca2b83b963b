import { sentenceSegments } from '../analysis/segments.ts';
import type { Span } from '../statistics/frequencies.ts';
import { isOnlyAsked, promptAt, type ReadDocument } from './document.ts';

/** Sentences are joined until there is enough to say what they are about. */
const ENOUGH = 90;
const SHORTEST = 12;
const ASKS = /[?？؟][\s"”’')\]]*$/u;

/** A piece of a document that may deserve a code, in code points. */
export interface Candidate extends Span {
  readonly paragraph: number;
}

/** The pieces of a range that could be coded: within a paragraph and one speaker's turn, without what interviewers ask. */
export function candidatesIn(document: ReadDocument, range: Span): Candidate[] {
  const { text } = document;
  const found: Candidate[] = [];
  let open: (Candidate & { readonly speaker: string | undefined }) | undefined;
  let paragraph = 0;
  const close = () => {
    if (open && open.end - open.start >= SHORTEST && /\p{L}/u.test(text.slice(open.start, open.end)))
      found.push({ start: open.start, end: open.end, paragraph: open.paragraph });
    open = undefined;
  };
  for (const segment of sentenceSegments(text, range)) {
    const isNext =
      open !== undefined &&
      open.speaker === segment.speaker &&
      !/[\n\r\u2028\u2029]/u.test(text.slice(open.end, segment.start));
    if (!isNext) {
      close();
      paragraph += 1;
    }
    if (isQuestion(document, segment)) {
      close();
      continue;
    }
    open = { start: open?.start ?? segment.start, end: segment.end, paragraph, speaker: segment.speaker };
    if (open.end - open.start >= ENOUGH) close();
  }
  close();
  return found;
}

/** What interviewers say, and a line that is a question or a heading of the guide as a whole. */
function isQuestion(document: ReadDocument, span: Span): boolean {
  if (isOnlyAsked(document, span)) return true;
  const { text } = document;
  const start = text.toUnits(span.start);
  const isPrompt = text.toUnits(span.end) <= (promptAt(document, start)?.end ?? -1);
  return isPrompt && (ASKS.test(text.slice(span.start, span.end)) || document.headings.has(start));
}

/** True where two ranges share at least half of the shorter one. */
export function isSame(a: Span, b: Span): boolean {
  const shared = Math.min(a.end, b.end) - Math.max(a.start, b.start);
  return shared > 0 && 2 * shared >= Math.min(a.end - a.start, b.end - b.start);
}

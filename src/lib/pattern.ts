import { setImmediate } from 'node:timers/promises';
import type { RE2JS } from 're2js';

/** Instructions that a pattern may compile to; repeats count as often as they repeat. */
const MOST_INSTRUCTIONS = 1_000;
/** Instructions times characters of one search: below a second in the worst case, a few milliseconds in most. */
const MOST_STEPS = 20_000_000;
const LONGEST_WINDOW = 200_000;
/** Longer matches may be missed in a text that is longer than its window. */
const LONGEST_MATCH = 10_000;
const MOST_MATCHES = 20_000;
const MOST_SEARCH_MS = 5_000;
/** Other calls are answered between searches. */
const SHARE_MS = 15;
/** Names and numbers of a result, which are searched in any case. */
const SHORT = 200;
const MOST_COMPILED = 500;

/** A pattern that is invalid or too large, or a text that is too long for it. */
export class PatternError extends Error {}

/** What one evaluation may still cost. */
export interface SearchBudget {
  steps: number;
}
export const searchBudget = (): SearchBudget => ({ steps: MOST_STEPS });

/** What masking one result may still cost. */
export interface MaskBudget {
  matches: number;
  searchMs: number;
  sharedAt: number;
}
export const maskBudget = (): MaskBudget => ({
  matches: MOST_MATCHES,
  searchMs: MOST_SEARCH_MS,
  sharedAt: performance.now(),
});

/** A regular expression in the syntax of RE2, which takes time in proportion to the text. */
export interface Pattern {
  /** True where some part of the text matches. Throws when the text is too long for what is left of the budget. */
  test(text: string, budget: SearchBudget): boolean;
  /** The text with every match replaced. What is left when the budget is used up is left out, because it may match. */
  mask(text: string, by: string, budget: MaskBudget): Promise<string>;
}

export type CompilePattern = (source: string) => Pattern;

let loaded: Promise<CompilePattern> | undefined;

/** The engine is loaded here and nowhere else: most configurations have no pattern. */
export function loadPatterns(): Promise<CompilePattern> {
  loaded ??= import('re2js').then(({ RE2JS }) => {
    const known = new Map<string, Pattern>();
    return (source) => {
      const pattern = known.get(source) ?? compile(RE2JS, source);
      if (known.size >= MOST_COMPILED) known.clear();
      known.set(source, pattern);
      return pattern;
    };
  });
  return loaded;
}

function compile(engine: typeof RE2JS, source: string): Pattern {
  let expression: RE2JS;
  try {
    expression = engine.compile(source);
  } catch (error) {
    throw new PatternError(`is not a regular expression of RE2: ${(error as Error).message}`, {
      cause: error,
    });
  }
  const size = expression.programSize();
  if (size > MOST_INSTRUCTIONS)
    throw new PatternError(
      `is too large: it has ${size} instructions, and the maximum is ${MOST_INSTRUCTIONS}; repeat less often`,
    );
  return {
    test(text, budget) {
      budget.steps -= (text.length + 1) * size;
      if (budget.steps < 0)
        throw new PatternError(
          `a text of ${text.length} characters is too long for a regular expression of ${size} instructions`,
        );
      return expression.test(text);
    },
    mask: (text, by, budget) => mask(expression, windowOf(size), text, by, budget),
  };
}

const windowOf = (size: number): number => Math.min(LONGEST_WINDOW, Math.floor(MOST_STEPS / size));

/**
 * Searches window by window, because one search must stay short. A match counts where the window shows all that it could
 * become; otherwise the next window begins with it. One that fills a window has no end in sight, so the rest is replaced.
 */
async function mask(
  expression: RE2JS,
  window: number,
  text: string,
  by: string,
  budget: MaskBudget,
): Promise<string> {
  if (isSpent(budget) && text.length > SHORT) return restOf(text, 0);
  let shown = '';
  let copied = 0;
  let at = 0;
  for (;;) {
    // What precedes decides whether a word or the text begins here.
    const base = Math.max(0, at - 2);
    const part = text.slice(base, at + window);
    const isLast = base + part.length === text.length;
    const certain = isLast ? text.length : at + window - LONGEST_MATCH;
    const matcher = expression.matcher(part);
    let next = certain;
    let found = timed(budget, () => expression.test(part) && matcher.find(at - base));
    for (; found; found = timed(budget, () => matcher.find())) {
      const [start, end] = [base + matcher.start(), base + matcher.end()];
      if (!isLast && (start >= certain || end === base + part.length)) {
        if (start === at) return shown + text.slice(copied, start) + by;
        next = start;
        break;
      }
      if (end === start) continue;
      shown += text.slice(copied, start) + by;
      copied = end;
      budget.matches -= 1;
      if (isSpent(budget) && text.length > SHORT) return shown + restOf(text, copied);
      await share(budget);
    }
    if (isLast) return shown + text.slice(copied);
    if (isSpent(budget)) return shown + text.slice(copied, at) + restOf(text, at);
    at = Math.max(next, copied);
    await share(budget);
  }
}

const isSpent = ({ matches, searchMs }: MaskBudget): boolean => matches <= 0 || searchMs <= 0;

const restOf = (text: string, from: number): string =>
  from === text.length
    ? ''
    : `[masked: the last ${text.length - from} characters, which took too long to search]`;

function timed<T>(budget: MaskBudget, search: () => T): T {
  const start = performance.now();
  const result = search();
  budget.searchMs -= performance.now() - start;
  return result;
}

async function share(budget: MaskBudget): Promise<void> {
  if (performance.now() - budget.sharedAt < SHARE_MS) return;
  await setImmediate();
  budget.sharedAt = performance.now();
}

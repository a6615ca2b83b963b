import { Worker } from 'node:worker_threads';
import { ToolError } from '../../../contract/errors.ts';
import type { SourceText } from '../project/types.ts';
import { Pace } from './pace.ts';
import { segmentsNear } from './segments.ts';

export interface PatternQuery {
  readonly pattern: string;
  /** `exact`: whole words; `contains`: anywhere; `regex`: a JavaScript regular expression with the `u` flag. */
  readonly match: 'exact' | 'contains' | 'regex';
  readonly caseSensitive?: boolean;
  readonly scope?: 'all' | 'first' | 'last';
  /** What is given back: the match itself, or the sentence or paragraph it stands in. */
  readonly unit?: 'match' | 'sentence' | 'paragraph';
}

export interface PatternHit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export interface PatternOptions {
  readonly signal?: AbortSignal;
  /** Longest a regular expression may take on one text. */
  readonly limitMs?: number;
}

const LONGEST_PATTERN = 1000;
const MOST_HITS = 20_000;

/** Where a pattern occurs in each text, in code points. A regular expression runs in a thread of its own that can be stopped. */
export async function searchPattern(
  texts: Iterable<SourceText> | AsyncIterable<SourceText>,
  query: PatternQuery,
  options: PatternOptions = {},
): Promise<PatternHit[][]> {
  const expression = compile(query);
  // Literals cannot run away: they were escaped and hold no repetition.
  const runner = query.match === 'regex' ? new RegexThread(expression, options.limitMs ?? 3000) : undefined;
  const found: PatternHit[][] = [];
  const pace = new Pace(options.signal);
  try {
    for await (const text of texts) {
      options.signal?.throwIfAborted();
      const ranges = runner
        ? await runner.run(text.value, options.signal)
        : await matches(expression, text.value, pace);
      found.push(await toUnit(text, choose(ranges, query.scope ?? 'all'), query.unit ?? 'match', pace));
    }
  } finally {
    await runner?.close();
  }
  return found;
}

type Range = readonly [number, number];

function compile(query: PatternQuery): RegExp {
  const { pattern, match, caseSensitive } = query;
  if (pattern.trim() === '') throw new ToolError('validation_error', 'pattern is empty.');
  if (pattern.length > LONGEST_PATTERN) {
    throw new ToolError(
      'validation_error',
      `pattern has ${pattern.length} characters; the maximum is ${LONGEST_PATTERN}.`,
    );
  }
  const flags = caseSensitive ? 'gu' : 'giu';
  if (match === 'regex') {
    try {
      return new RegExp(pattern, flags);
    } catch (error) {
      throw new ToolError(
        'validation_error',
        `pattern is not a regular expression: ${(error as Error).message}`,
        { cause: error },
      );
    }
  }
  // A space in the pattern also finds a line break or several spaces.
  const literal = pattern
    .trim()
    .replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
    .replace(/\s+/g, '\\s+');
  return new RegExp(
    match === 'exact' ? `(?<![\\p{L}\\p{M}\\p{N}_])${literal}(?![\\p{L}\\p{M}\\p{N}_])` : literal,
    flags,
  );
}

async function matches(expression: RegExp, value: string, pace: Pace): Promise<Range[]> {
  const found: Range[] = [];
  for (const match of value.matchAll(expression)) {
    if (match[0].length > 0) found.push([match.index, match.index + match[0].length]);
    if (found.length >= MOST_HITS) break;
    if (pace.isDue) await pace.rest();
  }
  return found;
}

function choose(ranges: readonly Range[], scope: 'all' | 'first' | 'last'): readonly Range[] {
  if (scope === 'all') return ranges;
  return scope === 'first' ? ranges.slice(0, 1) : ranges.slice(-1);
}

async function toUnit(
  text: SourceText,
  ranges: readonly Range[],
  unit: 'match' | 'sentence' | 'paragraph',
  pace: Pace,
): Promise<PatternHit[]> {
  const distinct = new Map<string, PatternHit>();
  for (const [from, to] of ranges) {
    if (pace.isDue) await pace.rest();
    const { start, end } = widen(text, { start: text.fromUnits(from), end: text.fromUnits(to) }, unit);
    distinct.set(`${start} ${end}`, { start, end, text: text.slice(start, end) });
  }
  return [...distinct.values()];
}

function widen(
  text: SourceText,
  match: { start: number; end: number },
  unit: 'match' | 'sentence' | 'paragraph',
) {
  if (unit === 'match') return match;
  if (unit === 'sentence') {
    const touched = segmentsNear(text, match);
    const start = Math.min(match.start, touched[0]?.start ?? match.start);
    return { start, end: Math.max(match.end, touched.at(-1)?.end ?? match.end) };
  }
  const { value } = text;
  const before = value.lastIndexOf('\n', text.toUnits(match.start) - 1) + 1;
  const after = value.indexOf('\n', Math.max(text.toUnits(match.end) - 1, 0));
  const line = value.slice(before, after === -1 ? value.length : after);
  const indent = line.length - line.trimStart().length;
  return { start: text.fromUnits(before + indent), end: text.fromUnits(before + line.trimEnd().length) };
}

/** Plain JavaScript in a string, so that it needs no file of its own wherever the program runs from. */
const THREAD = `
const { parentPort, workerData } = require('node:worker_threads');
parentPort.on('message', (value) => {
  const expression = new RegExp(workerData.source, workerData.flags);
  const found = [];
  for (const match of value.matchAll(expression)) {
    if (match[0].length > 0) found.push([match.index, match.index + match[0].length]);
    if (found.length >= workerData.most) break;
  }
  parentPort.postMessage(found);
});`;

class RegexThread {
  readonly #worker: Worker;
  readonly #limitMs: number;

  constructor({ source, flags }: RegExp, limitMs: number) {
    this.#limitMs = limitMs;
    this.#worker = new Worker(THREAD, { eval: true, workerData: { source, flags, most: MOST_HITS } });
  }

  run(value: string, signal?: AbortSignal): Promise<Range[]> {
    return new Promise((resolve, reject) => {
      const settle = (finish: () => void) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', stop);
        // Only ours: a worker without any listener of its own delivers nothing any more.
        this.#worker.off('message', answered).off('error', failed);
        finish();
      };
      const stop = () => settle(() => reject(signal?.reason));
      const answered = (found: Range[]) => settle(() => resolve(found));
      const failed = (error: unknown) => settle(() => reject(error));
      const timer = setTimeout(() => settle(() => reject(tooSlow(this.#limitMs))), this.#limitMs);
      signal?.addEventListener('abort', stop, { once: true });
      this.#worker.on('message', answered).on('error', failed);
      this.#worker.postMessage(value);
    });
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}

const tooSlow = (limitMs: number): ToolError =>
  new ToolError(
    'validation_error',
    `The regular expression took longer than ${limitMs} ms on one text and was stopped. Nested repetitions such as (a+)+ cause this; simplify it, or use match "contains".`,
  );

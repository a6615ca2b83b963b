import type { z } from 'zod';
import { closest } from '../lib/closest.ts';
import type { KeyPath } from './path.ts';

/** Stands for the value of a secret, so that no message can quote it. */
export const HIDDEN = Symbol('hidden');

/** What is wrong with one value, in plain words: what it must be, what it is, what was probably meant. */
export function explainIssue(issue: z.core.$ZodIssue, value: unknown): string {
  switch (issue.code) {
    case 'invalid_type':
      return value === undefined
        ? 'is missing'
        : `must be ${KINDS[issue.expected] ?? issue.expected}, not ${show(value)}`;
    case 'invalid_value':
      return explainOptions(issue.values, value);
    case 'too_small':
      return explainBound(issue.origin, issue.minimum, issue.inclusive, 'at least', 'more than', value);
    case 'too_big':
      return explainBound(issue.origin, issue.maximum, issue.inclusive, 'at most', 'less than', value);
    case 'invalid_format':
      // Our own patterns carry a sentence; zod's say `Invalid URL`.
      return issue.message.startsWith('Invalid')
        ? `must be ${FORMATS[issue.format] ?? `a valid ${issue.format}`}, not ${show(value)}`
        : `${issue.message}, not ${show(value)}`;
    case 'invalid_union':
      return explainUnion(issue.errors, value);
    case 'invalid_key':
      return `has a key that is not allowed: ${issue.issues.map((inner) => inner.message).join(', ')}`;
    case 'custom':
      return issue.message.startsWith('must') && !isCompound(value)
        ? `${issue.message}, not ${show(value)}`
        : issue.message;
    default:
      return issue.message;
  }
}

export function explainUnknown(path: KeyPath, known: readonly string[]): string {
  const name = String(path.at(-1));
  const meant = closest(name, known);
  const kind = path.length === 1 ? 'is neither a known key nor a known section' : 'is not a known key';
  if (meant !== undefined) return `${kind}; did you mean "${meant}"?`;
  return `${kind}; known here: ${[...known].sort().join(', ')}`;
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'text in quotes',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a table',
  record: 'a table',
};

const FORMATS: Readonly<Record<string, string>> = {
  url: 'a full address like https://example.org',
  email: 'an e-mail address',
  regex: 'of another form',
};

function explainOptions(options: readonly unknown[], value: unknown): string {
  const wanted = options.map((option) => JSON.stringify(option)).join(', ');
  const must = options.length === 1 ? `must be ${wanted}` : `must be one of ${wanted}`;
  const meant = typeof value === 'string' ? closest(value, options.map(String)) : undefined;
  return `${must}, not ${show(value)}${meant === undefined ? '' : `; did you mean "${meant}"?`}`;
}

function explainBound(
  origin: string,
  bound: number | bigint,
  inclusive: boolean | undefined,
  reached: string,
  beyond: string,
  value: unknown,
): string {
  const amount = `${inclusive === false ? beyond : reached} ${bound}`;
  if (origin === 'string') {
    return value === '' ? 'must not be empty' : `must have ${amount} characters`;
  }
  if (origin === 'array' || origin === 'set') {
    const count = Array.isArray(value) ? value.length : 0;
    return count === 0 ? 'must not be an empty list' : `must have ${amount} entries, not ${count}`;
  }
  return `must be ${amount}, not ${show(value)}`;
}

function explainUnion(branches: readonly z.core.$ZodIssue[][], value: unknown): string {
  const texts = branches.flatMap((issues) => issues.slice(0, 1).map((issue) => explainBranch(issue, value)));
  return texts.length === 0 ? `has a value that does not fit: ${show(value)}` : texts.join(', or ');
}

function explainBranch(issue: z.core.$ZodIssue, value: unknown): string {
  if (value === HIDDEN) return explainIssue(issue, value);
  let inner = value;
  for (const part of issue.path) inner = (inner as Record<PropertyKey, unknown> | undefined)?.[part];
  return explainIssue(issue, inner);
}

const isCompound = (value: unknown): boolean => typeof value === 'object' && value !== null;

/** A short look at what was written. */
function show(value: unknown): string {
  if (value === HIDDEN) return 'what is written';
  if (value instanceof Date) return 'a date';
  if (Array.isArray(value)) return 'a list';
  if (isCompound(value)) return 'a table';
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}..."` : text;
}

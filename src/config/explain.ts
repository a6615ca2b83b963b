import type { z } from 'zod';
import { lookup } from '../lib/lookup.ts';
import { closest } from '../lib/text.ts';
import type { Assignment, ConfigFile } from './layers.ts';
import { type ConfigProblem, formatPath, isTable, type KeyPath, locate } from './path.ts';

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
        ? `must be ${lookup(FORMATS, issue.format) ?? `a valid ${issue.format}`}, not ${show(value)}`
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
  string: 'a string in quotes',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  array: 'a list',
  object: 'a table',
  record: 'a table',
};

const FORMATS: Readonly<Record<string, string>> = {
  url: 'a full URL such as https://example.org',
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
  return texts.length === 0 ? `has an invalid value: ${show(value)}` : texts.join(', or ');
}

function explainBranch(issue: z.core.$ZodIssue, value: unknown): string {
  if (value === HIDDEN) return explainIssue(issue, value);
  let inner = value;
  for (const part of issue.path) inner = lookup(inner as Record<string, unknown> | undefined, String(part));
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

export interface UnknownKey {
  readonly path: KeyPath;
  readonly known: readonly string[];
}

/**
 * Every key the schema has no word for, at any depth. Zod drops unknown keys of an inner table that its author forgot
 * to make strict; in a configuration a dropped key is a setting that silently does nothing.
 */
export function unknownKeys(type: z.core.$ZodType, value: unknown, path: KeyPath = []): UnknownKey[] {
  const def = type._zod.def as z.core.$ZodTypes['_zod']['def'];
  switch (def.type) {
    case 'object':
      return isTable(value) ? inObject(def, value, path) : [];
    case 'array':
      return Array.isArray(value)
        ? value.flatMap((item, index) => unknownKeys(def.element, item, [...path, index]))
        : [];
    case 'record':
      return isTable(value)
        ? Object.entries(value).flatMap(([key, item]) => unknownKeys(def.valueType, item, [...path, key]))
        : [];
    case 'optional':
    case 'default':
    case 'prefault':
    case 'nullable':
    case 'readonly':
      return unknownKeys(def.innerType, value, path);
    case 'pipe':
      return unknownKeys(def.in, value, path);
    default:
      return [];
  }
}

function inObject(def: z.core.$ZodObjectDef, value: Record<string, unknown>, path: KeyPath): UnknownKey[] {
  const known = Object.keys(def.shape);
  const open =
    def.catchall !== undefined && def.catchall._zod.def.type !== 'never' ? def.catchall : undefined;
  return Object.entries(value).flatMap(([key, item]) => {
    const inner = lookup(def.shape, key) ?? open;
    return inner ? unknownKeys(inner, item, [...path, key]) : [{ path: [...path, key], known }];
  });
}

/** Something wrong with the value at a path, before it is known where that value was written. */
export interface Problem {
  readonly path: KeyPath;
  readonly message: string;
}

/** Says for each problem which file and line, variable or flag it came from; file problems in the order of lines. */
export const attributor =
  (file: ConfigFile, assignments: readonly Assignment[]) =>
  (problems: readonly Problem[]): ConfigProblem[] => {
    const parents = problems.flatMap(({ path }) => path.map((_, index) => path.slice(0, index + 1)));
    const lines = locate(file.text, parents);
    const lineOf = (path: KeyPath): number => {
      for (let length = path.length; length > 0; length--) {
        const line = lines.get(formatPath(path.slice(0, length)));
        if (line !== undefined) return line;
      }
      return 0;
    };
    return problems
      .map(({ path, message }) => {
        const given = assignments.find((one) => one.path.every((part, index) => part === path[index]));
        const line = given ? Number.POSITIVE_INFINITY : lineOf(path);
        const source = given?.source ?? (line > 0 ? `${file.path}:${line}` : file.path);
        return { line, problem: { source, path: formatPath(path), message } };
      })
      .sort((a, b) => (a.line === b.line ? 0 : a.line - b.line))
      .map(({ problem }) => problem);
  };

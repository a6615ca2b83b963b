import { hash } from 'node:crypto';
import serialize from 'canonicalize';

/** With the u flag a proper pair is one character, so only halves match. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/** A value that has no canonical JSON form. `path` says where, as a caller would write it. */
export class CanonicalError extends Error {
  readonly path: string;

  constructor(path: string, problem: string) {
    super(`${path || 'The value'} ${problem}`);
    this.name = 'CanonicalError';
    this.path = path;
  }
}

/** RFC 8785: one text for one JSON value, so that a hash over it means the same everywhere. */
export function canonicalJson(value: unknown): string {
  return writePlain(value) ?? writeAny(value);
}

/** Deeper values are left to the library, which also notices one that contains itself. */
const MAX_PLAIN_DEPTH = 64;

/** Not plain data: needs the library's closer look. */
const OTHER = Symbol('other');

/** The library's text for plain data, in a fraction of its time; undefined for anything else. */
function writePlain(value: unknown): string | undefined {
  const sorted = inOrder(value, 0);
  if (sorted === OTHER) return undefined;
  const text = JSON.stringify(sorted);
  // Half of a surrogate pair is written as an escape, which only a closer look distinguishes from a quoted one.
  return text.includes('\\ud') ? undefined : text;
}

/** The same value with every object's names in order; what is in order already is not copied. */
function inOrder(value: unknown, depth: number): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) ? value : OTHER;
    case 'object':
      if (value === null) return null;
      if (depth >= MAX_PLAIN_DEPTH || 'toJSON' in value) return OTHER;
      return Array.isArray(value) ? listInOrder(value, depth) : objectInOrder(value, depth);
    default:
      return OTHER;
  }
}

function listInOrder(list: readonly unknown[], depth: number): unknown {
  let copy: unknown[] | undefined;
  for (let index = 0; index < list.length; index += 1) {
    const item = inOrder(list[index], depth + 1);
    if (item === OTHER) return OTHER;
    if (item === list[index]) continue;
    copy ??= [...list];
    copy[index] = item;
  }
  return copy ?? list;
}

function objectInOrder(value: object, depth: number): unknown {
  const fields = value as Readonly<Record<string, unknown>>;
  const names = Object.keys(fields);
  const ordered = names.every((name, index) => index === 0 || (names[index - 1] as string) < name);
  if (!ordered) names.sort();
  let copy: Record<string, unknown> | undefined = ordered ? undefined : {};
  for (const name of names) {
    const field = fields[name];
    if (field === undefined) continue;
    const item = inOrder(field, depth + 1);
    if (item === OTHER || (!ordered && isReorderedKey(name))) return OTHER;
    if (!copy && item !== field) copy = { ...fields };
    if (copy) copy[name] = item;
  }
  return copy ?? value;
}

/**
 * An object lists names that are numbers first, regardless of the order they were set in, and `__proto__` is no field
 * when set.
 */
const isReorderedKey = (name: string): boolean => /^\d/.test(name) || name === '__proto__';

function writeAny(value: unknown): string {
  let text: string | undefined;
  try {
    // The library takes any depth; what is hashed is also stored with JSON.stringify, which does not.
    JSON.stringify(value);
    text = serialize(value);
  } catch (error) {
    // The library says what is wrong but not where; looking costs only when something is.
    if (error instanceof RangeError) throw new CanonicalError('', 'is nested too deeply to be serialized');
    throw (
      findFault(value, '', new Set()) ?? new CanonicalError('', `has no canonical form (${String(error)})`)
    );
  }
  if (text === undefined) throw new CanonicalError('', `is ${typeof value}, which JSON does not have`);
  return text;
}

function findFault(value: unknown, path: string, above: Set<object>): CanonicalError | undefined {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    return new CanonicalError(path, `is ${value}, which JSON does not have`);
  }
  if (typeof value === 'bigint') return new CanonicalError(path, 'is a bigint, which JSON does not have');
  if (typeof value === 'string' && LONE_SURROGATE.test(value)) {
    return new CanonicalError(path, 'contains half of a surrogate pair, which is not valid Unicode');
  }
  if (value === null || typeof value !== 'object') return undefined;
  if (above.has(value)) return new CanonicalError(path, 'contains itself');
  above.add(value);
  for (const [key, item] of Object.entries(value)) {
    const where = Array.isArray(value) ? `${path}[${key}]` : path ? `${path}.${key}` : key;
    if (LONE_SURROGATE.test(key)) {
      return new CanonicalError(path, 'has a name with half of a surrogate pair, which is not valid Unicode');
    }
    const fault = findFault(item, where, above);
    if (fault) return fault;
  }
  above.delete(value);
  return undefined;
}

/**
 * What an approval binds to: SHA-256 in hex over the canonical form of tool and arguments, and of what a toolkit binds a
 * permit to beyond them. The names are in the order of that form, which spares sorting.
 */
export const digest = (tool: string, args: unknown, binding?: unknown): string =>
  hash('sha256', canonicalJson({ args, binding, tool }));

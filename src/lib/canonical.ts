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
  return writePlain(value, 0) ?? writeAny(value);
}

/** Deeper values are left to the library, which also notices one that contains itself. */
const MAX_PLAIN_DEPTH = 64;

/** The library's text for plain data, in a fraction of its time; undefined for anything that needs a closer look. */
function writePlain(value: unknown, depth: number): string | undefined {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() ? JSON.stringify(value) : undefined;
    case 'number':
      return Number.isFinite(value) ? String(value === 0 ? 0 : value) : undefined;
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      if (value === null) return 'null';
      if (depth >= MAX_PLAIN_DEPTH) return undefined;
      return Array.isArray(value) ? writeList(value, depth) : writeObject(value, depth);
    default:
      return undefined;
  }
}

function writeList(list: readonly unknown[], depth: number): string | undefined {
  let text = '[';
  for (let index = 0; index < list.length; index += 1) {
    const item = writePlain(list[index], depth + 1);
    if (item === undefined) return undefined;
    text += index === 0 ? item : `,${item}`;
  }
  return `${text}]`;
}

function writeObject(value: object, depth: number): string | undefined {
  if ('toJSON' in value) return undefined;
  const fields = value as Readonly<Record<string, unknown>>;
  let text = '{';
  for (const key of Object.keys(fields).sort()) {
    const field = fields[key];
    if (field === undefined) continue;
    const name = writePlain(key, depth);
    const item = writePlain(field, depth + 1);
    if (name === undefined || item === undefined) return undefined;
    text += text === '{' ? `${name}:${item}` : `,${name}:${item}`;
  }
  return `${text}}`;
}

function writeAny(value: unknown): string {
  let text: string | undefined;
  try {
    text = serialize(value);
  } catch (error) {
    // The library says what is wrong but not where; looking costs only when something is.
    if (error instanceof RangeError) throw new CanonicalError('', 'is nested too deeply to be written down');
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
    return new CanonicalError(path, 'holds half of a surrogate pair, which is not valid Unicode');
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

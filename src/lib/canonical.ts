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

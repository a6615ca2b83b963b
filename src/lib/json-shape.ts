/** Deeper than any tool's arguments; a bound keeps hostile nesting from exhausting the stack. */
const MAX_DEPTH = 64;
const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype']);

/** Larger than any tool needs; what is larger is a mistake, and would only fill the evidence. */
const MAX_TEXT = 8 * 1024 * 1024;

/** Says what makes a value unfit as arguments, before any schema sees it; undefined when it is fine. */
export function checkJson(value: unknown): string | undefined {
  const seen = { text: 0 };
  const fault = check(value, '', 0, seen);
  return fault ?? (seen.text > MAX_TEXT ? `they are larger than ${MAX_TEXT / 1024 / 1024} MB` : undefined);
}

function check(value: unknown, path: string, depth: number, seen: { text: number }): string | undefined {
  if (depth > MAX_DEPTH)
    return `nesting is deeper than ${MAX_DEPTH} levels${path ? ` at ${path.slice(0, 60)}` : ''}`;
  if (typeof value === 'string') {
    seen.text += value.length;
    return checkText(value, path);
  }
  if (typeof value === 'number') return checkNumber(value, path);
  if (value === null || typeof value !== 'object') return undefined;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      const fault = check(item, `${path}[${index}]`, depth + 1, seen);
      if (fault) return fault;
    }
    return undefined;
  }
  for (const [key, item] of Object.entries(value)) {
    if (FORBIDDEN.has(key))
      return `the key ${JSON.stringify(key)} is not allowed${path ? ` in ${path}` : ''}`;
    const fault = checkText(key, path) ?? check(item, path ? `${path}.${key}` : key, depth + 1, seen);
    if (fault) return fault;
  }
  return undefined;
}

/** Above this a number is written with an exponent: it was never meant to be exact to the unit. */
const MAX_DIGITS = 1e21;

/** What JSON.parse could not read exactly is another number than the one that was sent, or none at all. */
function checkNumber(value: number, path: string): string | undefined {
  const where = path || 'the value';
  if (!Number.isFinite(value)) return `${where} is a number outside the range of JSON numbers`;
  if (Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < MAX_DIGITS)
    return `${where} is an integer beyond ${Number.MAX_SAFE_INTEGER}, which JSON does not carry exactly; if the tool accepts text, send it as text`;
  return undefined;
}

/** Whether the text spells `__proto__` as a key anywhere, also with escapes; `value` is what it was parsed to. */
export function hasPrototypeKey(text: string, value: unknown): boolean {
  // Walking every message would cost more than parsing it; without either of these no key can be that one.
  return (text.includes('__proto__') || text.includes('\\u')) && containsPrototypeKey(value);
}

export function containsPrototypeKey(value: unknown): boolean {
  const open = [value];
  while (open.length > 0) {
    const one = open.pop();
    if (one === null || typeof one !== 'object') continue;
    if (Object.hasOwn(one, '__proto__')) return true;
    open.push(...Object.values(one));
  }
  return false;
}

function checkText(text: string, path: string): string | undefined {
  const where = path || 'the value';
  if (text.includes('\u0000')) return `${where} contains a NUL character`;
  if (!text.isWellFormed()) return `${where} contains half of a surrogate pair, which is not valid Unicode`;
  return undefined;
}

/** Deeper than any tool's arguments; a bound keeps hostile nesting from exhausting the stack. */
const MAX_DEPTH = 64;
const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype']);

/** Says what makes a value unfit as arguments, before any schema sees it; undefined when it is fine. */
export function checkJson(value: unknown, path = '', depth = 0): string | undefined {
  if (depth > MAX_DEPTH)
    return `nesting is deeper than ${MAX_DEPTH} levels${path ? ` at ${path.slice(0, 60)}` : ''}`;
  if (typeof value === 'string') return checkText(value, path);
  if (value === null || typeof value !== 'object') return undefined;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      const fault = checkJson(item, `${path}[${index}]`, depth + 1);
      if (fault) return fault;
    }
    return undefined;
  }
  for (const [key, item] of Object.entries(value)) {
    if (FORBIDDEN.has(key))
      return `the key ${JSON.stringify(key)} is not allowed${path ? ` in ${path}` : ''}`;
    const fault = checkText(key, path) ?? checkJson(item, path ? `${path}.${key}` : key, depth + 1);
    if (fault) return fault;
  }
  return undefined;
}

function checkText(text: string, path: string): string | undefined {
  const where = path || 'the value';
  if (text.includes('\u0000')) return `${where} holds a NUL character`;
  if (!text.isWellFormed()) return `${where} holds half a surrogate pair, which is not valid Unicode`;
  return undefined;
}

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

/** Whether any object in it has `__proto__` as a key of its own, as only parsed JSON can. */
export function hasPrototypeKey(value: unknown): boolean {
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
  if (text.includes('\u0000')) return `${where} holds a NUL character`;
  if (!text.isWellFormed()) return `${where} holds half a surrogate pair, which is not valid Unicode`;
  return undefined;
}

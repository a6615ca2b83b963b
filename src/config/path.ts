export type KeyPath = readonly (string | number)[];

/** As a person writes it: `mcp_policy.rules[0].action`. */
export function formatPath(path: KeyPath): string {
  let text = '';
  for (const part of path) {
    text += typeof part === 'number' ? `[${part}]` : `${text ? '.' : ''}${part}`;
  }
  return text;
}

export const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);

export function valueAt(root: unknown, path: KeyPath): unknown {
  let value = root;
  for (const part of path) {
    if (typeof part === 'number' ? !Array.isArray(value) : !isTable(value) || !Object.hasOwn(value, part)) {
      return undefined;
    }
    value = (value as Record<string | number, unknown>)[part];
  }
  return value;
}

/** Puts a value in place and makes the tables on the way; a value that is no table is overwritten. */
export function setAt(root: Record<string, unknown>, path: readonly string[], value: unknown): void {
  let table = root;
  for (const part of path.slice(0, -1)) {
    const next = Object.hasOwn(table, part) ? table[part] : undefined;
    if (isTable(next)) {
      table = next;
    } else {
      const made: Record<string, unknown> = {};
      table[part] = made;
      table = made;
    }
  }
  table[path.at(-1) ?? ''] = value;
}

import { parse } from 'smol-toml';
import { lookup } from '../lib/lookup.ts';

/** A header, a key with its value, or a line that is neither; values may span lines. */
interface Statement {
  readonly lines: readonly string[];
  /** Path of a header. */
  readonly header?: readonly string[];
  /** What a key with its value adds to the table it is in. */
  readonly pair?: unknown;
}

/** Removes `[TABLE.NAME]` and what is below it; a comment above the next table stays with that table. */
export const withoutTables = (text: string, table: string, names: readonly string[]): string =>
  withoutKeys(
    text,
    names.map((name) => [table, name]),
  );

/** Removes what is at these paths, written as tables of their own, inline or with dots; all other lines stay. */
export function withoutKeys(text: string, paths: readonly (readonly string[])[]): string {
  const kept: string[] = [];
  let table: readonly string[] = [];
  let inside = false;
  let above: string[] = [];
  let loose: string[] = [];
  const leave = (): void => {
    kept.push(...(loose[0]?.trim() === '' ? [] : above), ...loose);
    above = [];
  };
  for (const { lines, header, pair } of statementsOf(text)) {
    if (header) {
      const wasInside = inside;
      table = header;
      inside = paths.some((path) => path.every((key, index) => header[index] === key));
      if (wasInside && !inside) leave();
      // The blank lines above belong to what is removed.
      while (inside && !wasInside && kept.at(-1)?.trim() === '') above.unshift(kept.pop() ?? '');
      loose = [];
    }
    if (!inside) kept.push(...(paths.some((path) => isOnly(path, table, pair)) ? [] : lines));
    else if (header || pair) loose = [];
    else loose.push(...lines);
  }
  if (inside) leave();
  return kept.join('\n');
}

/** True for a key that sets nothing but what is at the path. */
function isOnly(path: readonly string[], table: readonly string[], pair: unknown): boolean {
  if (path.length <= table.length || table.some((key, index) => path[index] !== key)) return false;
  let value = pair;
  for (const key of path.slice(table.length)) {
    const [only, ...others] = keysOf(value);
    if (only !== key || others.length > 0) return false;
    value = lookup(value as Record<string, unknown>, key);
  }
  return true;
}

function* statementsOf(text: string): Generator<Statement> {
  const lines = text.split('\n');
  for (let index = 0; index < lines.length; ) {
    const line = lines[index] ?? '';
    let taken = 1;
    if (/^\s*(#.*)?$/.test(line)) yield { lines: [line] };
    else if (/^\s*\[/.test(line)) yield { lines: [line], header: pathOf(tryParse([line])) };
    else {
      while (tryParse(lines.slice(index, index + taken)) === undefined && index + taken < lines.length)
        taken += 1;
      const pair = tryParse(lines.slice(index, index + taken));
      if (pair === undefined) taken = 1;
      yield { lines: lines.slice(index, index + taken), pair };
    }
    index += taken;
  }
}

function tryParse(lines: readonly string[]): unknown {
  try {
    return parse(lines.map((line) => line.replace(/\r$/, '')).join('\n'));
  } catch {
    return undefined;
  }
}

/** The one path in what a header alone is parsed to. */
function pathOf(value: unknown): string[] {
  const [key] = keysOf(value);
  return key === undefined ? [] : [key, ...pathOf(lookup(value as Record<string, unknown>, key))];
}

const keysOf = (value: unknown): string[] =>
  value !== null && typeof value === 'object' && !Array.isArray(value) && !(value instanceof Date)
    ? Object.keys(value)
    : [];

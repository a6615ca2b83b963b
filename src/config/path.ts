import { parse } from 'smol-toml';
import { isObject } from '../lib/is-object.ts';
import { lookup, put } from '../lib/lookup.ts';

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
  isObject(value) && !(value instanceof Date);

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
    const next = lookup(table, part);
    if (isTable(next)) {
      table = next;
    } else {
      const made: Record<string, unknown> = {};
      put(table, part, made);
      table = made;
    }
  }
  put(table, path.at(-1) ?? '', value);
}

/**
 * The line on which each path first stands. The parser keeps no positions, so the file is parsed line by line until
 * the path appears; only a faulty file pays for this.
 */
export function locate(toml: string, paths: readonly KeyPath[]): Map<string, number> {
  const found = new Map<string, number>();
  const open = new Map(paths.map((path) => [formatPath(path), path]));
  const lines = toml.split('\n');
  let complete = 0;
  for (let count = 1; count <= lines.length && open.size > 0; count++) {
    const table = parsePrefix(lines.slice(0, count));
    // A value of several lines parses again at its last one: it began after the last line that parsed.
    if (!table) continue;
    for (const [name, path] of open) {
      if (valueAt(table, path) === undefined) continue;
      found.set(name, complete + 1);
      open.delete(name);
    }
    complete = count;
  }
  return found;
}

function parsePrefix(lines: readonly string[]): unknown {
  try {
    return parse(lines.join('\n'));
  } catch {
    return undefined;
  }
}

export interface ConfigProblem {
  /** Where it stands: `config.toml:12`, `environment COUNTERSIGN_MODE`, `flag --profile`. */
  readonly source: string;
  /** The key as dotted path, `mcp_policy.rules[0].action`; empty for the whole file. */
  readonly path: string;
  readonly message: string;
}

/** Everything that is wrong with the configuration, in one error. */
export class ConfigError extends Error {
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    super(problems.map(formatProblem).join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

const formatProblem = ({ source, path, message }: ConfigProblem): string =>
  [source, path, message].filter(Boolean).join(': ');

import { parse } from 'smol-toml';
import { formatPath, type KeyPath, valueAt } from './path.ts';

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
    return parse(lines.join('\n'), { unsafeKeyBehaviour: 'throw' });
  } catch {
    return undefined;
  }
}

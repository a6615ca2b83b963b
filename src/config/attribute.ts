import type { ConfigProblem } from './error.ts';
import type { Assignment, ConfigFile } from './layers.ts';
import { locate } from './locate.ts';
import { formatPath, type KeyPath } from './path.ts';

/** Something wrong with the value at a path, before it is known where that value was written. */
export interface Problem {
  readonly path: KeyPath;
  readonly message: string;
}

/** Says for each problem which file and line, variable or flag it came from; file problems in the order of lines. */
export const attributor =
  (file: ConfigFile, assignments: readonly Assignment[]) =>
  (problems: readonly Problem[]): ConfigProblem[] => {
    const parents = problems.flatMap(({ path }) => path.map((_, index) => path.slice(0, index + 1)));
    const lines = locate(file.text, parents);
    const lineOf = (path: KeyPath): number => {
      for (let length = path.length; length > 0; length--) {
        const line = lines.get(formatPath(path.slice(0, length)));
        if (line !== undefined) return line;
      }
      return 0;
    };
    return problems
      .map(({ path, message }) => {
        const given = assignments.find((one) => one.path.every((part, index) => part === path[index]));
        const line = given ? Number.POSITIVE_INFINITY : lineOf(path);
        const source = given?.source ?? (line > 0 ? `${file.path}:${line}` : file.path);
        return { line, problem: { source, path: formatPath(path), message } };
      })
      .sort((a, b) => (a.line === b.line ? 0 : a.line - b.line))
      .map(({ problem }) => problem);
  };

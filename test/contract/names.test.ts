import { relative } from 'node:path';
import { type Node, type SourceFile, SyntaxKind } from 'typescript/unstable/ast';
import {
  isBinaryExpression,
  isDeleteExpression,
  isElementAccessExpression,
} from 'typescript/unstable/ast/is';
import { API, type Checker } from 'typescript/unstable/sync';
import { describe, expect, it } from 'vitest';

/** Files that may index by any name, and why no name from outside can do harm there. */
const ALLOWED: ReadonlyMap<string, string> = new Map([
  ['src/lib/lookup.ts', 'checks that the record itself has the name'],
  ['src/lib/canonical.ts', "walks an object's own names and leaves __proto__ to the library"],
  ['src/storage/text-guard.ts', 'walks the columns of our own tables, for every row that is read'],
]);

const isOurs = (path: string): boolean =>
  path.startsWith('src/') && !/\.(test|fixture|generated)\.tsx?$|\/test\//.test(path) && !ALLOWED.has(path);

/** A key of type `string` can be any name; a number or one of a few literals cannot. */
const isAnyName = (checker: Checker, key: Node): boolean => {
  const type = checker.getTypeAtLocation(key);
  return type !== undefined && /^(string|any|PropertyKey)$|string & \{/.test(checker.typeToString(type));
};

/** `record[name]`, `record[name] = value` and `name in record`, where the name can be any text. */
function findByName(checker: Checker, file: SourceFile): Node[] {
  const found: Node[] = [];
  const visit = (node: Node): void => {
    const key =
      isElementAccessExpression(node) && !isDeleteExpression(node.parent)
        ? node.argumentExpression
        : isBinaryExpression(node) && node.operatorToken.kind === SyntaxKind.InKeyword
          ? node.left
          : undefined;
    if (key && key.kind !== SyntaxKind.StringLiteral && isAnyName(checker, key)) found.push(node);
    node.forEachChild(visit);
  };
  visit(file);
  return found;
}

describe('names from outside', () => {
  it.each(['tsconfig.json', 'src/web/app/tsconfig.json'])(
    'never index plain objects (%s)',
    (config) => {
      const api = new API();
      try {
        const path = `${process.cwd()}/${config}`;
        const project = api.updateSnapshot({ openProject: path }).getProject(path);
        if (!project) throw new Error(`${config} is not a project.`);
        const { checker, program } = project;
        const files = program.getSourceFileNames().filter((name) => isOurs(relative(process.cwd(), name)));
        expect(files.length).toBeGreaterThan(100);
        const found = files.flatMap((name) => {
          const file = program.getSourceFile(name);
          return !file
            ? []
            : findByName(checker, file).map((node) => {
                const line = file.text.slice(0, node.getStart(file)).split('\n').length;
                return `${relative(process.cwd(), name)}:${line} ${file.text.slice(node.getStart(file), node.end)}`;
              });
        });
        // Use lookup(record, name) and put(record, name, value) of src/lib/lookup.ts, Object.hasOwn or a Map.
        expect(found).toEqual([]);
      } finally {
        api.close();
      }
    },
    120_000,
  );
});

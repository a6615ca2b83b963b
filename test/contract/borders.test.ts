import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

/** The architecture: which part may import which. A toolkit never imports another toolkit. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  lib: [],
  kernel: ['contract', 'lib'],
  registry: ['contract', 'lib'],
  render: ['contract', 'lib'],
  toolkits: ['contract', 'lib'],
  storage: ['contract', 'kernel', 'lib'],
  config: ['contract', 'lib'],
  sandbox: ['lib', 'toolkits/x/endpoints'],
  web: ['contract', 'kernel', 'registry', 'render', 'lib'],
  transports: ['contract', 'kernel', 'registry', 'render', 'lib'],
};
/** They sit on top and may import anything; nothing imports them. */
const TOP = new Set([
  'cli',
  'main.ts',
  'app.ts',
  'serving.ts',
  'prompts.ts',
  'agent-command.ts',
  'web-ports.ts',
]);

const sources = (readdirSync('src', { recursive: true }) as string[])
  .filter((path) => /\.tsx?$/.test(path) && !/\.(test|fixture)\.tsx?$/.test(path))
  .map((path) => path.replaceAll('\\', '/'));

const importsOf = (path: string): string[] => {
  const text = readFileSync(join('src', path), 'utf8');
  const found = [...text.matchAll(/(?:from|import\()\s*'(\.{1,2}\/[^']+)'/g)].map(
    ([, target]) => target ?? '',
  );
  return found.map((target) => relative('src', join('src', dirname(path), target)).replaceAll('\\', '/'));
};

const partOf = (path: string): string => path.split('/')[0] ?? path;
const toolkitOf = (path: string): string | undefined => /^toolkits\/([^/]+)\//.exec(path)?.[1];

function trespass(path: string, target: string): string | undefined {
  const from = partOf(path);
  if (TOP.has(from)) return undefined;
  if (TOP.has(partOf(target))) return `${path} imports ${target}, which sits on top`;
  const [mine, theirs] = [toolkitOf(path), toolkitOf(target)];
  if (mine !== undefined && theirs !== undefined && mine !== theirs)
    return `${path} imports toolkit ${theirs}`;
  if (partOf(target) === from) return undefined;
  const allowed = MAY_IMPORT[from];
  if (!allowed) return `${path} is in a part the table does not know`;
  const fine = allowed.some((part) => target === part || target.startsWith(`${part}/`));
  return fine ? undefined : `${path} imports ${target}`;
}

describe('imports', () => {
  it('point one way only', () => {
    const faults = sources.flatMap((path) =>
      importsOf(path).flatMap((target) => trespass(path, target) ?? []),
    );
    expect(faults).toEqual([]);
  });

  it('would be refused across a border', () => {
    expect(trespass('contract/tool.ts', 'kernel/kernel.ts')).toBeDefined();
    expect(trespass('toolkits/x/tools/a.ts', 'toolkits/dev/b.ts')).toBeDefined();
    expect(trespass('kernel/kernel.ts', 'app.ts')).toBeDefined();
    expect(trespass('sandbox/app.ts', 'toolkits/x/tools/a.ts')).toBeDefined();
    expect(trespass('sandbox/app.ts', 'toolkits/x/endpoints/table.ts')).toBeUndefined();
  });
});

describe('files', () => {
  const lines = (path: string): number => readFileSync(path, 'utf8').split('\n').length;

  it('stay below 400 lines, tests below 600', () => {
    const all = ['src', 'test', 'scripts'].flatMap((root) =>
      (readdirSync(root, { recursive: true }) as string[])
        .map((path) => join(root, path))
        .filter((path) => /\.(tsx?|mjs)$/.test(path)),
    );
    const long = all
      .filter((path) => !path.includes('.generated.'))
      .map((path) => ({
        path,
        lines: lines(path),
        most: /\.test\.tsx?$/.test(path) || path.startsWith('test') ? 600 : 400,
      }))
      .filter((one) => one.lines > one.most);
    expect(long).toEqual([]);
  });

  it('write to stdout only in the command line', () => {
    const writers = sources
      .filter((path) => !path.startsWith('cli/') && !path.startsWith('web/app/'))
      .filter((path) =>
        /^[^/*]*(\bconsole\.\w+\(|process\.stdout\.write)/m.test(readFileSync(join('src', path), 'utf8')),
      );
    expect(writers).toEqual([]);
  });
});

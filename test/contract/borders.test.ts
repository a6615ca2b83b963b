import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

interface Part {
  readonly part: string;
  /** `own`: the toolkit's own folder; `*`: anything. */
  readonly imports: readonly string[];
  /** Parts of which only types may be imported. */
  readonly typesOf?: readonly string[];
}

/** The architecture as data; `npm run gen` renders it into ARCHITECTURE.md. */
const BORDERS = JSON.parse(readFileSync('src/borders.json', 'utf8')) as {
  readonly parts: readonly Part[];
  /** They sit on top: nothing below imports them. */
  readonly onTop: readonly string[];
  /** Imports that still cross a border, as `file imports file`. The list may only shrink. */
  readonly stillAllowed: readonly string[];
};

const isTest = (path: string): boolean => /\.(test|fixture)\.tsx?$/.test(path) || path.includes('/test/');
const sources = (readdirSync('src', { recursive: true }) as string[])
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => /\.tsx?$/.test(path) && !isTest(path));

interface Import {
  readonly target: string;
  readonly typeOnly: boolean;
}

const importsOf = (path: string): Import[] => {
  const text = readFileSync(join('src', path), 'utf8');
  const found = [
    ...text.matchAll(/(?:^|\n)(?:import|export) (type )?[^;']*?from '(\.{1,2}\/[^']+)'/g),
    ...[...text.matchAll(/import\(\s*'(\.{1,2}\/[^']+)'/g)].map(([all, target]) => [all, undefined, target]),
    ...[...text.matchAll(/(?:^|\n)import '(\.{1,2}\/[^']+)'/g)].map(([all, target]) => [
      all,
      undefined,
      target,
    ]),
  ];
  return found.map(([, typeOnly, target = '']) => ({
    target: relative('src', join('src', dirname(path), target)).replaceAll('\\', '/'),
    typeOnly: typeOnly !== undefined,
  }));
};

const within = (path: string, part: string): boolean => path === part || path.startsWith(`${part}/`);
const toolkitOf = (path: string): string | undefined => /^toolkits\/[^/]+(?=\/)/.exec(path)?.[0];

/** The narrowest part that contains the path; `toolkits/*` stands for each toolkit. */
function partOf(path: string): Part | undefined {
  const own = toolkitOf(path);
  const fits = BORDERS.parts.filter(({ part }) =>
    within(path, own === undefined ? part : part.replace('toolkits/*', own)),
  );
  return fits.sort((a, b) => b.part.length - a.part.length)[0];
}

function trespass(path: string, { target, typeOnly }: Import): string | undefined {
  const offence = `${path} imports ${target}`;
  if (BORDERS.onTop.some((top) => within(path, top))) return undefined;
  if (BORDERS.onTop.some((top) => within(target, top))) return offence;
  const part = partOf(path);
  if (!part) return `${path} is in no part of src/borders.json`;
  const own = toolkitOf(path);
  const home = part.part.replace('toolkits/*', own ?? '');
  if (part.part !== 'toolkits/*' && within(target, home)) return undefined;
  const reach = (name: string): boolean =>
    name === '*' || (name === 'own' ? own !== undefined && within(target, own) : within(target, name));
  if (part.imports.some(reach) || (typeOnly && part.typesOf?.some(reach))) {
    // A toolkit's commands load their implementation lazily; nothing else reaches into its cli folder.
    const intoCli = own !== undefined && within(target, `${own}/cli`) && !within(path, `${own}/cli`);
    return intoCli && path !== `${own}/commands.ts` ? offence : undefined;
  }
  return offence;
}

const offences = (): string[] => [
  ...new Set(sources.flatMap((path) => importsOf(path).flatMap((one) => trespass(path, one) ?? []))),
];

describe('imports', () => {
  it('point one way only', () => {
    expect(offences().filter((one) => !BORDERS.stillAllowed.includes(one))).toEqual([]);
  });

  it('no longer allow what is no longer needed', () => {
    const now = new Set(offences());
    expect(BORDERS.stillAllowed.filter((one) => !now.has(one))).toEqual([]);
  });

  it.each([
    ['contract/tool.ts', 'kernel/kernel.ts'],
    ['kernel/approvals/queue.ts', 'kernel/call/pipeline.ts'],
    ['toolkits/x/tools/posts.ts', 'toolkits/dev/config.ts'],
    ['toolkits/x/tools/posts.ts', 'terminal/output.ts'],
    ['kernel/kernel.ts', 'app/app.ts'],
    ['web/app/shell.tsx', 'toolkits/x/web/page.tsx'],
  ])('are refused from %s to %s', (path, target) => {
    expect(trespass(path, { target, typeOnly: false })).toBeDefined();
  });

  it.each([
    ['toolkits/x/cli/post.ts', 'terminal/output.ts'],
    ['toolkits/x/web/page.tsx', 'web/ui/api.ts'],
    ['kernel/call/pipeline.ts', 'kernel/approvals/queue.ts'],
    ['toolkits/x/commands.ts', 'toolkits/x/cli/post.ts'],
  ])('are allowed from %s to %s', (path, target) => {
    expect(trespass(path, { target, typeOnly: false })).toBeUndefined();
  });
});

describe('files', () => {
  it('write to stdout only in src/terminal', () => {
    const writers = sources
      .filter((path) => !path.startsWith('terminal/') && !path.startsWith('web/app/'))
      .filter((path) =>
        /^[^/*]*(\bconsole\.\w+\(|process\.stdout\.write)/m.test(readFileSync(join('src', path), 'utf8')),
      );
    expect(writers).toEqual([]);
  });
});

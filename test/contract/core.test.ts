import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toolkitEntries } from '../../src/toolkits/index.generated.ts';

const INDEX = 'toolkits/index.generated.ts';
const ids = toolkitEntries.map(({ id }) => id);
const core = (readdirSync('src', { recursive: true }) as string[])
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => /\.tsx?$/.test(path) && !path.startsWith('toolkits/'))
  .filter((path) => !/\.(test|fixture)\.tsx?$/.test(path));

/** Comments may give an example; code may not. */
const codeOf = (path: string): string =>
  readFileSync(join('src', path), 'utf8')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(^|\s)\/\/.*$/gm, '');

const importsOf = (path: string, code: string): string[] =>
  [...code.matchAll(/(?:from|import\(|import)\s*'(\.{1,2}\/[^']+)'/g)].map(([, target = '']) =>
    relative('src', join('src', dirname(path), target)).replaceAll('\\', '/'),
  );

/** Words of the core that only look like the ID of a toolkit. */
const OTHER_WORDS: Readonly<Record<string, readonly string[]>> = {
  // The key that selects an item.
  'web/app/inbox/help.tsx': ['x'],
  'web/app/inbox/list.tsx': ['x'],
};

/** The governance tools are how agents ask for approval, whatever they use it for; core messages may point to them. */
const ANSWERED_BY_CORE = 'governance';
const toolkitTools = new Set(
  toolkitEntries.flatMap(({ id, catalogue }) =>
    id === ANSWERED_BY_CORE
      ? []
      : catalogue.flatMap(({ name, policyName }) => (policyName === undefined ? [name] : [name, policyName])),
  ),
);

const anyId = ids.join('|');
const namedToolkits = (path: string, code: string): string[] =>
  [...code.matchAll(new RegExp(`(['"\`])(${anyId})\\1|\\b(${anyId}) toolkit\\b`, 'g'))]
    .map(([, , literal, inText]) => literal ?? inText ?? '')
    .filter((id) => !OTHER_WORDS[path]?.includes(id));

const namedTools = (code: string): string[] =>
  (code.match(/[A-Za-z][\w.]*\w/g) ?? []).filter((word) => toolkitTools.has(word));

const reachedToolkits = (path: string, code: string): string[] =>
  importsOf(path, code).filter((target) => target.startsWith('toolkits/') && target !== INDEX);

const offences = (find: (path: string, code: string) => readonly string[]): string[] =>
  core.flatMap((path) => find(path, codeOf(path)).map((what) => `${path}: ${what}`));

describe('the core', () => {
  it('names no toolkit', () => {
    expect(offences(namedToolkits)).toEqual([]);
  });

  it('names no tool of a toolkit', () => {
    expect(offences((_path, code) => namedTools(code))).toEqual([]);
  });

  it('imports nothing of a toolkit but the generated entries', () => {
    expect(offences(reachedToolkits)).toEqual([]);
    expect(core.some((path) => importsOf(path, codeOf(path)).includes(INDEX))).toBe(true);
  });

  it.each([
    ["if (id === 'research') return;", ['research']],
    ['const first = ["x"];', ['x']],
    ['<Link to="dev" />', ['dev']],
    ["'Only the limits of the x toolkit apply.'", ['x']],
    ["const effect = 'destroy';", []],
  ])('is caught naming a toolkit in %s', (code, found) => {
    expect(namedToolkits('kernel/kernel.ts', code)).toEqual(found);
  });

  it.each([
    ["if (tool.name === 'x_post_tweet') return;", ['x_post_tweet']],
    ["const hint = `It's better to use create_code first.`;", ['create_code']],
    ["['github.issues.create']", ['github.issues.create']],
    ["'Call approval_request first.'", []],
  ])('is caught naming a tool in %s', (code, found) => {
    expect(namedTools(code)).toEqual(found);
  });

  it.each([
    ["import { x } from '../toolkits/x/config.ts';", ['toolkits/x/config.ts']],
    ["await import('../toolkits/dev/git/git.ts')", ['toolkits/dev/git/git.ts']],
    ["import { toolkitEntries } from '../toolkits/index.generated.ts';", []],
  ])('is caught importing a toolkit with %s', (code, found) => {
    expect(reachedToolkits('app/app.ts', code)).toEqual(found);
  });
});

/** Commands for people at a terminal: they decide, lift a pause, trust a server or sign in. */
const DECIDING =
  /countersign (approvals (approve|reject|edit|permit|settle|standing add)|review|resume|agents resume|servers (trust|add)|open)\b/;
/** Only people read what these print: the command line, the pages and their API, the start of a server. */
const FOR_PEOPLE = /^(cli|terminal|daemon|web)\/|^toolkits\/[a-z]+\/(cli|web|test)\//;

describe('what agents are told', () => {
  const files = (readdirSync('src', { recursive: true }) as string[])
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => /\.tsx?$/.test(path) && !/\.(test|fixture)\.tsx?$/.test(path))
    .filter((path) => !FOR_PEOPLE.test(path));

  it('names no command that decides in a person’s place, but the inbox', () => {
    expect(files.length).toBeGreaterThan(500);
    expect(files.filter((path) => DECIDING.test(codeOf(path)))).toEqual([]);
  });

  it.each(['replies', 'tools'])('nor do the pinned %s', (folder) => {
    const pins = readdirSync(join('test/pins', folder));
    expect(pins.length).toBeGreaterThan(3);
    expect(pins.filter((pin) => DECIDING.test(readFileSync(join('test/pins', folder, pin), 'utf8')))).toEqual(
      [],
    );
  });
});

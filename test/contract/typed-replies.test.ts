import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const sources = (root: string): string[] =>
  (readdirSync(root, { recursive: true }) as string[])
    .map((path) => join(root, path).replaceAll('\\', '/'))
    .filter((path) => /\.tsx?$/.test(path) && !/\.test\.tsx?$/.test(path));
const toolkits = sources('src/toolkits');

/** What matches in these files, as `file: text`. */
const find = (files: readonly string[], pattern: RegExp): string[] =>
  files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(pattern)].map(([text]) => `${file}: ${text}`),
  );

describe('a page', () => {
  /** They know a type that nothing checks, and take it from the table of routes or the specs of views. */
  const helpers = ['src/web/ui/api.ts', 'src/web/ui/page-data.ts', 'src/web/ui/request.ts'];
  const pages = [
    ...sources('src/web/app'),
    ...sources('src/web/ui'),
    ...toolkits.filter((path) => path.includes('/web/')),
  ].filter((path) => !helpers.includes(path));

  it('never names the type of a reply: its path or its view does', () => {
    expect(pages.length).toBeGreaterThan(100);
    const typed = /(?<!function )\b(api|post|put|remove|useQuery|useView|readView|callTool)<[^()]*>\(/g;
    const cast = /\b(api|post|put|remove|useQuery|useView|readView|callTool)\([^;]*?\)+ as (?!const\b)/g;
    expect([...find(pages, typed), ...find(pages, cast)]).toEqual([]);
  });

  it('never asks the API past these helpers', () => {
    expect(find(pages, /from '[^']*\/request\.ts'|fetch\(apiPath\b/g)).toEqual([]);
  });
});

describe('a command', () => {
  const commands = [...sources('src/cli'), ...toolkits.filter((path) => path.includes('/cli/'))];

  it('never names the type of what a tool or a view gives: the tool or the spec does', () => {
    expect(commands.length).toBeGreaterThan(50);
    const typed = /(?<!function )\b(act|ask|view|readView|printOutcome)<[^()]*>\(/g;
    const cast = /\b(act|ask|view|readView)\([^;]*?\)+ as (?!const\b)|\boutcome\.data as (?!O\b)/g;
    expect([...find(commands, typed), ...find(commands, cast)]).toEqual([]);
  });
});

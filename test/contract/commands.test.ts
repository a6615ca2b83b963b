import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import { toolkitEntries } from '../../src/toolkits/index.generated.ts';

const IMPORT = /^\s*(?:import|export)\s+(type\s)?(?:[^'";]*?\bfrom\s+)?'([^']+)'/gm;
const LAZY = /\bimport\(\s*'([^']+)'/g;

interface Imports {
  readonly types: readonly string[];
  readonly values: readonly string[];
  readonly lazy: readonly string[];
}

/** What a file imports; relative targets are paths from the root of the repository. */
function importsOf(path: string, text = readFileSync(path, 'utf8')): Imports {
  const target = (name: string): string =>
    name.startsWith('.') ? join(dirname(path), name).replaceAll('\\', '/') : name;
  const found = [...text.matchAll(IMPORT)].map(([, type, name = '']) => ({ type, name: target(name) }));
  return {
    types: found.filter(({ type }) => type).map(({ name }) => name),
    values: found.filter(({ type }) => !type).map(({ name }) => name),
    lazy: [...text.matchAll(LAZY)].map(([, name = '']) => target(name)),
  };
}

const filesIn = (folder: string): string[] =>
  (readdirSync(folder, { recursive: true }) as string[])
    .filter((path) => /\.tsx?$/.test(path) && !/\.test\.tsx?$/.test(path))
    .map((path) => join(folder, path).replaceAll('\\', '/'));

const kits = toolkitEntries.filter(({ commands }) => commands !== undefined).map(({ id }) => id);

/** Says what a `commands.ts` may not import. */
function leafFaults(path: string, { types, values, lazy }: Imports): string[] {
  const contract = (name: string): boolean => name.startsWith('src/contract/');
  return [
    ...types.filter((name) => name !== 'commander' && !contract(name)),
    ...values.filter((name) => !contract(name)),
    ...lazy.filter((name) => !name.startsWith(`${dirname(path)}/cli/`)),
  ].map((name) => `${path} imports ${name}`);
}

/** Says what a file in a toolkit's `cli/` may not import. */
function cliFaults(path: string, { types, values, lazy }: Imports): string[] {
  const own = `${path.split('/').slice(0, 3).join('/')}/`;
  return [...types, ...values, ...lazy]
    .filter((name) => name.startsWith('src/'))
    .filter((name) => ![own, 'src/contract/', 'src/lib/', 'src/terminal/'].some((at) => name.startsWith(at)))
    .map((name) => `${path} imports ${name}`);
}

describe("a toolkit's commands", () => {
  it('are a leaf that loads its code when a command runs', () => {
    expect(kits.length).toBeGreaterThan(2);
    const faults = kits.flatMap((id) => {
      const path = `src/toolkits/${id}/commands.ts`;
      return leafFaults(path, importsOf(path));
    });
    expect(faults).toEqual([]);
  });

  it('reach the application only through the host', () => {
    const faults = kits.flatMap((id) =>
      filesIn(`src/toolkits/${id}/cli`).flatMap((path) => cliFaults(path, importsOf(path))),
    );
    expect(faults).toEqual([]);
  });

  it('would be refused with other imports', () => {
    const leaf = 'src/toolkits/x/commands.ts';
    const faultsOf = (text: string): string[] => leafFaults(leaf, importsOf(leaf, text));
    expect(faultsOf("import { Option } from 'commander';")).toHaveLength(1);
    expect(faultsOf("import { xApi } from './config.ts';")).toHaveLength(1);
    expect(faultsOf("import './errors.ts';")).toHaveLength(1);
    expect(faultsOf("const load = () => import('./toolkit.ts');")).toHaveLength(1);
    const file = 'src/toolkits/x/cli/post.ts';
    expect(cliFaults(file, importsOf(file, "import type { App } from '../../../app/app.ts';"))).toHaveLength(
      1,
    );
  });

  it('come in their stated order after those of the core', () => {
    const names = createProgram().commands.map((command) => command.name());
    expect(names.slice(names.indexOf('secrets') + 1)).toEqual([
      'mcp-server',
      'sessions',
      'auth',
      'x',
      'dev',
      'research',
      'help',
    ]);
  });
});

describe('the core of the command line', () => {
  const core = ['src/cli', 'src/daemon', 'src/app', 'src/terminal'].flatMap(filesIn);

  it('learns of toolkits from their entries alone', () => {
    const faults = core.flatMap((path) => {
      const { types, values, lazy } = importsOf(path);
      return [...types, ...values, ...lazy]
        .filter((name) => name.startsWith('src/toolkits/') && name !== 'src/toolkits/index.generated.ts')
        .map((name) => `${path} imports ${name}`);
    });
    expect(faults).toEqual([]);
  });
});

describe('queries', () => {
  const QUERY = /\b(selectFrom|insertInto|updateTable|deleteFrom|mergeInto)\(|\bsql[`<]/;
  const TABLE =
    /\b(?:selectFrom|insertInto|updateTable|deleteFrom|mergeInto|(?:inner|left|right|full|cross)Join|using)\(\s*\[?\s*(['"`]?)(\w*)/g;
  const read = (path: string): string => readFileSync(path, 'utf8');
  /** Tables that are not the gateway's own; a name that is worked out counts as one. */
  const foreignTables = (text: string): string[] => [
    ...[...text.matchAll(TABLE)]
      .filter(([, quote, name = '']) => quote === '' || !name.startsWith('gateway_'))
      .map(([found]) => found),
    ...(text.match(/\bsql[`<]/g) ?? []),
  ];

  it('are left to the kernel, the storage, the toolkits and the gateway', () => {
    const owners = /^src\/(kernel|storage|toolkits|gateway)\//;
    const others = filesIn('src').filter((path) => !owners.test(path));
    expect(others.length).toBeGreaterThan(100);
    expect(others.filter((path) => QUERY.test(read(path)))).toEqual([]);
  });

  it('of the gateway read its own tables', () => {
    const files = filesIn('src/gateway');
    expect(files.filter((path) => QUERY.test(read(path)))).not.toEqual([]);
    expect(files.flatMap((path) => foreignTables(read(path)).map((found) => `${path}: ${found}`))).toEqual(
      [],
    );
  });

  it('would be refused elsewhere', () => {
    expect(QUERY.test("db.selectFrom('calls')")).toBe(true);
    expect(QUERY.test('sql<Row>`select 1`')).toBe(true);
    expect(foreignTables("db.selectFrom('gateway_servers').innerJoin('calls', 'a', 'b')")).toHaveLength(1);
    expect(foreignTables('db\n.selectFrom(\n  table)')).toHaveLength(1);
  });
});

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toMcpListing } from '../../src/catalogue/mcp.ts';
import { toolkitEntries } from '../../src/toolkits/index.generated.ts';

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
  dependencies: Record<string, string>;
  peerDependencies: Record<string, string>;
  bin: Record<string, string>;
};

const installed = { ...manifest.dependencies, ...manifest.peerDependencies };

const DIST = process.env.TEST_DIST ?? 'dist';

const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

describe('the package', () => {
  it('imports nothing at run time but Node and its own dependencies', () => {
    const builtin = new Set(builtinModules.flatMap((name) => [name, `node:${name}`]));
    const files = (readdirSync(DIST, { recursive: true }) as string[]).filter(
      (path) => path.endsWith('.js') && !path.startsWith('web'),
    );
    expect(files).toContain('main.js');
    expect(files).toEqual(expect.arrayContaining(['suggest-worker.js', 'document-worker.js']));
    const foreign = new Set<string>();
    for (const file of files) {
      const text = readFileSync(join(DIST, file), 'utf8');
      for (const [, specifier = ''] of text.matchAll(
        /(?:^|;)\s*(?:import|export)\b[^'";\n]*?(?:from)?\s*["']([^"'.][^"']*)["']/gm,
      )) {
        if (!builtin.has(specifier) && !(packageOf(specifier) in installed))
          foreign.add(`${specifier} in ${file}`);
      }
      for (const [, specifier = ''] of text.matchAll(/\bimport\("([^".][^"]*)"\)/g)) {
        if (!builtin.has(specifier) && !(packageOf(specifier) in installed))
          foreign.add(`${specifier} in ${file}`);
      }
    }
    expect([...foreign].filter((one) => !one.startsWith('esbuild '))).toEqual([]);
  });

  it('uses no module of Node that newer versions warn about on stderr', () => {
    const files = (readdirSync(DIST, { recursive: true }) as string[]).filter((path) => path.endsWith('.js'));
    const deprecated = /(?:from|require\(|import\()\s*["'](?:node:)?(?:punycode|sys|domain|constants)["']/;
    expect(files.filter((file) => deprecated.test(readFileSync(join(DIST, file), 'utf8')))).toEqual([]);
  });

  it('installs no scraper, DOM or text library that only some people or only the build need', () => {
    const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
      packages: Record<string, { dev?: boolean; devOptional?: boolean; peer?: boolean; resolved?: string }>;
    };
    for (const name of ['@the-convocation/twitter-scraper', 'linkedom', 'twitter-text', 'core-js'])
      expect(lock.packages[`node_modules/${name}`], name).toSatisfy(
        (entry: { dev?: boolean; devOptional?: boolean }) => entry.dev === true || entry.devOptional === true,
      );
    expect(Object.values(lock.packages).filter(({ resolved }) => resolved)).toEqual([]);
  });

  it('has no dependency that its build already contains, and the licences of what it contains', () => {
    const files = (readdirSync(DIST, { recursive: true }) as string[]).filter(
      (path) => path.endsWith('.js') && !path.startsWith('web'),
    );
    const text = files.map((path) => readFileSync(join(DIST, path), 'utf8')).join('\n');
    const unused = Object.keys(manifest.dependencies).filter(
      (name) => !text.includes(`from"${name}"`) && !text.includes(`import("${name}")`),
    );
    expect(unused).toEqual([]);
    // A bundled package that looks for its own files would not find them.
    expect(text.match(/\brequire\w*\("\.\.?\/[^"]*"\)/g) ?? []).toEqual([]);
    const licences = readFileSync(join(DIST, 'LICENSES.txt'), 'utf8');
    for (const name of ['zod', 'hono', 'ai', 'commander'])
      expect(licences).toMatch(new RegExp(`^${name} \\d`, 'm'));
  });

  it('starts from two files, of which workers load neither', () => {
    const imports = (file: string): string[] =>
      [...readFileSync(join(DIST, file), 'utf8').matchAll(/(?:\bimport|\bfrom)"(\.[^"]+)"/g)].map(
        ([, specifier = '']) => join(file, '..', specifier),
      );
    const needed = (file: string, known = new Set<string>()): Set<string> => {
      if (known.has(file)) return known;
      known.add(file);
      for (const next of imports(file)) needed(next, known);
      return known;
    };
    expect([...needed('main.js')]).toEqual(['main.js', 'chunks/start.js']);
    expect([...needed('chunks/app.js')]).toEqual(['chunks/app.js', 'chunks/start.js']);
    for (const worker of ['verify-worker.js', 'suggest-worker.js', 'document-worker.js'])
      expect([...needed(worker)].filter((file) => /(?:start|app)\.js$/.test(file))).toEqual([]);
  });

  it('lists its tools as their schemas say', async () => {
    const built = JSON.parse(readFileSync(join(DIST, 'listings.json'), 'utf8')) as unknown[];
    const toolkits = await Promise.all(toolkitEntries.map(({ load }) => load()));
    const made = toolkits.flatMap(({ tools, dialect }) => tools.map((tool) => toMcpListing(tool, dialect)));
    expect(built).toEqual(JSON.parse(JSON.stringify(made)));
    expect(built.length).toBeGreaterThan(180);
  });

  it('holds the command, the pages and the documents, and nothing of the tests', () => {
    const [{ files }] = JSON.parse(
      execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }),
    ) as [{ files: { path: string }[] }];
    const paths = files.map(({ path }) => path);
    expect(paths).toContain(manifest.bin.countersign);
    expect(paths).toContain('dist/web/index.html');
    expect(paths).toContain('dist/listings.json');
    expect(paths).toContain('README.md');
    expect(paths.filter((path) => /(^|\/)(test|src)\//.test(path))).toEqual([]);
  });
});

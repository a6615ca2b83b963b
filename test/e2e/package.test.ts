import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toMcpListing } from '../../src/render/mcp.ts';
import { toolkitEntries } from '../../src/toolkits/index.generated.ts';

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
  dependencies: Record<string, string>;
  bin: Record<string, string>;
};

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
    expect(files).toEqual(expect.arrayContaining(['embedding-worker.js', 'document-worker.js']));
    const foreign = new Set<string>();
    for (const file of files) {
      const text = readFileSync(join(DIST, file), 'utf8');
      for (const [, specifier = ''] of text.matchAll(
        /(?:^|;)\s*(?:import|export)\b[^'";\n]*?(?:from)?\s*["']([^"'.][^"']*)["']/gm,
      )) {
        if (!builtin.has(specifier) && !(packageOf(specifier) in manifest.dependencies))
          foreign.add(`${specifier} in ${file}`);
      }
      for (const [, specifier = ''] of text.matchAll(/\bimport\("([^".][^"]*)"\)/g)) {
        if (!builtin.has(specifier) && !(packageOf(specifier) in manifest.dependencies))
          foreign.add(`${specifier} in ${file}`);
      }
    }
    expect([...foreign].filter((one) => !one.startsWith('esbuild '))).toEqual([]);
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

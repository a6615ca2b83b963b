import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/**
 * Where a worker's code is: the built file, or the source when the program runs from its sources. `from` is the
 * module that asks,
 * which is next to the worker's source; the bundler puts it into a chunk next to or below the worker's own file.
 */
export async function workerUrl(name: string, from: string): Promise<URL> {
  const built = [`./${name}.js`, `../${name}.js`].map((path) => new URL(path, from));
  const found = built.find((url) => existsSync(url));
  if (found) return found;
  const source = new URL(`./${name}.ts`, from);
  if (!existsSync(source)) throw new Error(`The file ${name}.js is missing from this installation.`);
  return readsTypeScript() ? source : compile(name, fileURLToPath(source));
}

const readsTypeScript = (): boolean => Boolean((process.features as { typescript?: unknown }).typescript);

/**
 * Only for work on the sources under a Node that does not read TypeScript: the result is stored next to the packages
 * it needs.
 */
async function compile(name: string, source: string): Promise<URL> {
  const folder = join(packagesAbove(source), '.cache', 'countersign');
  const bundler = 'esbuild';
  const { build } = (await import(bundler)) as typeof import('esbuild');
  const { outputFiles } = await build({
    entryPoints: [source],
    write: false,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'silent',
  });
  const code = outputFiles[0]?.contents ?? new Uint8Array();
  const target = join(folder, `${name}-${createHash('sha256').update(code).digest('hex').slice(0, 16)}.mjs`);
  if (!existsSync(target)) {
    await mkdir(folder, { recursive: true });
    const draft = `${target}.${process.pid}.${Date.now()}`;
    await writeFile(draft, code);
    // Tests start several processes simultaneously; each writes its own draft and the last rename wins.
    await rename(draft, target);
  }
  return pathToFileURL(target);
}

function packagesAbove(path: string): string {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const packages = join(folder, 'node_modules');
    if (existsSync(packages)) return packages;
    if (folder === dirname(folder)) throw new Error(`No node_modules directory found above ${path}.`);
  }
}

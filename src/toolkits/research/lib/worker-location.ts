import { existsSync } from 'node:fs';
import { mkdir, rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/**
 * Where a worker's code is: the built file, or the source when the program runs from its sources. `from` is the module that asks,
 * which stands beside the worker's source; the bundler puts it into a chunk beside or below the worker's own file.
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

/** Only for work on the sources under a Node that does not read TypeScript: the result is kept beside the packages it needs. */
async function compile(name: string, source: string): Promise<URL> {
  const folder = join(packagesAbove(source), '.cache', 'countersign');
  const { mtimeMs } = await stat(source);
  const target = join(folder, `${name}-${Math.round(mtimeMs)}.mjs`);
  if (!existsSync(target)) {
    const bundler = 'esbuild';
    const { build } = (await import(bundler)) as typeof import('esbuild');
    await mkdir(folder, { recursive: true });
    const draft = `${target}.${process.pid}.${Date.now()}`;
    await build({
      entryPoints: [source],
      outfile: draft,
      bundle: true,
      platform: 'node',
      format: 'esm',
      packages: 'external',
      logLevel: 'silent',
    });
    // Tests start several processes at once; each writes its own draft and the last rename wins.
    await rename(draft, target);
  }
  return pathToFileURL(target);
}

function packagesAbove(path: string): string {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const packages = join(folder, 'node_modules');
    if (existsSync(packages)) return packages;
    if (folder === dirname(folder)) throw new Error(`There is no node_modules folder above ${path}.`);
  }
}

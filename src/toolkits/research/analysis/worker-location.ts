import { existsSync } from 'node:fs';
import { mkdir, rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const NAME = 'embedding-worker';

/** The bundler puts this module into a chunk beside or below the worker's own file. */
const BUILT = [
  `./${NAME}.js`,
  `../${NAME}.js`,
  `./toolkits/research/analysis/${NAME}.js`,
  `../toolkits/research/analysis/${NAME}.js`,
];

/** Where the worker's code is: the built file, or the source when the program runs from its sources. */
export async function embeddingWorkerUrl(from: string = import.meta.url): Promise<URL> {
  const built = BUILT.map((path) => new URL(path, from)).find((url) => existsSync(url));
  if (built) return built;
  const source = new URL(`./${NAME}.ts`, from);
  if (!existsSync(source)) throw new Error(`The file ${NAME}.js is missing from this installation.`);
  return readsTypeScript() ? source : compile(fileURLToPath(source));
}

const readsTypeScript = (): boolean => Boolean((process.features as { typescript?: unknown }).typescript);

/** Only for work on the sources under a Node that does not read TypeScript: the result is kept beside the packages it needs. */
async function compile(source: string): Promise<URL> {
  const folder = join(packagesAbove(source), '.cache', 'countersign');
  const { mtimeMs } = await stat(source);
  const target = join(folder, `${NAME}-${Math.round(mtimeMs)}.mjs`);
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

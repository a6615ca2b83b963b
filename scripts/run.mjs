// Runs a TypeScript script: `node scripts/run.mjs scripts/gen/index.ts`. Node 20 cannot load TypeScript directly.
import { mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const [entry, ...rest] = process.argv.slice(2);
if (!entry) throw new Error('Usage: node scripts/run.mjs SCRIPT.ts [arguments]');
mkdirSync('.tmp', { recursive: true });
const outfile = resolve(join('.tmp', `run-${process.pid}.mjs`));
await build({
  entryPoints: [entry],
  outfile,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  packages: 'external',
  logLevel: 'error',
});
process.argv = [process.argv[0] ?? 'node', resolve(entry), ...rest];
try {
  await import(pathToFileURL(outfile).href);
} finally {
  rmSync(outfile, { force: true });
}

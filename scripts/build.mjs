// Bundles the command line and the web app into dist/ (or the folder given as argument), because loading hundreds of small files is
// most of a cold start.
import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build as buildPages } from 'vite';
import { bundle } from './bundling.mjs';
import { mergeChunks } from './merge-chunks.mjs';

const out = resolve(process.argv[2] ?? 'dist');

rmSync(out, { recursive: true, force: true });
const { metafile } = await bundle({ main: 'src/main.ts' }, out);
await mergeChunks(metafile, { start: 'src/main.ts', app: 'src/app/app.ts' });
// On their own, because a worker needs little of what a server's start loads.
const workers = await bundle(
  {
    'verify-worker': 'src/cli/verify-worker.ts',
    'suggest-worker': 'src/toolkits/research/suggest/suggest-worker.ts',
    'document-worker': 'src/toolkits/research/exchange/documents/document-worker.ts',
  },
  out,
);
chmodSync(resolve(out, 'main.js'), 0o755);
const fonts = readFileSync('src/web/app/fonts/OFL.txt', 'utf8');
writeFileSync(
  resolve(out, 'LICENSES.txt'),
  `${licencesOf([metafile, workers.metafile].flatMap(({ inputs }) => Object.keys(inputs)))}\n${'-'.repeat(80)}\n\n${fonts}`,
);
execFileSync(process.execPath, ['scripts/run.mjs', 'scripts/listings.ts', resolve(out, 'listings.json')], {
  stdio: 'inherit',
});
// Claude Code copies its plugin out of the clone, which then finds the program by this file.
if (out === resolve('dist'))
  writeFileSync(
    'distribution/claude-code/program.json',
    `${JSON.stringify({ program: resolve(out, 'main.js') })}\n`,
  );
await buildPages({ configFile: 'vite.config.ts', logLevel: 'warn', build: { outDir: resolve(out, 'web') } });

/** The licence of every package of which the bundle contains a part: most licences require that it comes along. */
function licencesOf(inputs) {
  const folders = inputs.flatMap(
    (path) => /^(?:small:)?(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? [],
  );
  return [...new Set(folders)]
    .sort()
    .map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      const file = readdirSync(folder).find((one) => /^licen[cs]e([-.]|$)/i.test(one));
      const text = file ? readFileSync(join(folder, file), 'utf8').trim() : `Licence: ${license}`;
      return `${name} ${version}\n\n${text}\n`;
    })
    .join(`\n${'-'.repeat(80)}\n\n`);
}

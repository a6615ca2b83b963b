// Bundles the command line and the web app into dist/ (or the folder given as argument). Our own code and small libraries are bundled, because loading hundreds of small
// files is most of a cold start; what is native, large or loaded on demand stays a package.
import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { build } from 'esbuild';
import { build as buildPages } from 'vite';

const out = resolve(process.argv[2] ?? 'dist');

const { version, dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
const bundled = new Set([
  '@hono/node-server',
  '@marcbachmann/cel-js',
  '@modelcontextprotocol/client',
  '@modelcontextprotocol/core',
  '@modelcontextprotocol/server',
  'canonicalize',
  'commander',
  'croner',
  'diff',
  'hono',
  'kysely',
  'smol-toml',
  'zod',
]);

/** Our messages are English; the other forty languages of zod's own would be half of what it costs to load. */
const englishOnly = {
  name: 'english-only',
  setup: ({ onLoad }) =>
    onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    })),
};

/**
 * The SDK checks a person's answer to a dialog with ajv, which takes more to load than the rest of the server; its own
 * smaller validator does the same for schemas of one yes or no.
 */
const smallValidator = {
  name: 'small-validator',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^@modelcontextprotocol\/server\/_shims$/ }, ({ path }) => ({
      path,
      namespace: 'small',
    }));
    onLoad({ filter: /.*/, namespace: 'small' }, () => ({
      contents: `export { CfWorkerJsonSchemaValidator as DefaultJsonSchemaValidator } from '@modelcontextprotocol/server/validators/cf-worker';
        export { default as process } from 'node:process';`,
      resolveDir: process.cwd(),
    }));
  },
};

rmSync(out, { recursive: true, force: true });
await build({
  entryPoints: {
    main: 'src/main.ts',
    'embedding-worker': 'src/toolkits/research/analysis/embedding-worker.ts',
    'document-worker': 'src/toolkits/research/exchange/documents/document-worker.ts',
  },
  outdir: out,
  bundle: true,
  splitting: true,
  chunkNames: 'chunks/[name]-[hash]',
  platform: 'node',
  format: 'esm',
  target: 'node20',
  external: Object.keys(dependencies)
    .filter((name) => !bundled.has(name))
    .flatMap((name) => [name, `${name}/*`]),
  define: { COUNTERSIGN_VERSION: JSON.stringify(version) },
  // Bundled CommonJS packages ask for `require`, which modules do not have.
  banner: {
    js: "#!/usr/bin/env node\nimport { createRequire as createRequireHere } from 'node:module'; const require = createRequireHere(import.meta.url);",
  },
  // Less text to read at every start; names stay, so that a stack trace in the log can be understood.
  minifyWhitespace: true,
  minifySyntax: true,
  plugins: [englishOnly, smallValidator],
  legalComments: 'linked',
  logLevel: 'warning',
});
chmodSync(resolve(out, 'main.js'), 0o755);
execFileSync(process.execPath, ['scripts/run.mjs', 'scripts/listings.ts', resolve(out, 'listings.json')], {
  stdio: 'inherit',
});
await buildPages({ configFile: 'vite.config.ts', logLevel: 'warn', build: { outDir: resolve(out, 'web') } });

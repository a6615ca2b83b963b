// How our code is bundled, for the product and for the servers that the benchmark starts. What package.json lists as a dependency
// stays a package; everything else, a development dependency, is bundled. As a command: node scripts/bundling.mjs FOLDER ENTRY.ts
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const { version, dependencies, peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));

/** Our messages are English; the other forty languages of zod's own would be half of what it costs to load. */
const englishOnly = {
  name: 'english-only',
  setup: ({ onLoad }) =>
    onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    })),
};

/** Optional peers stay packages for our own code, which asks before it loads one; a bundled library gets its own copy. */
const optionalPeers = {
  name: 'optional-peers',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^[^.]/ }, ({ path, importer }) =>
      !importer.includes('node_modules') &&
      Object.keys(peerDependencies).some((name) => path === name || path.startsWith(`${name}/`))
        ? { path, external: true }
        : undefined,
    ),
};

/**
 * The SDK checks a person's answer to a dialog with ajv, which takes more to load than the rest of the server; its own
 * smaller validator does the same for schemas of one yes or no. The option `jsonSchemaValidator` would not keep ajv from
 * being loaded, and the `workerd` condition also replaces the process that stdio needs, so its internal module is replaced.
 * Its client validates nothing here: results are passed on.
 */
const smallValidator = {
  name: 'small-validator',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^@modelcontextprotocol\/(server|client)\/_shims$/ }, ({ path }) => ({
      path,
      namespace: 'small',
    }));
    onLoad({ filter: /.*/, namespace: 'small' }, ({ path }) => ({
      contents: `export { CfWorkerJsonSchemaValidator as DefaultJsonSchemaValidator } from '${path.replace('_shims', 'validators/cf-worker')}';
        export const CORS_IS_POSSIBLE = false;
        export { default as process } from 'node:process';`,
      resolveDir: process.cwd(),
    }));
  },
};

/** Node's own `punycode` prints a deprecation warning from version 21 on; twitter-text comes with the package of that name. */
const ownPunycode = {
  name: 'own-punycode',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^punycode$/ }, ({ importer }) => ({
      path: createRequire(importer).resolve('punycode/'),
    })),
};

/** Also for the files that are merged from chunks. */
export const SHARED_OPTIONS = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  // Bundled CommonJS packages ask for `require`, which modules do not have.
  banner: {
    js: "#!/usr/bin/env node\nimport { createRequire as createRequireHere } from 'node:module'; const require = createRequireHere(import.meta.url);",
  },
  // Less text to read at every start; names stay, so that a stack trace in the log can be understood.
  minifyWhitespace: true,
  minifySyntax: true,
  logLevel: 'warning',
};

/** Bundles these entry points into a folder, with what they share in chunks. */
export const bundle = (entryPoints, outdir) =>
  build({
    ...SHARED_OPTIONS,
    entryPoints,
    outdir,
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    external: Object.keys(dependencies).flatMap((name) => [name, `${name}/*`]),
    // Its entry for Node looks for its parts with a `require` that no bundler can follow.
    alias: { 'jsonc-parser': './node_modules/jsonc-parser/lib/esm/main.js' },
    define: { COUNTERSIGN_VERSION: JSON.stringify(version) },
    plugins: [englishOnly, optionalPeers, ownPunycode, smallValidator],
    metafile: true,
    legalComments: 'linked',
  });

const [script, folder, entry] = process.argv.slice(1);
if (folder && entry && import.meta.url === pathToFileURL(script ?? '').href)
  await bundle({ [basename(entry, '.ts')]: entry }, folder);

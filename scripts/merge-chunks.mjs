// esbuild makes a chunk of its own for each set of entry points that share some code: a server's start would load eighty files, and
// each costs time before its first line runs. What is always loaded together is put into one file here.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { build } from 'esbuild';
import { SHARED_OPTIONS } from './bundling.mjs';

/**
 * Merges the chunks that a source needs into one file per group. A group leaves out what an earlier one has, so it only needs
 * itself and earlier ones and no cycle can arise.
 */
export async function mergeChunks({ outputs }, groups) {
  const places = new Map();
  for (const [name, source] of Object.entries(groups))
    for (const chunk of chunksFor(outputs, source))
      if (!places.has(chunk))
        places.set(chunk, { file: join(dirname(chunk), `${name}.js`), prefix: `c${places.size}_` });
  const others = Object.keys(outputs).filter((path) => path.endsWith('.js') && !places.has(path));
  const texts = new Map(others.map((path) => [path, redirect(path, places)]));
  for (const file of new Set([...places.values()].map((place) => place.file)))
    texts.set(file, await merge(file, outputs, places));
  for (const [path, { file, prefix }] of places) {
    if (!outputs[path].entryPoint) rmSync(path);
    // A dynamic import reads exports by their own names.
    else
      texts.set(
        path,
        `export{${namesOf(outputs[path], prefix, (own, merged) => `${merged} as ${own}`)}}from"./${basename(file)}";\n`,
      );
  }
  for (const [path, text] of texts) writeFileSync(path, text);
}

/** The chunk that contains a source and all that it imports; of an entry point only the latter, because it is run and not imported. */
function chunksFor(outputs, source) {
  const found = new Set();
  const add = (path) => {
    if (found.has(path)) return;
    found.add(path);
    for (const { path: next, kind } of outputs[path].imports)
      if (kind === 'import-statement' && outputs[next]) add(next);
  };
  const start = Object.keys(outputs).find((path) => outputs[path].inputs[source]);
  if (!start) throw new Error(`No chunk contains ${source}, which scripts/build.mjs names.`);
  add(start);
  return [...found].filter((path) => basename(dirname(path)) === 'chunks');
}

const namesOf = ({ exports }, prefix, pair) => exports.map((name) => pair(name, prefix + name)).join();

const STATIC_IMPORT = /import(?:\{([^{}]*)\}from)?"(\.\.?\/[^"]+\.js)";/g;

/** A chunk's text that imports from the merged files, except from the one that it becomes a part of. */
function redirect(path, places, own) {
  const names = new Map();
  const text = readFileSync(path, 'utf8').replace(STATIC_IMPORT, (statement, list, specifier) => {
    const place = places.get(join(dirname(path), specifier));
    if (!place || place.file === own) return statement;
    const moved = (list ? list.split(',') : []).map((name) =>
      name.includes(' as ') ? place.prefix + name : `${place.prefix}${name} as ${name}`,
    );
    names.set(place.file, [...(names.get(place.file) ?? []), ...moved]);
    return '';
  });
  const imports = [...names].map(([file, list]) => {
    const specifier = relative(dirname(path), file);
    return `import{${list}}from"${specifier.startsWith('.') ? specifier : `./${specifier}`}";`;
  });
  const { banner } = SHARED_OPTIONS;
  return own
    ? imports.join('') + text.replace(banner.js, '')
    : text.replace(banner.js, `${banner.js}\n${imports.join('')}`);
}

async function merge(file, outputs, places) {
  const chunks = [...places].filter(([, place]) => place.file === file);
  const isPart = new Set(chunks.map(([path]) => resolve(path)));
  const contents = chunks.map(([path, { prefix }]) => {
    const names = namesOf(outputs[path], prefix, (own, merged) => `${own} as ${merged}`);
    return names ? `export{${names}}from"./${basename(path)}";` : `import"./${basename(path)}";`;
  });
  const parts = {
    name: 'parts',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /.*/ }, ({ path, kind, resolveDir }) =>
        kind !== 'dynamic-import' && path.startsWith('.') && isPart.has(resolve(resolveDir, path))
          ? { path: resolve(resolveDir, path) }
          : { path, external: true },
      );
      onLoad({ filter: /\.js$/ }, ({ path }) => ({ contents: redirect(relative('.', path), places, file) }));
    },
  };
  const { outputFiles } = await build({
    ...SHARED_OPTIONS,
    stdin: { contents: contents.join('\n'), resolveDir: dirname(resolve(file)) },
    plugins: [parts],
    write: false,
    legalComments: 'eof',
  });
  return outputFiles[0].text;
}

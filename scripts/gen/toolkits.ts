import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { catalogueOf } from '../../src/catalogue/inventory.ts';
import type { Toolkit } from '../../src/contract/toolkit.ts';

const FOLDER = 'src/toolkits';

/** The folders that are toolkits, by name. */
export const toolkitNames = (): string[] =>
  readdirSync(FOLDER)
    .filter((name) => existsSync(join(FOLDER, name, 'toolkit.ts')))
    .sort();

/** Loads a toolkit from source; importing one opens nothing. */
export async function loadToolkit(name: string): Promise<Toolkit> {
  const outfile = join(process.cwd(), '.tmp', `gen-${name}-${process.pid}.mjs`);
  await build({
    entryPoints: [join(FOLDER, name, 'toolkit.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    logLevel: 'error',
  });
  const loaded = (await import(pathToFileURL(outfile).href)) as { toolkit: Toolkit };
  return loaded.toolkit;
}

/** The leaves of a toolkit that are known without loading it, and the name each exports. */
const LEAVES = {
  sections: 'config.ts',
  policy: 'policy.ts',
  prompts: 'prompts.ts',
  commands: 'commands.ts',
} as const;
const MISSING = { sections: '[]', policy: 'undefined', prompts: '[]', commands: 'undefined' } as const;

/** One entry per folder, with what is known of its tools without loading it. */
export function toolkitIndex(toolkits: readonly Toolkit[]): string {
  const has = (id: string, file: string): boolean => existsSync(join(FOLDER, id, file));
  const leaves = Object.entries(LEAVES) as [keyof typeof LEAVES, string][];
  const imports = toolkits.flatMap(({ id }) => [
    ...leaves
      .filter(([, file]) => has(id, file))
      .map(([name, file]) => `import { ${name} as ${id}_${name} } from './${id}/${file}';`),
    // Error codes are looked up by name, also in outcomes of toolkits that are not loaded.
    ...(has(id, 'errors.ts') ? [`import './${id}/errors.ts';`] : []),
  ]);
  const entries = toolkits.map((toolkit) => {
    const { id, title, rank, brings, actsAs, listenEnv } = toolkit;
    const rows = catalogueOf(toolkit).map((entry) => `      ${JSON.stringify(entry)},`);
    const migrations = has(id, 'migrations') ? readdirSync(join(FOLDER, id, 'migrations')).sort() : [];
    return [
      '  {',
      `    id: ${JSON.stringify(id)},`,
      `    title: ${JSON.stringify(title)},`,
      ...(rank === undefined ? [] : [`    rank: ${rank},`]),
      `    brings: ${JSON.stringify(brings ?? [])},`,
      `    actsAs: ${JSON.stringify(actsAs ?? [])},`,
      ...(listenEnv === undefined ? [] : [`    listenEnv: ${JSON.stringify(listenEnv)},`]),
      ...leaves.map(([name, file]) => `    ${name}: ${has(id, file) ? `${id}_${name}` : MISSING[name]},`),
      `    migrationNames: ${JSON.stringify(migrations.map((file) => migrationName(id, file)))},`,
      '    migrations: async () => [',
      ...migrations.map((file) => `      (await import('./${id}/migrations/${file}')).migration,`),
      '    ],',
      `    load: async () => (await import('./${id}/toolkit.ts')).toolkit as unknown as Toolkit,`,
      '    catalogue: [',
      ...rows,
      '    ],',
      '  },',
    ].join('\n');
  });
  return [
    '// Written by `npm run gen` from the folders next to this file. Do not edit.',
    "import type { ToolkitEntry } from '../contract/toolkit-entry.ts';",
    "import type { Toolkit } from '../contract/toolkit.ts';",
    ...imports,
    '',
    'export const toolkitEntries: readonly ToolkitEntry[] = [',
    ...entries,
    '];',
    '',
  ].join('\n');
}

function migrationName(id: string, file: string): string {
  const [, name] =
    /^ {2}name: '([^']+)',$/m.exec(readFileSync(join(FOLDER, id, 'migrations', file), 'utf8')) ?? [];
  if (name === undefined) throw new Error(`${id}/migrations/${file} states no name.`);
  return name;
}

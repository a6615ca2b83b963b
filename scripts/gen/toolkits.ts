import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import type { Toolkit } from '../../src/contract/toolkit.ts';
import { catalogueOf } from '../../src/registry/inventory.ts';

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

/** One import per folder, and what is known of its tools without loading it. */
export function toolkitIndex(toolkits: readonly Toolkit[]): string {
  const hasConfig = (id: string): boolean => existsSync(join(FOLDER, id, 'config.ts'));
  const imports = toolkits
    .filter(({ id }) => hasConfig(id))
    .map(({ id }) => `import { sections as ${id} } from './${id}/config.ts';`);
  const entries = toolkits.map((toolkit) => {
    const { id, title, brings } = toolkit;
    const rows = catalogueOf(toolkit).map((entry) => `      ${JSON.stringify(entry)},`);
    return [
      '  {',
      `    id: ${JSON.stringify(id)},`,
      `    title: ${JSON.stringify(title)},`,
      `    brings: ${JSON.stringify(brings ?? [])},`,
      `    sections: ${hasConfig(id) ? id : '[]'},`,
      `    load: async () => (await import('./${id}/toolkit.ts')).toolkit as unknown as Toolkit,`,
      '    catalogue: [',
      ...rows,
      '    ],',
      '  },',
    ].join('\n');
  });
  return [
    '// Written by `npm run gen` from the folders beside this file. Do not edit.',
    "import type { ConfigSection } from '../contract/config.ts';",
    "import type { Effect } from '../contract/effect.ts';",
    "import type { Profile } from '../contract/profile.ts';",
    "import type { Toolkit } from '../contract/toolkit.ts';",
    ...imports,
    '',
    'export interface ToolkitEntry {',
    '  readonly id: string;',
    '  readonly title: string;',
    '  readonly brings: readonly string[];',
    '  readonly sections: readonly ConfigSection[];',
    '  load(): Promise<Toolkit>;',
    '  readonly catalogue: readonly {',
    '    readonly name: string;',
    '    readonly toolkit: string;',
    '    readonly category: string;',
    '    readonly effect: Effect;',
    '    readonly profiles: readonly Profile[];',
    '    readonly policyName?: string;',
    '    readonly mayTakeLong?: boolean;',
    '  }[];',
    '}',
    '',
    'export const toolkitEntries: readonly ToolkitEntry[] = [',
    ...entries,
    '];',
    '',
  ].join('\n');
}

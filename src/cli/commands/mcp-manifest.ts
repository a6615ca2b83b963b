import { loadConfig } from '../../config/load.ts';
import type { Profile } from '../../contract/profile.ts';
import { VERSION } from '../../lib/version.ts';
import { createExposure } from '../../registry/exposure.ts';
import { createInventory } from '../../registry/inventory.ts';
import { manifestOf } from '../../registry/manifest.ts';
import { toolkitEntries } from '../../toolkits/index.generated.ts';
import type { GlobalOptions } from '../context.ts';
import { print, printJson, table } from '../output.ts';

interface ManifestOptions {
  readonly profile?: Profile;
  readonly toolkits?: string;
  readonly format: 'json' | 'table';
}

/** Prints what a session of this profile would be offered. Opens neither the store nor any connection. */
export async function mcpManifest(global: GlobalOptions, options: ManifestOptions): Promise<void> {
  const config = loadConfig({
    path: global.config,
    env: process.env,
    flags: { profile: options.profile, toolkits: options.toolkits?.split(',').map((id) => id.trim()) },
    sections: toolkitEntries.flatMap(({ sections }) => sections),
    toolkits: toolkitEntries.map(({ id }) => id),
  });
  const inventory = await createInventory(
    toolkitEntries,
    () => Promise.reject(new Error('A manifest connects nothing.')),
    config.withheld,
  );
  const { listed } = createExposure(inventory, {
    toolkits: config.toolkits,
    profile: config.profile,
    discovery: false,
  });
  const manifest = manifestOf(await listed(), config.profile, VERSION);
  if (options.format === 'json' || global.json) return printJson(manifest);
  const rows = manifest.tools.map(({ name, toolkit, category, effect }) => [name, toolkit, category, effect]);
  print(table(['TOOL', 'TOOLKIT', 'CATEGORY', 'EFFECT'], rows));
  print(`\n${manifest.tool_count} tools in profile ${manifest.profile}`);
}

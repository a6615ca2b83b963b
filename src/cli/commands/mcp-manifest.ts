import { createExposure } from '../../catalogue/exposure.ts';
import { createInventory } from '../../catalogue/inventory.ts';
import { manifestOf } from '../../catalogue/manifest.ts';
import { loadConfig } from '../../config/load.ts';
import type { GlobalOptions } from '../../contract/command.ts';
import type { Profile } from '../../contract/tool.ts';
import { VERSION } from '../../lib/log.ts';
import { print, printJson, table } from '../../terminal/output.ts';
import { counted } from '../../terminal/text.ts';
import { toolkitEntries } from '../../toolkits/index.generated.ts';

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
    () => Promise.reject(new Error('A manifest opens no connection.')),
    config.withheld,
  );
  const { listed } = createExposure(inventory, {
    // What a server offers is known from the store alone.
    toolkits: config.toolkits.filter((id) => !Object.hasOwn(config.servers, id)),
    profile: config.profile,
    discovery: false,
  });
  const manifest = manifestOf(await listed(), config.profile, VERSION);
  if (options.format === 'json' || global.json) return printJson(manifest);
  const rows = manifest.tools.map(({ name, toolkit, category, effect }) => [name, toolkit, category, effect]);
  print(table(['TOOL', 'TOOLKIT', 'CATEGORY', 'EFFECT'], rows));
  print(`\n${counted(manifest.tool_count, 'tool')} in profile ${manifest.profile}`);
}

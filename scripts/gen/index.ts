import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { createExposure } from '../../src/catalogue/exposure.ts';
import { createInventory } from '../../src/catalogue/inventory.ts';
import { manifestOf } from '../../src/catalogue/manifest.ts';
import { toMcpListing } from '../../src/catalogue/mcp.ts';
import { PROFILES } from '../../src/contract/tool.ts';
import { toolkitEntries } from '../../src/toolkits/index.generated.ts';
import { architecturePage } from './borders.ts';
import { commandPage } from './command-help.ts';
import { distributionFiles } from './distribution.ts';
import { configurationPage, errorsPage, toolkitPage } from './reference.ts';
import { loadToolkit, toolkitIndex, toolkitNames } from './toolkits.ts';

/** The manifests and pins belong to the surface, not to a release; they must not change with the version. */
const VERSION = 'current';

const write = (path: string, text: string): void => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text.endsWith('\n') ? text : `${text}\n`);
};
const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

const toolkits = await Promise.all(toolkitNames().map(loadToolkit));
const INDEX = 'src/toolkits/index.generated.ts';
const index = toolkitIndex(toolkits);
if (readFileSync(INDEX, 'utf8') !== index) {
  // What follows was compiled with the old index, so it is done again with the new one.
  write(INDEX, index);
  execFileSync(process.execPath, ['scripts/run.mjs', 'scripts/gen/index.ts'], { stdio: 'inherit' });
  process.exit(0);
}
write('ARCHITECTURE.md', architecturePage());
for (const [path, value] of Object.entries(distributionFiles())) write(path, json(value));
write('docs/reference/errors.md', errorsPage());
write('docs/reference/commands.md', commandPage());
write(
  'docs/reference/configuration.md',
  configurationPage(toolkitEntries.flatMap(({ sections }) => sections)),
);
for (const toolkit of toolkits) {
  write(`docs/reference/tools-${toolkit.id}.md`, toolkitPage(toolkit));
  for (const tool of toolkit.tools)
    write(
      `test/pins/tools/${tool.name}.json`,
      json({ effect: tool.effect, profiles: tool.profiles, ...toMcpListing(tool, toolkit.dialect) }),
    );
}

const sources = toolkits.map((toolkit) => ({
  id: toolkit.id,
  brings: toolkit.brings,
  load: async () => toolkit,
}));
const inventory = await createInventory(sources, () =>
  Promise.reject(new Error('Generating connects nothing.')),
);
for (const profile of PROFILES) {
  const { listed } = createExposure(inventory, { toolkits: ['x'], profile, discovery: false });
  write(`docs/generated/mcp-manifest-${profile}.json`, json(manifestOf(await listed(), profile, VERSION)));
  const every = createExposure(inventory, {
    toolkits: toolkits.map(({ id }) => id),
    profile,
    discovery: false,
  });
  write(
    `docs/generated/mcp-manifest-all-${profile}.json`,
    json(manifestOf(await every.listed(), profile, VERSION)),
  );
}

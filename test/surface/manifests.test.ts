import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { connectStdio, createHome } from '../e2e/support.ts';

const home = createHome();
afterAll(() => home.close());

const EVERY = 'assistant,dev,governance,research,x';
const PROFILES = ['readonly', 'api-readonly', 'write', 'admin'];
const CASES = PROFILES.flatMap((profile) => [
  { file: `mcp-manifest-${profile}`, profile, toolkits: 'x' },
  { file: `mcp-manifest-all-${profile}`, profile, toolkits: EVERY },
]);
const readJson = (path: string): Record<string, unknown> =>
  JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;

// These files are written by `npm run gen`; the build has to agree with them.
describe('the build', () => {
  it.each(CASES)('prints the manifest that is committed as $file', ({ file, profile, toolkits }) => {
    const text = home.cli(
      'mcp',
      'manifest',
      '--format',
      'json',
      '--profile',
      profile,
      '--toolkits',
      toolkits,
    );
    const printed = JSON.parse(text) as Record<string, unknown>;
    expect({ ...printed, countersign_version: 'current' }).toEqual(readJson(`docs/generated/${file}.json`));
  });

  it('lists every tool to a client as it is pinned', async () => {
    const { client, close } = await connectStdio(home, ['--toolkits', EVERY, '--profile', 'admin']);
    const { tools } = await client.listTools();
    await close();
    expect(tools.length).toBeGreaterThan(150);
    for (const tool of tools) {
      const {
        effect: _effect,
        profiles: _profiles,
        ...pinned
      } = readJson(`test/pins/tools/${tool.name}.json`);
      expect(tool, tool.name).toEqual(pinned);
    }
  });
});

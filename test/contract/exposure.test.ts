import { describe, expect, it } from 'vitest';
import { PROFILES } from '../../src/contract/profile.ts';
import { createExposure } from '../../src/registry/exposure.ts';
import { createInventory } from '../../src/registry/inventory.ts';
import { toolkitEntries } from '../../src/toolkits/index.generated.ts';

const inventory = await createInventory(toolkitEntries, () => Promise.reject(new Error('not connected')));
const listed = async (toolkits: string[], profile: (typeof PROFILES)[number], discovery = false) =>
  (await createExposure(inventory, { toolkits, profile, discovery })).listed.map(({ tool }) => tool.name);

describe('what a session is shown', () => {
  it.each([
    ['readonly', 14],
    ['api-readonly', 45],
    ['write', 112],
    ['admin', 139],
  ] as const)('is, for toolkit x and profile %s, %i tools', async (profile, count) => {
    expect(await listed(['x'], profile)).toHaveLength(count);
  });

  it('is 140 tools of toolkit x in all, x_get_me in api-readonly alone', async () => {
    const all = new Set((await Promise.all(PROFILES.map((profile) => listed(['x'], profile)))).flat());
    expect(all.size).toBe(140);
    expect(await listed(['x'], 'admin')).not.toContain('x_get_me');
    expect(await listed(['x'], 'api-readonly')).toContain('x_get_me');
  });

  it('holds no governance tools with x alone, and brings them with dev', async () => {
    expect(await listed(['x'], 'write')).not.toContain('approval_request');
    expect(await listed(['dev'], 'write')).toContain('approval_request');
  });

  it('is three tools under discovery', async () => {
    expect(await listed(['x', 'dev'], 'write', true)).toEqual(['search_tools', 'describe_tool', 'call_tool']);
  });

  it('never changes from one listing to the next', async () => {
    expect(await listed(['x', 'dev', 'research', 'assistant'], 'write')).toEqual(
      await listed(['x', 'dev', 'research', 'assistant'], 'write'),
    );
  });
});

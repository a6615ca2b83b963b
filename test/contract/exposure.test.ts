import { describe, expect, it } from 'vitest';
import { createExposure } from '../../src/catalogue/exposure.ts';
import { createInventory } from '../../src/catalogue/inventory.ts';
import { PROFILES } from '../../src/contract/tool.ts';
import { toolkitEntries } from '../../src/toolkits/index.generated.ts';

const inventory = await createInventory(toolkitEntries, () => Promise.reject(new Error('not connected')));
const listed = async (toolkits: string[], profile: (typeof PROFILES)[number], discovery = false) =>
  (await createExposure(inventory, { toolkits, profile, discovery }).listed()).map(({ tool }) => tool.name);

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

  it.each(
    toolkitEntries.flatMap(({ id, prompts }) => prompts.map((prompt) => [prompt.name, id, prompt] as const)),
  )('declares every tool that the prompt %s mentions', (_name, id, prompt) => {
    const known = new Set(toolkitEntries.flatMap(({ catalogue }) => catalogue.map(({ name }) => name)));
    const given = Object.fromEntries(prompt.arguments.map(({ name }) => [name, '']));
    const said = JSON.stringify([prompt.description, prompt.arguments, prompt.text(given)]);
    const mentioned = new Set((said.match(/[a-z]+(_[a-z]+)+/g) ?? []).filter((word) => known.has(word)));
    expect([...prompt.tools].sort()).toEqual([...mentioned].sort());
    const { reachable } = createExposure(inventory, { toolkits: [id], profile: 'admin', discovery: false });
    expect(reachable).toEqual(expect.arrayContaining([...prompt.tools]));
  });

  it('never changes from one listing to the next', async () => {
    expect(await listed(['x', 'dev', 'research', 'assistant'], 'write')).toEqual(
      await listed(['x', 'dev', 'research', 'assistant'], 'write'),
    );
  });

  it('is known before any toolkit is loaded, and loads only the one whose tool is asked for', async () => {
    const loaded: string[] = [];
    const watched = toolkitEntries.map((entry) => ({
      ...entry,
      load: () => {
        loaded.push(entry.id);
        return entry.load();
      },
    }));
    const all = ['x', 'dev', 'research', 'assistant'];
    const fresh = await createInventory(watched, () => Promise.reject(new Error('not connected')));
    const exposure = createExposure(fresh, { toolkits: all, profile: 'write', discovery: false });
    expect(exposure.names).toEqual(await listed(all, 'write'));
    expect(loaded).toEqual([]);
    expect((await exposure.find('x_post_tweet'))?.tool.name).toBe('x_post_tweet');
    expect(loaded).toEqual(['x']);
  });

  it('never holds a tool of another profile or toolkit, regardless of how it is requested', async () => {
    const exposure = createExposure(inventory, { toolkits: ['x'], profile: 'readonly', discovery: true });
    for (const name of ['x_post_tweet', 'code_branch_pr_create', 'approval_request', 'no_such_tool']) {
      expect(await exposure.find(name)).toBeUndefined();
      expect(await exposure.reach(name)).toBeUndefined();
    }
    const [any] = createExposure(inventory, { toolkits: ['x'], profile: 'readonly', discovery: false }).names;
    expect((await exposure.reach(any ?? ''))?.tool.name).toBe(any);
  });
});

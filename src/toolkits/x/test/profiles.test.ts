import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectStdio, createHome, type Home } from '../../../../test/e2e/support.ts';

const COUNTS = [
  ['readonly', 14],
  ['api-readonly', 45],
  ['write', 112],
  ['admin', 139],
] as const;

describe('the tools of toolkit x, as a real client of the built package lists them', () => {
  let home: Home;
  const listed = new Map<string, { name: string; annotations?: { readOnlyHint?: boolean } }[]>();
  beforeAll(async () => {
    home = createHome();
    for (const [profile] of COUNTS) {
      const session = await connectStdio(home, ['--toolkits', 'x', '--profile', profile]);
      listed.set(profile, (await session.client.listTools()).tools);
      await session.close();
    }
  });
  afterAll(() => home.close());

  it.each(COUNTS)('are, in the profile %s, the %i of its manifest', (profile, count) => {
    const { tools } = JSON.parse(readFileSync(`docs/generated/mcp-manifest-${profile}.json`, 'utf8')) as {
      tools: { name: string }[];
    };
    const names = listed.get(profile)?.map(({ name }) => name) ?? [];
    expect(names).toHaveLength(count);
    expect([...names].sort()).toEqual(tools.map(({ name }) => name).sort());
  });

  it('are 140 in all', () => {
    expect(new Set([...listed.values()].flat().map(({ name }) => name)).size).toBe(140);
  });

  it.each(['readonly', 'api-readonly'])('change nothing in the profile %s', (profile) => {
    const changing = listed.get(profile)?.filter(({ annotations }) => annotations?.readOnlyHint !== true);
    expect(changing).toEqual([]);
  });

  it('have the documented names', () => {
    const { tools } = JSON.parse(readFileSync('test/data/documents/x-tools.json', 'utf8')) as {
      tools: { name: string; profiles: string[] }[];
    };
    for (const [profile] of COUNTS) {
      const documented = tools.filter(({ profiles }) => profiles.includes(profile)).map(({ name }) => name);
      expect((listed.get(profile) ?? []).map(({ name }) => name).sort(), profile).toEqual(documented.sort());
    }
  });
});

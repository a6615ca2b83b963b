import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { isReadOnly } from '../../src/contract/effect.ts';
import { FAULTS } from '../../src/contract/faults.ts';
import type { Toolkit } from '../../src/contract/toolkit.ts';
import { catalogueOf } from '../../src/registry/inventory.ts';
import { toMcpListing } from '../../src/render/mcp.ts';
import { toolkitEntries } from '../../src/toolkits/index.generated.ts';

let toolkits: Toolkit[];
const tools = () => toolkits.flatMap((toolkit) => toolkit.tools.map((tool) => ({ tool, toolkit })));

beforeAll(async () => {
  toolkits = await Promise.all(toolkitEntries.map((entry) => entry.load()));
});

describe('every tool', () => {
  it('has a name of its own that clients accept', () => {
    const names = tools().map(({ tool }) => tool.name);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[a-z][a-z0-9_]{2,39}$/);
  });

  it('is in the catalogue as it is in its toolkit', () => {
    for (const entry of toolkitEntries) {
      const toolkit = toolkits.find(({ id }) => id === entry.id);
      expect(toolkit && catalogueOf(toolkit), entry.id).toEqual(entry.catalogue);
    }
  });

  it('has title, summary, and schemas every client takes', () => {
    for (const { tool, toolkit } of tools()) {
      const listing = toMcpListing(tool, toolkit.dialect);
      expect(listing.title.length, tool.name).toBeGreaterThan(2);
      expect(listing.description.length, tool.name).toBeGreaterThan(10);
      expect(listing.description.length, tool.name).toBeLessThanOrEqual(400);
      for (const schema of [listing.inputSchema, listing.outputSchema]) {
        expect(schema.type, tool.name).toBe('object');
        expect(JSON.stringify(schema), tool.name).not.toContain('9007199254740991');
      }
      // Some clients reject a whole list for one of these at the top of an input schema.
      for (const key of ['anyOf', 'oneOf', 'allOf'])
        expect(listing.inputSchema, tool.name).not.toHaveProperty(key);
    }
  });

  it('is shown to clients as it is pinned', () => {
    for (const { tool, toolkit } of tools()) {
      const shown = { effect: tool.effect, profiles: tool.profiles, ...toMcpListing(tool, toolkit.dialect) };
      expect(JSON.parse(JSON.stringify(shown)), tool.name).toEqual(
        JSON.parse(readFileSync(`test/pins/tools/${tool.name}.json`, 'utf8')),
      );
    }
  });

  it('refuses an argument it does not know', () => {
    for (const { tool } of tools()) {
      const parsed = tool.input.parse({ surely_unknown_argument: 1 });
      expect(parsed.ok, tool.name).toBe(false);
      if (!parsed.ok)
        expect(
          parsed.issues.map(({ path }) => path),
          tool.name,
        ).toContain('surely_unknown_argument');
    }
  });

  it('is in a read-only profile only when it changes nothing', () => {
    for (const { tool } of tools()) {
      const readOnly = tool.profiles.includes('readonly') || tool.profiles.includes('api-readonly');
      if (readOnly) expect(isReadOnly(tool.effect), tool.name).toBe(true);
    }
  });

  it('names only faults of the catalogue', () => {
    for (const { tool } of tools())
      for (const code of tool.faults) expect(FAULTS, tool.name).toHaveProperty(code);
  });

  it('says in plain words what a person is asked to approve, when agents may call it to change something', () => {
    const changing = tools().filter(
      ({ tool }) => tool.profiles.length > 0 && (tool.effect === 'change' || tool.effect === 'destroy'),
    );
    const silent = changing.filter(({ tool }) => !tool.describeApproval);
    expect(silent.map(({ tool }) => tool.name)).toEqual([]);
  });
});

describe('the documents', () => {
  it('describe every fault code', () => {
    const page = readFileSync('docs/reference/faults.md', 'utf8');
    for (const code of Object.keys(FAULTS)) expect(page).toContain(`\`${code}\``);
  });

  const shared = join('..', 'shared', 'contract');
  it.skipIf(!existsSync(shared))(
    'name no tool that does not exist (needs the contract files beside the project)',
    () => {
      const names = new Set(tools().map(({ tool }) => tool.name));
      for (const file of ['x-tools', 'dev-tools', 'research-tools', 'assistant-tools']) {
        const { tools: documented } = JSON.parse(readFileSync(join(shared, `${file}.json`), 'utf8')) as {
          tools: { name: string }[];
        };
        for (const { name } of documented) expect(names, file).toContain(name);
      }
    },
  );
});

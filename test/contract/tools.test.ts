import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { catalogueOf } from '../../src/catalogue/inventory.ts';
import { toMcpListing } from '../../src/catalogue/mcp.ts';
import { errorCodes, findErrorSpec } from '../../src/contract/errors.ts';
import { isReadOnly } from '../../src/contract/tool.ts';
import type { Toolkit } from '../../src/contract/toolkit.ts';
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

  it('says which approvals it decides if it is a decision, and only then', () => {
    const stated = tools().filter(({ tool }) => tool.decides !== undefined);
    const decisions = tools().filter(({ tool }) => tool.effect === 'decide');
    expect(decisions.length).toBeGreaterThan(0);
    expect(stated.map(({ tool }) => tool.name)).toEqual(decisions.map(({ tool }) => tool.name));
  });

  it('declares the arguments that steer it, which a permit does not cover', () => {
    for (const { tool } of tools()) {
      const takes = Object.keys(tool.input.json.properties ?? {});
      const steering = [
        ...(takes.includes('dry_run') ? ['dry_run'] : []),
        ...(tool.needsPermit ? ['approval_id'] : []),
      ];
      expect(tool.governanceArgs ?? [], tool.name).toEqual(steering);
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

  it('answers without policy and evidence only to report how the server is', () => {
    const answering = tools().filter(({ tool }) => tool.alwaysAnswers);
    expect(answering.map(({ tool }) => tool.name).sort()).toEqual(['get_capabilities', 'health_check']);
    for (const { tool } of answering) expect(tool.effect, tool.name).toBe('read');
  });

  it('is in a read-only profile only when it changes nothing', () => {
    for (const { tool } of tools()) {
      const readOnly = tool.profiles.includes('readonly') || tool.profiles.includes('api-readonly');
      if (readOnly) expect(isReadOnly(tool.effect), tool.name).toBe(true);
    }
  });

  it('names only error codes of the catalogue', () => {
    for (const { tool } of tools())
      for (const code of tool.errors) expect(findErrorSpec(code), `${tool.name}: ${code}`).toBeDefined();
  });

  it('says in plain words what a person is asked to approve, when agents may call it to change something', () => {
    const changing = tools().filter(
      ({ tool }) => tool.profiles.length > 0 && (tool.effect === 'change' || tool.effect === 'destroy'),
    );
    const silent = changing.filter(({ tool }) => !tool.present);
    expect(silent.map(({ tool }) => tool.name)).toEqual([]);
  });
});

describe('the documents', () => {
  it('describe every error code', () => {
    const page = readFileSync('docs/reference/errors.md', 'utf8');
    for (const code of errorCodes()) expect(page).toContain(`\`${code}\``);
  });

  it.each([
    ['x', 140],
    ['dev', 10],
    ['research', 35],
    ['assistant', 1],
  ] as const)('name no tool of the %s toolkit that does not exist, of %i', async (id, count) => {
    const names = toolkits.find((toolkit) => toolkit.id === id)?.tools.map(({ name }) => name);
    const { tools: documented } = JSON.parse(
      readFileSync(`test/data/documents/${id}-tools.json`, 'utf8'),
    ) as {
      tools: { name: string }[];
    };
    expect(documented).toHaveLength(count);
    for (const { name } of documented) expect(names).toContain(name);
  });
});

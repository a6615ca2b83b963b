import { readFileSync } from 'node:fs';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { isChange } from '../../../contract/tool.ts';
import { GENERATED_IDS } from '../endpoints/ids.ts';
import { ENDPOINTS } from '../endpoints/table.ts';
import { generatedTools } from './tools.ts';

interface ContractTool {
  readonly name: string;
  readonly curated: false;
  readonly category: string;
  readonly effect: string;
  readonly profiles: readonly string[];
  readonly scopes: readonly string[];
  readonly error_codes: readonly string[];
  readonly requires: { readonly elevated_access: boolean; readonly db: boolean };
  readonly params: readonly {
    readonly name: string;
    readonly required: boolean;
    readonly documented: boolean;
  }[];
  readonly http: { readonly method: string; readonly host: string; readonly path: string };
}

const properties = (tool: (typeof generatedTools)[number]): Record<string, unknown> =>
  tool.input.json.properties as Record<string, unknown>;

describe('table-driven tools', () => {
  it('are one for each generated endpoint, each name once', () => {
    expect(generatedTools.map(({ name }) => name)).toEqual([...GENERATED_IDS]);
    expect(new Set(GENERATED_IDS).size).toBe(67);
  });

  it.each(generatedTools.map((tool) => [tool.name, tool] as const))(
    '%s refuses an unknown argument and names it',
    (_name, tool) => {
      const parsed = tool.input.parse({ surprise: 1 });
      expect(parsed.ok).toBe(false);
      expect(parsed.ok ? [] : parsed.issues.map(({ path }) => path)).toContain('surprise');
    },
  );

  it('refuses an update that changes nothing, and says what could be changed', () => {
    for (const [name, args, fields] of [
      ['x_v2_lists_update', { id: '1' }, 'name, description, private'],
      [
        'x_ads_campaign_update',
        { account_id: 'a', campaign_id: 'c' },
        'name, status, daily_budget_amount_local_micro, total_budget_amount_local_micro',
      ],
    ] as const) {
      const tool = generatedTools.find((one) => one.name === name);
      const check = (more: object) => () => tool?.check?.({ ...args, ...more }, {} as never);
      expect(check({})).toThrow(`Nothing to change: give one or more of ${fields}.`);
      expect(check({ name: 'New' })).not.toThrow();
    }
  });

  it('presents every change, and reads from their schema', () => {
    for (const tool of generatedTools)
      expect(tool.present !== undefined, tool.name).toBe(isChange(tool.effect));
  });

  it('undoes only with tools that exist, and with arguments they accept', () => {
    const args = {
      id: '11',
      user_id: '10',
      target_user_id: '12',
      list_id: '13',
      tweet_id: '14',
      account_id: 'abc',
      name: 'n',
    };
    const byName = new Map(generatedTools.map((tool) => [tool.name, tool]));
    const undone = generatedTools.flatMap((tool) => {
      const undo = tool.rollback?.(args, { id: '99', data: [{ id: '98' }] });
      return undo ? [[tool.name, undo] as const] : [];
    });
    expect(undone.length).toBe(15);
    for (const [name, undo] of undone) {
      const parsed = byName.get(undo.tool)?.input.parse(undo.args);
      expect(parsed, `${name} undone by ${undo.tool}`).toMatchObject({ ok: true });
    }
  });

  it('can settle every change after a crash', () => {
    expect(
      generatedTools.filter((tool) => isChange(tool.effect) && !tool.reconcile).map(({ name }) => name),
    ).toEqual([]);
  });

  it('refuses everything its announced schema refuses', () => {
    for (const tool of generatedTools) {
      const announced = z.fromJSONSchema(tool.input.json as Parameters<typeof z.fromJSONSchema>[0]);
      for (const args of [
        {},
        { id: '1', user_id: '2' },
        { surprise: 1 },
        { id: 5 },
        { rules: [{}] },
        { rules: [{ value: 'a', x: 1 }] },
        { max_results: '7' },
        { hidden: 1 },
      ]) {
        // The tool may know better, never less.
        if (!announced.safeParse(args).success)
          expect(tool.input.parse(args).ok, `${tool.name} ${JSON.stringify(args)}`).toBe(false);
      }
    }
    expect(generatedTools.every((tool) => !tool.input.parse(null).ok && !tool.input.parse([]).ok)).toBe(true);
  });

  it('says in its own words what is wrong with an id', () => {
    const tool = generatedTools.find(({ name }) => name === 'x_v2_lists_get');
    expect(tool?.input.parse({ id: '../../etc' })).toEqual({
      ok: false,
      issues: [{ path: 'id', message: 'must be a list id of up to 19 digits' }],
    });
  });

  it('costs a client little: the tools of profile write stay below 115 tokens on average', () => {
    const listed = generatedTools.filter(({ profiles }) => profiles.includes('write'));
    const tokens = listed.map(({ name, summary, input }) => {
      const { $schema, ...inputSchema } = input.json;
      return countTokens(JSON.stringify({ name, description: summary, inputSchema }));
    });
    expect(tokens.reduce((sum, each) => sum + each, 0) / listed.length).toBeLessThan(115);
    expect(Math.max(...tokens)).toBeLessThan(180);
  });
});

describe('table-driven tools and their document', () => {
  const contract = JSON.parse(readFileSync('test/data/documents/x-tools.json', 'utf8')) as {
    readonly tools: readonly (ContractTool | { readonly curated: true })[];
  };
  const wanted = contract.tools.filter((tool) => !tool.curated);
  const byName = new Map(generatedTools.map((tool) => [tool.name, tool]));
  /** The contract's own note calls the required `hidden` a quirk: each of the two tools has one meaning. */
  const OPTIONAL_HERE = ['hidden'];

  it('has exactly its names', () => {
    expect([...byName.keys()].sort()).toEqual(wanted.map(({ name }) => name).sort());
  });

  it.each(wanted.map((tool) => [tool.name, tool] as const))(
    '%s is the documented tool',
    (name, documented) => {
      const tool = byName.get(name);
      if (!tool) throw new Error('missing');
      expect({ category: tool.category, effect: tool.effect, profiles: [...tool.profiles].sort() }).toEqual({
        category: documented.category,
        effect: documented.effect,
        profiles: [...documented.profiles].sort(),
      });
      // Two more that X can answer anywhere: the account is restricted, or the item is not there.
      expect([...tool.errors].sort()).toEqual(
        [...documented.error_codes, 'x_account_restricted', 'not_found'].sort(),
      );
      expect(tool.requires?.scopes).toEqual(expect.arrayContaining([...documented.scopes]));
      expect(tool.requires?.elevatedAccess ?? false).toBe(documented.requires.elevated_access);
      expect(tool.requires?.db ?? false).toBe(documented.requires.db);
    },
  );

  it.each(wanted.map((tool) => [tool.name, tool] as const))(
    '%s takes the documented parameters',
    (name, documented) => {
      const tool = byName.get(name);
      if (!tool) throw new Error('missing');
      const names = documented.params.filter((param) => param.documented).map((param) => param.name);
      expect(Object.keys(properties(tool))).toEqual(expect.arrayContaining(names));
      const required = documented.params
        .filter((param) => param.required && !OPTIONAL_HERE.includes(param.name))
        .map((param) => param.name);
      expect([...((tool.input.json.required as string[] | undefined) ?? [])].sort()).toEqual(required.sort());
    },
  );

  it.each(wanted.map((tool) => [tool.name, tool] as const))(
    '%s goes to the documented address',
    (name, { http }) => {
      const endpoint = ENDPOINTS[name as (typeof GENERATED_IDS)[number]];
      const bare = (path: string) => path.replace(/\{\w+\}/g, '{}');
      expect([endpoint.method, endpoint.host, bare(endpoint.path)]).toEqual([
        http.method,
        http.host,
        bare(http.path),
      ]);
    },
  );
});

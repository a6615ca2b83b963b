import { readdirSync, readFileSync } from 'node:fs';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import { PROFILES } from '../../contract/tool.ts';
import { toolkit } from './toolkit.ts';
import { curatedTools } from './tools.ts';

describe('the tools of toolkit x', () => {
  it('are as many in each profile as documented', () => {
    const counts = PROFILES.map(
      (profile) => toolkit.tools.filter((tool) => tool.profiles.includes(profile)).length,
    );
    expect(Object.fromEntries(PROFILES.map((profile, index) => [profile, counts[index]]))).toEqual({
      readonly: 14,
      'api-readonly': 45,
      write: 112,
      admin: 139,
    });
    expect(toolkit.tools.filter((tool) => tool.profiles.length > 0)).toHaveLength(140);
  });

  it('are all listed, each exactly once', () => {
    const declared = readdirSync(new URL('tools/', import.meta.url))
      .filter((name) => !name.endsWith('.test.ts'))
      .flatMap((name) => [
        ...readFileSync(new URL(`tools/${name}`, import.meta.url), 'utf8').matchAll(
          /^ {2}name: '([a-z_]+)',$/gm,
        ),
      ])
      .map(([, tool]) => tool);
    expect(curatedTools.map((tool) => tool.name).sort()).toEqual(declared.sort());
  });

  it('change nothing in a read-only profile', () => {
    const offered = toolkit.tools.filter(
      ({ profiles }) => profiles.includes('readonly') || profiles.includes('api-readonly'),
    );
    expect(offered.filter((tool) => tool.effect !== 'read')).toEqual([]);
  });

  it('cost a client at most 18,000 tokens in the write profile', () => {
    const listed = toolkit.tools.filter((tool) => tool.profiles.includes('write'));
    const listing = listed.map(({ name, summary, input }) => ({
      name,
      description: summary,
      inputSchema: input.json,
    }));
    expect(encode(JSON.stringify(listing)).length).toBeLessThanOrEqual(18_000);
  });

  it('describe every change to the person who decides', () => {
    const silent = curatedTools.filter(
      (tool) => ['change', 'destroy'].includes(tool.effect) && !tool.present,
    );
    expect(silent.map(({ name }) => name)).toEqual([]);
  });

  it('can reconcile after a crash, wherever X shows what happened', () => {
    const blind = curatedTools.filter(
      (tool) => ['change', 'destroy'].includes(tool.effect) && !tool.reconcile,
    );
    // What a free-form request left behind cannot be known.
    expect(blind.map(({ name }) => name)).toEqual(['x_delete', 'x_put']);
  });
});

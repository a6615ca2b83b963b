import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWeb, type WebServer } from '../web/support.ts';
import { type PagePerson, signInWithoutBrowser } from './person.ts';
import { expectPin } from './pin.ts';

const MODES = ['autopilot', 'composer'];
const TEMPLATES = ['safe_default', 'growth_aggressive', 'agency_mode'];
const COLUMNS = MODES.flatMap((mode) => TEMPLATES.map((template) => ({ mode, template })));

interface Row {
  readonly tool: string;
  readonly action: string;
  readonly rule: string;
  readonly reason: string;
}

describe('the policy decision', () => {
  let server: WebServer;
  let person: PagePerson;
  beforeAll(async () => {
    server = await startWeb();
    person = await signInWithoutBrowser(server);
  });
  afterAll(() => server.close());

  it('for every tool is as pinned, in both modes and under each template', async () => {
    const reasons: Record<string, string> = {};
    const seen = { agent: new Map<string, string[]>(), person: new Map<string, string[]>() };
    for (const column of COLUMNS) {
      await person.put('/policy', { ...column, rules: [] });
      for (const [kind, decided] of Object.entries(seen)) {
        for (const { tool, action, rule, reason } of await matrix(`${kind}:ada`)) {
          const key = `${action} ${rule}`;
          const general = reason.replaceAll(`'${tool}'`, "'<tool>'");
          // One reason for one decision keeps the pin small; a rule with two reasons has to be pinned otherwise.
          expect(reasons[key] ?? general, key).toBe(general);
          reasons[key] = general;
          decided.set(tool, [...(decided.get(tool) ?? []), key]);
        }
      }
    }
    const agent = inColumns(seen.agent);
    const otherwise = Object.entries(inColumns(seen.person)).filter(([tool, keys]) => agent[tool] !== keys);
    const pinnedTools = readdirSync('test/pins/tools').map((name) => name.replace('.json', ''));
    expect(Object.keys(agent)).toEqual(pinnedTools.sort());
    expectPin('decisions.json', {
      columns: COLUMNS.map(({ mode, template }) => `${mode} ${template}`),
      reasons: Object.fromEntries(Object.entries(reasons).sort()),
      agent,
      person_where_different: Object.fromEntries(otherwise),
    });
  });

  const matrix = async (principal: string): Promise<Row[]> =>
    (await person.get(`/policy/matrix?principal=${principal}`)).rows as Row[];
});

/** One line for each tool: its decision, or one for each column where they differ. */
function inColumns(decided: ReadonlyMap<string, readonly string[]>): Record<string, string> {
  const lines = [...decided].sort().map(([tool, keys]) => {
    expect(keys, tool).toHaveLength(COLUMNS.length);
    return [tool, new Set(keys).size === 1 ? keys[0] : keys.join(' | ')];
  });
  return Object.fromEntries(lines) as Record<string, string>;
}

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Outcome } from '../contract/outcome.ts';
import { LOCAL_AGENT, type Principal, principalName } from '../contract/principal.ts';
import type { Schema } from '../contract/schema.ts';
import type { BoundTool } from '../contract/toolkit.ts';
import { toolkitEntries } from '../toolkits/index.generated.ts';
import { type App, openApp } from './app.ts';

const ANY: Schema = { json: { type: 'object' }, parse: (value) => ({ ok: true, value }) };

/** The tool as policy and pipeline know it, with nothing behind it: what decides is real, what would run is not. */
const hollow = ({ tool, toolkit, ...bound }: BoundTool): BoundTool => ({
  ...bound,
  toolkit: {
    id: toolkit.id,
    title: toolkit.title,
    dialect: toolkit.dialect,
  },
  tool: {
    name: tool.name,
    title: tool.title,
    summary: tool.summary,
    effect: tool.effect,
    reach: tool.reach,
    category: tool.category,
    profiles: tool.profiles,
    errors: tool.errors,
    input: ANY,
    output: ANY,
    ...(tool.needsPermit ? { needsPermit: true } : {}),
    ...(tool.composite ? { composite: true } : {}),
    ...(tool.alwaysAnswers ? { alwaysAnswers: true } : {}),
    ...(tool.movesMoney ? { movesMoney: tool.movesMoney } : {}),
    ...(tool.decides ? { decides: () => ({ ids: [] }) } : {}),
    run: async () => ({}),
  },
  services: async () => ({}),
});

const PRINCIPALS: readonly Principal[] = [
  LOCAL_AGENT,
  { kind: 'agent', id: 'mira' },
  { kind: 'person', id: 'ada' },
  { kind: 'system', id: 'scheduler' },
];

const RULES = `
[mcp_policy]
template = "none"
blocked_tools = ["x_unfollow_user"]
require_approval_for = ["runs_create"]
[[mcp_policy.rules]]
id = "no-agents"
effects = ["change"]
principals = ["agent:mira"]
toolkits = ["research"]
action = "deny"
[[mcp_policy.rules]]
id = "dry"
tools = ["x_like_tweet"]
action = "dry_run"
[[mcp_policy.rules]]
id = "by-who"
tools = ["x_post_tweet", "get_mode"]
when = "principal.kind == 'agent' && principal.id != 'local'"
action = "ask"
[[mcp_policy.limits]]
key = "few"
dimension = "toolkit"
match = "x"
max = 2
period_seconds = 86400
`;

const WORLDS: readonly [string, string, (app: App) => Promise<unknown>][] = [
  ['the default policy', '', async () => {}],
  ['composer mode', 'mode = "composer"\n', async () => {}],
  ['rules of every kind and a small limit', RULES, async () => {}],
  ['paused changes', '[mcp_policy]\ntemplate = "none"\n', (app) => app.kernel.setPaused(true, app.person)],
  [
    'a paused agent',
    '',
    async (app) => {
      await app.kernel.agents.add('mira', app.person);
      await app.kernel.agents.setPaused('mira', true, app.person);
    },
  ],
  ['agents that may approve', '[approvals]\nagents_may_approve = true\n', async () => {}],
];

describe('the forecast of a call', () => {
  let app: App | undefined;
  let home = '';
  afterEach(async () => {
    await app?.close();
    rmSync(home, { recursive: true, force: true });
  });

  it.each(WORLDS)(
    'is what the pipeline does, for every tool and kind of principal, under %s',
    async (_, config, prepare) => {
      home = mkdtempSync(join(tmpdir(), 'countersign-forecast-'));
      const ids = toolkitEntries.map(({ id }) => `"${id}"`).join(', ');
      writeFileSync(join(home, 'config.toml'), `toolkits = [${ids}]\n${config}`);
      app = await openApp({
        env: { COUNTERSIGN_HOME: home, HOME: home, COUNTERSIGN_LOG__LEVEL: 'silent' },
      });
      const { kernel, inventory } = app;
      await prepare(app);
      const tools: BoundTool[] = [];
      for (const { name } of inventory.catalogue) {
        const bound = await inventory.resolve(name);
        if (bound) tools.push(hollow(bound));
      }
      expect(tools.length).toBeGreaterThan(150);
      const wrong: string[] = [];
      for (const principal of PRINCIPALS)
        for (const bound of tools) {
          const { name } = bound.tool;
          const row = (await kernel.forecast.tools([bound], principal)).get(name);
          const { forecast } = await kernel.forecast.call({ bound, args: {}, principal });
          const { outcome } = await kernel.invoke({ bound, args: {}, principal, transport: 'test' });
          const real = realDecision(outcome);
          const told = [row, forecast].map((one) =>
            `${one?.action} ${one?.action === 'deny' ? one.rule : ''}`.trim(),
          );
          if (told.some((one) => one !== real))
            wrong.push(`${name} by ${principalName(principal)}: said ${told.join(' and ')}, was ${real}`);
          // One agent may have only so many pending, and this is not about that.
          if (outcome.status === 'routed') await kernel.approvals.reject(outcome.approvalId, app.person);
        }
      expect(wrong).toEqual([]);
    },
  );
});

function realDecision(outcome: Outcome): string {
  switch (outcome.status) {
    case 'ok':
      return 'allow';
    case 'routed':
      return 'ask';
    case 'dry_run':
      return 'dry_run';
    case 'refused':
      return `deny ${outcome.rule}`;
    default:
      return `${outcome.status} ${'fault' in outcome ? outcome.fault.message : ''}`;
  }
}

import { expect, it } from 'vitest';
import { z } from 'zod';
import { configSection } from '../contract/config.ts';
import { describeConfig } from './describe.ts';

const fields = describeConfig([
  configSection('kit', 'A kit.', () =>
    z.object({ key: z.string().describe('Key.').meta({ secret: true }) }).strict(),
  ),
]).flatMap((section) => section.fields);

it('describes path, type, default, variable and wording of a field', () => {
  expect(fields.find(({ path }) => path === 'server.port')).toEqual({
    path: 'server.port',
    type: 'integer',
    default: 8765,
    required: false,
    env: 'COUNTERSIGN_SERVER__PORT',
    doc: 'HTTP port; 0 selects a free one.',
    secret: false,
  });
});

it.each([
  ['mode', '"autopilot" | "composer"', 'COUNTERSIGN_MODE'],
  ['approvals.notify.webhook', 'text', 'COUNTERSIGN_APPROVALS__NOTIFY__WEBHOOK'],
  ['mcp_policy.blocked_tools', 'list of text', 'COUNTERSIGN_MCP_POLICY__BLOCKED_TOOLS'],
  ['mcp_policy.rules', 'list of tables', 'COUNTERSIGN_MCP_POLICY__RULES'],
  ['mcp_policy.rules[].when', 'text', undefined],
])('lists %s as %s', (path, type, env) => {
  expect(fields.find((field) => field.path === path)).toMatchObject({ type, env });
});

it('marks what is secret and what must be given', () => {
  expect(fields.find(({ path }) => path === 'kit.key')).toMatchObject({ secret: true, required: true });
});

it('finds a wording for every field', () => {
  expect(fields.filter(({ doc }) => doc === '')).toEqual([]);
});

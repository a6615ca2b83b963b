import type { Hono } from 'hono';
import { z } from 'zod';
import type { Effect } from '../../contract/effect.ts';
import { ToolFault } from '../../contract/faults.ts';
import type { JsonObject } from '../../contract/json.ts';
import { policyRule, TEMPLATE_NAMES } from '../../contract/policy.ts';
import type { CallRecord } from '../../contract/ports.ts';
import { type Principal, principalName } from '../../contract/principal.ts';
import { AgentNameError } from '../../kernel/agents.ts';
import { type PolicyInput, previewRule, TEMPLATES } from '../../kernel/policy/index.ts';
import type { WebPorts } from '../ports.ts';
import type { WebEnv } from '../sign-in.ts';
import { readJson, send } from './body.ts';

const PREVIEWED_CALLS = 100;
const overridesBody = z
  .object({
    mode: z.enum(['autopilot', 'composer']).optional(),
    template: z.enum(TEMPLATE_NAMES).optional(),
    rules: z.array(policyRule),
  })
  .strict();

/** Agents and what they may do. */
export function addGovernanceRoutes(api: Hono<WebEnv>, ports: WebPorts): void {
  const { kernel } = ports;

  api.get('/agents', async (context) => {
    const agents = await kernel.agents.list();
    return context.json({
      agents: agents.map(({ name, createdAt, revokedAt }) => ({
        name,
        created_at: createdAt.toISOString(),
        revoked_at: revokedAt?.toISOString() ?? null,
      })),
    });
  });
  api.post('/agents', async (context) => {
    const { name } = await readJson(context, z.object({ name: z.string() }).strict());
    const token = await kernel.agents.add(name, context.get('session').person).catch((error: unknown) => {
      throw error instanceof AgentNameError ? new ToolFault('validation_error', error.message) : error;
    });
    return context.json({ name, token }, 201);
  });
  api.delete('/agents/:name', async (context) => {
    const name = context.req.param('name');
    if (!(await kernel.agents.revoke(name, context.get('session').person)))
      throw new ToolFault('not_found', `There is no active agent named ${name}.`);
    return context.json({ revoked: true });
  });

  api.get('/policy', async () => {
    const overrides = await ports.overrides();
    const written = new Set(overrides.rules.map(({ id }) => id));
    const { policy } = await ports.policyInput();
    return send({
      status: await ports.ports.policy.status(),
      limits: await ports.ports.policy.limits(),
      overrides,
      configured: policy.rules.filter(({ id }) => !written.has(id)),
      templates: Object.values(TEMPLATES).map(({ name, doc, rules }) => ({
        name,
        doc,
        rules: rules.map(({ label, id }) => label ?? id),
      })),
    });
  });
  api.get('/policy/matrix', (context) => {
    const principal = parsePrincipal(context.req.query('principal'));
    const policy = ports.policy();
    const now = ports.now();
    const { catalogue, withheld } = ports.inventory;
    const offered = catalogue.filter(({ name }) => !withheld.has(name));
    const rows = offered.map((subject) => {
      const { action, rule, reason } = policy.decide({
        subject,
        args: {},
        principal,
        now,
        dryRunRequested: false,
      });
      return {
        tool: subject.name,
        toolkit: subject.toolkit,
        category: subject.category,
        effect: subject.effect,
        action,
        rule,
        reason,
      };
    });
    return context.json({ principal: principalName(principal), rows });
  });
  api.put('/policy', async (context) => {
    const overrides = await readJson(context, overridesBody);
    await ports.setOverrides(overrides, context.get('session').person);
    return context.json({ status: await ports.ports.policy.status(), overrides: await ports.overrides() });
  });
  api.post('/policy/preview', async (context) => {
    const { rule } = await readJson(context, z.object({ rule: policyRule }).strict());
    const calls = await kernel.telemetry.calls({
      effects: ['change', 'destroy', 'read', 'propose', 'decide'],
      limit: PREVIEWED_CALLS,
    });
    const args = await keptArguments(ports, calls);
    const past = calls.map((call) => ({
      callId: call.callId,
      at: call.at,
      subject: {
        name: call.tool,
        toolkit: call.toolkit,
        category: call.category,
        effect: call.effect as Effect,
      },
      principal: parsePrincipal(call.principal),
      args: args.get(call.callId),
    }));
    const input = await ports.policyInput();
    // The policy in force may have no condition yet, and then knows no schemas to check this one against.
    const catalogue = rule.when ? await withSchemas(ports, input.catalogue) : input.catalogue;
    const preview = await previewRule({ ...input, catalogue }, rule, past);
    return context.json({ ...preview, looked_at: past.length });
  });

  for (const paused of [true, false]) {
    api.post(paused ? '/pause' : '/resume', async (context) => {
      await kernel.setPaused(paused, context.get('session').person);
      return context.json({ paused });
    });
  }
}

async function keptArguments(
  { database }: WebPorts,
  calls: readonly CallRecord[],
): Promise<ReadonlyMap<string, JsonObject>> {
  if (calls.length === 0) return new Map();
  const rows = await database.db
    .selectFrom('audit_payloads')
    .select(['call_id', 'body'])
    .where('kind', '=', 'args')
    .where(
      'call_id',
      'in',
      calls.map(({ callId }) => callId),
    )
    .execute();
  return new Map(
    rows.flatMap(({ call_id, body }) =>
      call_id && body ? [[call_id, JSON.parse(body) as JsonObject] as const] : [],
    ),
  );
}

const withSchemas = (
  { inventory }: WebPorts,
  catalogue: PolicyInput['catalogue'],
): Promise<PolicyInput['catalogue']> =>
  Promise.all(
    catalogue.map(async (subject) => {
      const bound = await inventory.resolve(subject.name);
      return bound ? { ...subject, inputJson: bound.tool.input.json } : subject;
    }),
  );

function parsePrincipal(text = 'agent:local'): Principal {
  const match = /^(agent|person|system):(.+)$/.exec(text);
  if (!match?.[1] || !match[2])
    throw new ToolFault('invalid_input', `"${text}" is not a principal like agent:local.`);
  return { kind: match[1] as Principal['kind'], id: match[2] };
}

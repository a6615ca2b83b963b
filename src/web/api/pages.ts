import type { Hono } from 'hono';
import { z } from 'zod';
import { ToolError } from '../../contract/errors.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { WebPorts } from '../ports.ts';
import type { WebEnv } from '../sign-in.ts';
import { presentOutcome, readJson } from './body.ts';

const callBody = z
  .object({
    arguments: z.record(z.string(), z.unknown()).default({}),
    idempotency_key: z.string().max(200).optional(),
    approve: z.boolean().default(false),
  })
  .strict();

/** The toolkits' own pages: their views to look at, their tools to act with, as the signed-in person. */
export function addPageRoutes(api: Hono<WebEnv>, ports: WebPorts): void {
  api.get('/pages', async (context) => {
    const pages = await Promise.all(ports.toolkits.map(({ id }) => ports.inventory.load(id)));
    return context.json({
      pages: pages.map(({ toolkit }) => ({
        id: toolkit.id,
        title: toolkit.title,
        views: Object.keys(toolkit.views ?? {}),
      })),
    });
  });

  api.get('/pages/:toolkit/:view', async (context) => {
    const { toolkit: id, view: name } = context.req.param();
    if (!ports.toolkits.some((one) => one.id === id))
      throw new ToolError('not_found', `The ${id} toolkit is not enabled.`);
    const { toolkit, services } = await ports.inventory.load(id);
    const view = Object.hasOwn(toolkit.views ?? {}, name) ? toolkit.views?.[name] : undefined;
    if (!view) throw new ToolError('not_found', `${toolkit.title} has no view ${name}.`);
    return context.json({
      data: await view(parseParams(context.req.query('params')), {
        services: await services(),
        person: context.get('session').person,
      }),
    });
  });

  api.post('/tools/:name', async (context) => {
    const body = await readJson(context, callBody);
    const name = context.req.param('name');
    const bound = await ports.inventory.resolve(name);
    if (!bound) throw new ToolError('not_found', `Tool ${name} not found.`);
    const { person } = context.get('session');
    const { outcome, callId } = await ports.kernel.invoke({
      bound,
      args: body.arguments,
      principal: person,
      transport: 'web',
      signal: context.req.raw.signal,
      idempotencyKey: body.idempotency_key,
    });
    if (outcome.status !== 'routed' || !body.approve)
      return context.json({ call_id: callId, ...presentOutcome(outcome) });
    // The person pressed a button that says it will happen: their decision is the approval policy asked for.
    const decided = await ports.kernel.approvals.approve(outcome.approvalId, person);
    return context.json({
      call_id: callId,
      approval_id: outcome.approvalId,
      ...(decided.outcome ? presentOutcome(decided.outcome) : {}),
    });
  });
}

function parseParams(text: string | undefined): JsonObject {
  if (!text) return {};
  try {
    const value: unknown = JSON.parse(text);
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value as JsonObject;
  } catch {
    // Reported below, like any other shape that is not an object.
  }
  throw new ToolError('invalid_input', 'params must be a JSON object.');
}

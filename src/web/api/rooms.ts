import type { Hono } from 'hono';
import { z } from 'zod';
import { ToolFault } from '../../contract/faults.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { WebPorts } from '../ports.ts';
import type { WebEnv } from '../sign-in.ts';
import { readJson } from './body.ts';
import { toldOutcome } from './told.ts';

const callBody = z
  .object({
    arguments: z.record(z.string(), z.unknown()).default({}),
    idempotency_key: z.string().max(200).optional(),
    approve: z.boolean().default(false),
  })
  .strict();

/** The toolkits' own pages: their views to look at, their tools to act with, as the signed-in person. */
export function addRoomRoutes(api: Hono<WebEnv>, ports: WebPorts): void {
  api.get('/rooms', async (context) => {
    const rooms = await Promise.all(ports.toolkits.map((id) => ports.inventory.load(id)));
    return context.json({
      rooms: rooms.map(({ toolkit }) => ({
        id: toolkit.id,
        title: toolkit.title,
        views: Object.keys(toolkit.views ?? {}),
      })),
    });
  });

  api.get('/rooms/:toolkit/:view', async (context) => {
    const { toolkit: id, view: name } = context.req.param();
    if (!ports.toolkits.includes(id)) throw new ToolFault('not_found', `The toolkit ${id} is not enabled.`);
    const { toolkit, services } = await ports.inventory.load(id);
    const view = Object.hasOwn(toolkit.views ?? {}, name) ? toolkit.views?.[name] : undefined;
    if (!view) throw new ToolFault('not_found', `${toolkit.title} has no view ${name}.`);
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
    if (!bound) throw new ToolFault('not_found', `There is no tool named ${name}.`);
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
      return context.json({ call_id: callId, ...toldOutcome(outcome) });
    // The person pressed a button that says it will happen: their decision is the approval policy asked for.
    const decided = await ports.kernel.approvals.approve(outcome.approvalId, person);
    return context.json({
      call_id: callId,
      approval_id: outcome.approvalId,
      ...(decided.outcome ? toldOutcome(decided.outcome) : {}),
    });
  });
}

function parseParams(text: string | undefined): JsonObject {
  if (!text) return {};
  try {
    const value: unknown = JSON.parse(text);
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value as JsonObject;
  } catch {
    // Told below, like any other shape that is not an object.
  }
  throw new ToolFault('invalid_input', 'params must be a JSON object.');
}

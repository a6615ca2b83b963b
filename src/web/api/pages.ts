import type { Hono } from 'hono';
import { ToolError } from '../../contract/errors.ts';
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import { isObject } from '../../lib/is-object.ts';
import type { WebPorts } from '../ports.ts';
import type { WebEnv } from '../sign-in.ts';
import { answer } from './answer.ts';
import { presentOutcome } from './body.ts';

/** The toolkits' own pages: their views to look at, their tools to act with, as the signed-in person. */
export function addPageRoutes(api: Hono<WebEnv>, ports: WebPorts): void {
  answer(api, 'GET /pages', async () => {
    const pages = await Promise.all(ports.toolkits.map(({ id }) => ports.inventory.load(id)));
    return {
      pages: pages.map(({ toolkit }) => ({
        id: toolkit.id,
        title: toolkit.title,
        views: Object.keys(toolkit.views ?? {}),
      })),
    };
  });

  answer(api, 'GET /pages/:toolkit/:view', async (context) => {
    const { toolkit: id, view: name } = context.req.param();
    if (!ports.toolkits.some((one) => one.id === id))
      throw new ToolError('not_found', `The ${id} toolkit is not enabled.`);
    const { toolkit, services } = await ports.inventory.load(id);
    const view = Object.hasOwn(toolkit.views ?? {}, name) ? toolkit.views?.[name] : undefined;
    if (!view) throw new ToolError('not_found', `${toolkit.title} has no view ${name}.`);
    return {
      data: await view(parseParams(context.req.query('params')), {
        services: await services(),
        person: context.get('session').person,
      }),
    };
  });

  answer(api, 'POST /tools/:name', async (context, body) => {
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
    if (outcome.status !== 'routed' || !body.approve) return { call_id: callId, ...presentOutcome(outcome) };
    // The person pressed a button that says it will happen: their decision is the approval policy asked for.
    const decided = await ports.kernel.approvals.approve(outcome.approvalId, person);
    return {
      // The call that ran, which is not the one that asked.
      call_id: decided.approval.callId ?? callId,
      approval_id: outcome.approvalId,
      ...presentOutcome(decided.outcome ?? outcome),
    };
  });
}

function parseParams(text: string | undefined): JsonObject {
  if (!text) return {};
  try {
    const value: unknown = JSON.parse(text);
    if (isObject<JsonValue>(value)) return value;
  } catch {
    // Reported below, like any other shape that is not an object.
  }
  throw new ToolError('invalid_input', 'params must be a JSON object.');
}

import { ToolFault } from '../../../contract/faults.ts';
import type { JsonObject, JsonValue } from '../../../contract/json.ts';
import type { Tool, ToolContext } from '../../../contract/tool.ts';
import type { XReply } from '../client/api.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { GENERATED_IDS, type GeneratedId } from '../endpoints/ids.ts';
import { ENDPOINTS } from '../endpoints/table.ts';
import { ENGAGE_FAULTS, X_FAULTS } from '../lib/fault-codes.ts';
import { reachX, type XServices } from '../services.ts';
import { asObject, FarSide } from './far-side.ts';
import { inputSchema } from './input.ts';
import { outputSchema } from './output.ts';
import { categoryOf, profilesOf, requirementsOf } from './placement.ts';
import { PREPARE } from './prepare.ts';
import { RECONCILE } from './reconcile.ts';
import { WORDING } from './wording.ts';

type Services = Pick<XServices, 'x'>;

/** Each field is optional, but X takes an update without any for done. */
const UPDATES: ReadonlySet<GeneratedId> = new Set(['x_v2_lists_update', 'x_ads_campaign_update']);

/** The tools that are an endpoint each: 67 rows of the table, one function. */
export const generatedTools: readonly Tool<Services>[] = GENERATED_IDS.map(toolOf);

function toolOf(id: GeneratedId): Tool<Services> {
  const endpoint = ENDPOINTS[id];
  const { title, summary, ask, risks, undo } = WORDING[id];
  const reconcile = RECONCILE[id];
  const change = endpoint.effect !== 'read';
  return {
    name: id,
    title,
    summary,
    effect: endpoint.effect,
    reach: 'network',
    category: categoryOf(id),
    profiles: profilesOf(id, endpoint),
    faults: change ? ENGAGE_FAULTS : X_FAULTS,
    requires: requirementsOf(id, endpoint),
    input: inputSchema(endpoint),
    output: outputSchema(endpoint),
    ...(ask ? { describeApproval: ask } : {}),
    ...(risks ? { risks } : {}),
    ...(undo ? { rollback: undo } : {}),
    ...(UPDATES.has(id) ? { check: (args: JsonObject) => mustChange(endpoint, args) } : {}),
    run: (args, context) => run(endpoint, id, args, context),
    ...(reconcile
      ? {
          reconcile: async (args: JsonObject, { services, signal, startedAt }) =>
            reconcile(args, new FarSide(await services.x(), signal, startedAt)),
        }
      : {}),
  } satisfies Tool<Services>;
}

function mustChange({ params }: Endpoint, args: JsonObject): void {
  const fields = Object.keys(params).filter((name) => params[name]?.in === 'body');
  if (!fields.some((name) => args[name] !== undefined))
    throw new ToolFault('invalid_input', `Nothing to change: give one or more of ${fields.join(', ')}.`);
}

async function run(
  endpoint: Endpoint,
  id: GeneratedId,
  args: JsonObject,
  context: ToolContext<Services>,
): Promise<JsonValue> {
  const x = await reachX(context);
  const options = { signal: context.signal, callId: context.callId };
  const prepare = PREPARE[id];
  const ready = prepare ? await prepare(args, x, context.now(), options) : args;
  if (!ready) return { data: [] };
  const reply = await x.request(id, ready, options);
  if (reply.retries > 0) context.note({ retry_count: reply.retries });
  if (endpoint.paging) notePage(endpoint, reply, context);
  const data = shape(endpoint, reply.json);
  const undo = WORDING[id].undo?.(args, data);
  if (undo) context.note({ rollback: { reversible: true, undo_tool: undo.tool, undo_params: undo.args } });
  else if (endpoint.effect !== 'read') context.note({ rollback: { reversible: false } });
  return data;
}

/** Single things and small answers come unwrapped, collections as X sends them, an empty one with its empty list. */
function shape(endpoint: Endpoint, json: JsonValue): JsonValue {
  const body = asObject(json) ?? {};
  const { data, includes, errors } = body;
  if (endpoint.reply.shape === 'many') {
    const { request, data_type, ...rest } = body;
    return { ...rest, data: Array.isArray(data) ? data : [] };
  }
  return {
    ...(asObject(data) ?? {}),
    ...(includes === undefined ? {} : { includes }),
    ...(errors === undefined ? {} : { errors }),
  };
}

function notePage(endpoint: Endpoint, { json }: XReply, context: ToolContext<Services>): void {
  const body = asObject(json) ?? {};
  const token = endpoint.paging?.next === 'next_cursor' ? body.next_cursor : asObject(body.meta)?.next_token;
  const next_token = typeof token === 'string' ? token : null;
  const result_count = Array.isArray(body.data) ? body.data.length : 0;
  context.note({ pagination: { next_token, result_count, has_more: next_token !== null } });
}

import type { Hono } from 'hono';
import { z } from 'zod';
import { ToolError } from '../../contract/errors.ts';
import type { JsonObject } from '../../contract/json.ts';
import { APPROVAL_STATES, type Approval, type ApprovalFilter } from '../../contract/ports.ts';
import { ENVIRONMENTS } from '../../contract/presentation.ts';
import { type Principal, parsePrincipal, principalName } from '../../contract/principal.ts';
import { countFacets, countGroups } from '../../kernel/approvals/query.ts';
import { describeCalls } from '../../kernel/views/activity.ts';
import { approvalDifferences } from '../../kernel/views/approval-evidence.ts';
import { readEdits } from '../../kernel/views/inbox.ts';
import type { Item } from '../../kernel/views/shapes.ts';
import type { WebPorts } from '../ports.ts';
import type { WebEnv } from '../sign-in.ts';
import { each, toBrief, toJson } from './approval-json.ts';
import { readJson, readQuery, send } from './body.ts';
import { runUndo, showUndo } from './undo.ts';

const argsBody = z.object({ args: z.record(z.string(), z.unknown()) }).strict();
const rejectBody = z
  .object({ reason: z.string().max(2000).optional(), feedback: z.string().max(5000).optional() })
  .strict();
const rejectManyBody = rejectBody.extend({ ids: z.array(z.int()).min(1).max(500) });
const AGE = /^(\d+)(m|h|d)$/;
const age = z.string().regex(AGE, 'must be a duration such as 30m, 24h or 7d').optional();
/** Repeated values are separated by commas; all filters apply together. */
const filterQuery = z.object({
  state: z.string().default('pending'),
  /** Principals as they are shown: `agent:mira`. */
  agent: z.string().optional(),
  tool: z.string().optional(),
  /** A toolkit or a third-party server. */
  toolkit: z.string().optional(),
  environment: z.string().optional(),
  effect: z.string().optional(),
  signature: z.literal('required').optional(),
  run: z.string().optional(),
  newer: age,
  older: age,
  q: z.string().max(200).optional(),
  /** Only approvals up to this number: a list that a person reads does not grow under their eyes. */
  until: z.coerce.number().int().min(0).optional(),
});
const ORDERS = { risk: 'danger', agent: 'requester', run: 'run', newest: 'newest' } as const;
const listQuery = filterQuery.extend({
  brief: z.string().optional(),
  facets: z.string().optional(),
  group: z.enum(['risk', 'agent', 'run', 'newest']).default('risk'),
  limit: z.coerce.number().int().min(1).max(200).default(50),
  offset: z.coerce.number().int().min(0).default(0),
});
/** The filter of the list as its address has it, and how many items the person saw it match. */
const rejectMatchingBody = rejectBody.extend({ filter: filterQuery, total: z.int().min(0) });

/** Everything that waits for the person, and their decisions on it. */
export function addInboxRoutes(api: Hono<WebEnv>, ports: WebPorts): void {
  const { kernel, database } = ports;
  const { db } = database;

  api.get('/inbox', async (context) => {
    const { brief, facets, group, limit, offset, ...wanted } = readQuery(context, listQuery);
    const asOf = wanted.until ?? (await newestId(ports));
    const filter = toFilter({ ...wanted, until: asOf }, ports.now());
    const { upToId: _until, ...all } = filter;
    const order = wanted.state === 'pending' ? ORDERS[group] : 'newest';
    const items = await kernel.approvals.page({ ...filter, limit, offset, order });
    const unsettled = await kernel.telemetry.calls({ statuses: ['indeterminate'], limit: 50 });
    const described = await describeCalls(database, (name) => ports.inventory.resolve(name), unsettled);
    return send({
      total: await kernel.approvals.count(filter),
      as_of: asOf,
      newer: wanted.until === undefined ? 0 : await kernel.approvals.count({ ...all, afterId: asOf }),
      groups: order === 'newest' || group === 'newest' ? [] : await countGroups(db, filter, group),
      ...(facets
        ? { facets: { ...(await countFacets(db, filter)), age: await countAges(ports, filter) } }
        : {}),
      items: brief ? items.map(toBrief) : items.map(toJson),
      indeterminate: described.map(({ call_id, title, tool, toolkit, principal, at }) => ({
        call_id,
        title,
        tool,
        toolkit,
        principal,
        at,
      })),
    });
  });

  api.get('/inbox/count', async () => send({ total: await kernel.approvals.count({ states: ['pending'] }) }));

  api.get('/inbox/:id', async (context) => {
    const approval = await mustFind(ports, context.req.param('id'));
    const bound = await ports.inventory.resolve(approval.tool);
    const held = ports.holds.of(approval);
    return send({
      ...toJson(approval),
      held_by: held?.by ?? null,
      held_until: held?.until.toISOString() ?? null,
      tool_title: bound?.tool.title ?? approval.tool,
      tool_summary: bound?.tool.summary ?? '',
      input_schema: (bound?.tool.input.json ?? {}) as JsonObject,
      edits: await readEdits(ports.database, approval.id),
      presentation: await kernel.approvals.present(approval),
      differences: [...(await approvalDifferences(ports.database, approval))],
      signing: await readSigning(ports, approval, context.get('session').person),
      undo: await showUndo(ports, approval),
    });
  });

  api.post('/inbox/reject', async (context) => {
    const { ids, ...why } = await readJson(context, rejectManyBody);
    const { person } = context.get('session');
    return send({
      results: await each(ids, async (id) => toJson(await kernel.approvals.reject(id, person, why))),
    });
  });

  api.post('/inbox/reject-matching', async (context) => {
    const { filter, ...why } = await readJson(context, rejectMatchingBody);
    const { person } = context.get('session');
    return send({
      rejected: await kernel.approvals.rejectMatching(toFilter(filter, ports.now()), person, why),
    });
  });

  api.post('/inbox/:id/reject', async (context) => {
    const body = await readJson(context, rejectBody);
    return send(
      toJson(await kernel.approvals.reject(context.req.param('id'), context.get('session').person, body)),
    );
  });

  api.post('/inbox/:id/edit', async (context) => {
    const { args } = await readJson(context, argsBody);
    return send(
      toJson(
        await kernel.approvals.edit(
          context.req.param('id'),
          context.get('session').person,
          args as JsonObject,
        ),
      ),
    );
  });

  api.post('/inbox/:id/undo', async (context) => {
    const approval = await mustFind(ports, context.req.param('id'));
    return send(await runUndo(ports, approval, context.get('session').person));
  });

  api.post('/calls/:id/settle', async (context) => {
    const { happened } = await readJson(context, z.object({ happened: z.boolean() }).strict());
    const settled = await kernel.settle(context.req.param('id'), happened, context.get('session').person);
    if (!settled) throw new ToolError('approval_state', 'Someone has already settled this call.');
    return send({ settled: true });
  });
}

/** Who must sign it, has signed, and can sign now: the signed-in person first. */
async function readSigning(
  { kernel }: WebPorts,
  approval: Approval,
  person: Principal,
): Promise<Item['signing']> {
  if (approval.state !== 'pending') return { required: 0, signed: [], people: [] };
  const { people, ...signing } = await kernel.signing.requirement(approval);
  const own = principalName(person);
  return { ...signing, people: [...people].sort((a, b) => Number(b === own) - Number(a === own)) };
}

type FilterQuery = z.output<typeof filterQuery>;

/** The filter that the page has in its address. */
function toFilter(query: FilterQuery, now: Date): ApprovalFilter {
  const { state, agent, tool, toolkit, environment, effect, signature, run, newer, older, q, until } = query;
  const states = state === 'all' ? APPROVAL_STATES : APPROVAL_STATES.filter((one) => has(state, one));
  const requesters = agent?.split(',').flatMap((name) => parsePrincipal(name) ?? []);
  return {
    states,
    ...(requesters ? { requesters } : {}),
    ...(tool ? { tools: tool.split(',') } : {}),
    ...(toolkit ? { toolkits: toolkit.split(',') } : {}),
    ...(environment ? { environments: ENVIRONMENTS.filter((one) => has(environment, one)) } : {}),
    ...(effect ? { effects: effect.split(',') } : {}),
    ...(signature ? { signed: true } : {}),
    ...(run ? { runId: run } : {}),
    ...(newer ? { askedSince: before(now, newer) } : {}),
    ...(older ? { askedBefore: before(now, older) } : {}),
    ...(q ? { text: q } : {}),
    ...(until === undefined ? {} : { upToId: until }),
  };
}

/** The ages that the page offers. */
const AGES = ['newer 1h', 'newer 24h', 'older 1h', 'older 24h', 'older 7d'];

/** How many of each age the rest of the filter has. */
async function countAges(
  { kernel, now }: WebPorts,
  { askedSince: _since, askedBefore: _before, ...rest }: ApprovalFilter,
): Promise<{ readonly value: string; readonly count: number }[]> {
  const counts = AGES.map(async (value) => {
    const [side = '', length = ''] = value.split(' ');
    const at = before(now(), length);
    return {
      value,
      count: await kernel.approvals.count({
        ...rest,
        ...(side === 'newer' ? { askedSince: at } : { askedBefore: at }),
      }),
    };
  });
  return Promise.all(counts);
}

const newestId = async ({ kernel }: WebPorts): Promise<number> =>
  (await kernel.approvals.page({ limit: 1, order: 'newest' }))[0]?.id ?? 0;

const has = (list: string, one: string): boolean => list.split(',').includes(one);

function before(now: Date, age: string): Date {
  const [, count = '0', unit = 'm'] = AGE.exec(age) ?? [];
  const ms = { m: 60_000, h: 3_600_000, d: 86_400_000 }[unit as 'm' | 'h' | 'd'];
  return new Date(now.getTime() - Number(count) * ms);
}

async function mustFind({ kernel }: WebPorts, id: string): Promise<Approval> {
  const approval = await kernel.approvals.get(id);
  if (!approval) throw new ToolError('not_found', `Approval ${id} not found.`);
  return approval;
}

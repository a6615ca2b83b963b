import type { Context, Hono } from 'hono';
import { z } from 'zod';
import { ToolError } from '../../contract/errors.ts';
import {
  APPROVAL_STATES,
  type Approval,
  type ApprovalFilter,
  type DamagedApproval,
} from '../../contract/ports.ts';
import { ENVIRONMENTS } from '../../contract/presentation.ts';
import { type Principal, parsePrincipal, principalName } from '../../contract/principal.ts';
import { countFacets, countGroups } from '../../kernel/approvals/query.ts';
import { describeCalls } from '../../kernel/views/activity.ts';
import { approvalDifferences, findMarked } from '../../kernel/views/approval-evidence.ts';
import { readEdits } from '../../kernel/views/inbox.ts';
import type { Item } from '../../kernel/views/shapes.ts';
import type { WebPorts } from '../ports.ts';
import { AGE, inboxFilter } from '../routes/bodies.ts';
import type { WebEnv } from '../sign-in.ts';
import { answer } from './answer.ts';
import { each, toBrief, toJson, toJsonOrDamaged } from './approval-json.ts';
import { readQuery } from './body.ts';
import { findLast, requireLast, runUndo, showUndo } from './undo.ts';

const ORDERS = { risk: 'danger', agent: 'requester', run: 'run', newest: 'newest' } as const;
const listQuery = inboxFilter.extend({
  facets: z.string().optional(),
  group: z.enum(['risk', 'agent', 'run', 'newest']).default('risk'),
  limit: z.coerce.number().int().min(1).max(200).default(50),
  offset: z.coerce.number().int().min(0).default(0),
});

/** Everything that waits for the person, and their decisions on it. */
export function addInboxRoutes(api: Hono<WebEnv>, ports: WebPorts): void {
  const { kernel, database } = ports;
  const { db } = database;

  const readPage = async <T>(context: Context<WebEnv>, toItem: (one: Approval | DamagedApproval) => T) => {
    const { facets, group, limit, offset, ...wanted } = readQuery(context, listQuery);
    const asOf = wanted.until ?? (await newestId(ports));
    const filter = toFilter({ ...wanted, until: asOf }, ports.now());
    const { upToId: _until, ...all } = filter;
    const order = wanted.state === 'pending' ? ORDERS[group] : 'newest';
    const items = await kernel.approvals.page({ ...filter, limit, offset, order });
    const marked = await findMarked(database, items);
    const mark = (id: number) => (marked.has(id) ? ({ differs: true } as const) : {});
    const unsettled = await kernel.telemetry.calls({ statuses: ['indeterminate'], limit: 50 });
    const described = await describeCalls(database, (name) => ports.inventory.resolve(name), unsettled);
    return {
      total: await kernel.approvals.count(filter),
      as_of: asOf,
      newer: wanted.until === undefined ? 0 : await kernel.approvals.count({ ...all, afterId: asOf }),
      groups: order === 'newest' || group === 'newest' ? [] : await countGroups(db, filter, group),
      ...(facets
        ? { facets: { ...(await countFacets(db, filter)), age: await countAges(ports, filter) } }
        : {}),
      items: items.map((one) => ({ ...toItem(one), ...mark(one.id) })),
      indeterminate: described.map(({ call_id, title, tool, toolkit, principal, at }) => ({
        call_id,
        title,
        tool,
        toolkit,
        principal,
        at,
      })),
    };
  };

  answer(api, 'GET /inbox?brief=1', (context) => readPage(context, toBrief));
  // With whole items; no page asks for it.
  api.get('/inbox', async (context) => context.json(await readPage(context, toJsonOrDamaged)));

  answer(api, 'GET /inbox/count', async () => ({
    total: await kernel.approvals.count({ states: ['pending'] }),
  }));

  answer(api, 'GET /inbox/:id', async (context) => {
    const approval = await mustFind(ports, context.req.param('id'));
    const bound = await ports.inventory.resolve(approval.tool);
    const held = ports.holds.of(approval);
    const differences = await approvalDifferences(ports.database, approval);
    return {
      ...toJson(approval),
      held_by: held?.by ?? null,
      held_until: held?.until.toISOString() ?? null,
      tool_title: bound?.tool.title ?? approval.tool,
      tool_summary: bound?.tool.summary ?? '',
      input_schema: bound?.tool.input.json ?? {},
      edits: await readEdits(ports.database, approval.id),
      presentation: await kernel.approvals.present(approval),
      differences: [...differences],
      signing: await readSigning(ports, approval, context.get('session').person),
      undo: differences.length > 0 ? null : await showUndo(ports, approval),
    };
  });

  answer(api, 'POST /inbox/reject', async (context, { ids, ...why }) => {
    const { person } = context.get('session');
    return {
      results: await each(ids, async (id) => toJsonOrDamaged(await kernel.approvals.reject(id, person, why))),
    };
  });

  answer(api, 'POST /inbox/reject-matching', async (context, { filter, ...why }) => {
    const { person } = context.get('session');
    return { rejected: await kernel.approvals.rejectMatching(toFilter(filter, ports.now()), person, why) };
  });

  answer(api, 'POST /inbox/:id/reject', async (context, why) =>
    toJsonOrDamaged(
      await kernel.approvals.reject(context.req.param('id'), context.get('session').person, why),
    ),
  );

  answer(api, 'POST /inbox/:id/edit', async (context, { args }) =>
    toJson(await kernel.approvals.edit(context.req.param('id'), context.get('session').person, args)),
  );

  answer(api, 'POST /inbox/:id/undo', async (context, { last }) => {
    const { person } = context.get('session');
    const approval = await mustFind(ports, context.req.param('id'));
    if (last) await requireLast(ports, approval, person);
    return runUndo(ports, approval, person);
  });

  answer(api, 'GET /decisions/last', async (context) => ({
    last: (await findLast(ports, context.get('session').person)) ?? null,
  }));

  answer(api, 'POST /calls/:id/settle', async (context, { happened }) => {
    const settled = await kernel.settle(context.req.param('id'), happened, context.get('session').person);
    if (!settled) throw new ToolError('approval_state', 'Someone has already settled this call.');
    return { settled: true };
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

type FilterQuery = z.output<typeof inboxFilter>;

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

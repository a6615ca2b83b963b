import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import { LOCAL_AGENT, principalName } from '../../contract/principal.ts';
import { isChange } from '../../contract/tool.ts';
import type { BoundTool } from '../../contract/toolkit.ts';
import { uuidFloor, uuidTime } from '../../lib/random.ts';
import type { Agent } from '../agents.ts';
import type { Kernel } from '../kernel.ts';
import { parseDate } from '../store/cells.ts';
import type { Database } from '../store/database.ts';
import type { AgentBrief, AgentDetail, AgentsData } from './shapes.ts';

const DAY_MS = 86_400_000;
const DAYS = 14;
/** Counting the calls of one day ends here. */
const MOST_A_DAY = 10_000;
const MOST_REFUSED = 10_000;
const MOST_AGENTS = 200;
const LAST = 12;

type AgentKernel = Pick<Kernel, 'agents' | 'standing' | 'forecast' | 'database'>;

/** Every agent that has a token, and those without one that called in the last days. */
export async function readAgents(kernel: AgentKernel, now: Date): Promise<AgentsData> {
  const { database, agents } = kernel;
  const listed = await agents.list();
  const names = new Set(listed.map(({ name }) => name));
  for (const name of await recentNames(database)) names.add(name);
  const paused = await agents.paused();
  for (const name of paused.keys()) names.add(name);
  const briefs: AgentBrief[] = [];
  for (const name of [...names].slice(0, MOST_AGENTS)) {
    const token = listed.find((one) => one.name === name);
    briefs.push(await readBrief(database, name, { token, pausedBy: paused.get(name) }, now));
    await setImmediate();
  }
  return { agents: briefs.sort(byActivity), days: DAYS };
}

/** Those with a token that works first, then by their last call. */
const byActivity = (a: AgentBrief, b: AgentBrief): number =>
  Number(a.revoked_at !== null) - Number(b.revoked_at !== null) ||
  (b.last_call_at ?? '').localeCompare(a.last_call_at ?? '') ||
  a.name.localeCompare(b.name);

/** One agent with what it may do; undefined when calls cannot come under this name. */
export async function readAgent(
  kernel: AgentKernel,
  tools: readonly BoundTool[],
  name: string,
  now: Date,
): Promise<AgentDetail | undefined> {
  const { database, agents, standing, forecast } = kernel;
  if (!(await agents.isKnown(name))) return undefined;
  const token = (await agents.list()).find((one) => one.name === name);
  const pausedBy = (await agents.paused()).get(name);
  const principal = { kind: 'agent', id: name } as const;
  const outlook = await forecast.tools(tools, principal);
  const reads = tools.filter(({ tool }) => tool.effect === 'read');
  return {
    ...(await readBrief(database, name, { token, pausedBy }, now)),
    refused: await countRefused(database, principalName(principal), now),
    alone: aloneBy(tools, outlook),
    reads: { allowed: reads.filter(({ tool }) => isOpen(outlook.get(tool.name))).length, of: reads.length },
    standing: (await standing.list()).filter(
      ({ agent, state }) => agent === principalName(principal) && state === 'active',
    ),
    last: await lastDecisions(database, principalName(principal)),
  };
}

type Outlook = Awaited<ReturnType<Kernel['forecast']['tools']>>;
type Row = ReturnType<Outlook['get']>;

const isOpen = (row: Row): boolean => row?.action === 'allow';
const mayBeOpen = (row: Row): boolean => isOpen(row) || row?.depends?.loosest === 'allow';

function aloneBy(tools: readonly BoundTool[], outlook: Outlook): AgentDetail['alone'] {
  const groups = new Map<string, AgentDetail['alone'][number]>();
  for (const { tool, toolkit } of tools) {
    const row = outlook.get(tool.name);
    // What is listed for no one is a person's: its own code refuses an agent.
    if (!isChange(tool.effect) || tool.profiles.length === 0 || !mayBeOpen(row)) continue;
    const group = groups.get(toolkit.id) ?? {
      toolkit: toolkit.id,
      title: toolkit.title ?? toolkit.id,
      tools: [],
    };
    const one = { tool: tool.name, title: tool.title, depends: row?.depends !== undefined };
    groups.set(toolkit.id, { ...group, tools: [...group.tools, one] });
  }
  return [...groups.values()];
}

interface Known {
  readonly token: Agent | undefined;
  readonly pausedBy: string | undefined;
}

async function readBrief(
  database: Database,
  name: string,
  { token, pausedBy }: Known,
  now: Date,
): Promise<AgentBrief> {
  const { db } = database;
  const principal = `agent:${name}`;
  const last = await db
    .selectFrom('calls')
    .select(['call_id', 'started_at', 'client'])
    .where('principal', '=', principal)
    .orderBy('call_id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return {
    name,
    principal,
    client: last?.client ?? null,
    token_since: token?.createdAt.toISOString() ?? null,
    revoked_at: token?.revokedAt?.toISOString() ?? null,
    paused_by: pausedBy ?? null,
    last_call_at: last ? timeOf(last) : null,
    ...(token?.damaged === undefined ? {} : { damaged: token.damaged }),
    days: last ? await countDays(database, principal, now) : Array.from({ length: DAYS }, () => 0),
    decisions: await countDecisions(database, principal, now),
  };
}

const timeOf = ({ call_id, started_at }: { call_id: string; started_at: string }): string =>
  parseDate(started_at) ? started_at : uuidTime(call_id).toISOString();

const firstDay = (now: Date): number => Math.floor(now.getTime() / DAY_MS) * DAY_MS - (DAYS - 1) * DAY_MS;

/** An id begins with the time of its call, so the index of principal and id has all that is counted. */
async function countDays({ db }: Database, principal: string, now: Date): Promise<number[]> {
  const first = firstDay(now);
  const counts: number[] = [];
  for (let day = 0; day < DAYS; day += 1) {
    const row = await db
      .selectFrom(
        db
          .selectFrom('calls')
          .select('call_id')
          .where('principal', '=', principal)
          .where('call_id', '>=', uuidFloor(first + day * DAY_MS))
          .where('call_id', '<', uuidFloor(first + (day + 1) * DAY_MS))
          .limit(MOST_A_DAY)
          .as('some'),
      )
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .executeTakeFirst();
    counts.push(Number(row?.count ?? 0));
  }
  return counts;
}

async function countDecisions(
  { db }: Database,
  principal: string,
  now: Date,
): Promise<AgentBrief['decisions']> {
  const since = new Date(firstDay(now)).toISOString();
  const rows = await db
    .selectFrom('approvals as a')
    .select((eb) => [
      'a.state',
      eb
        .exists(
          eb.selectFrom('approval_edits as e').select('e.approval_id').whereRef('e.approval_id', '=', 'a.id'),
        )
        .as('edited'),
      eb.fn.countAll<number>().as('count'),
    ])
    .where('a.requester', '=', principal)
    .where('a.created_at', '>=', since)
    .groupBy(['a.state', 'edited'])
    .execute();
  const sum = (test: (state: string, edited: boolean) => boolean): number =>
    rows.reduce(
      (all, { state, edited, count }) => all + (test(state, Boolean(edited)) ? Number(count) : 0),
      0,
    );
  return {
    asked: sum(() => true),
    approved: sum((state, edited) => APPROVED.has(state) && !edited),
    edited: sum((state, edited) => APPROVED.has(state) && edited),
    rejected: sum((state) => state === 'rejected'),
    pending: sum((state) => state === 'pending'),
  };
}

const APPROVED = new Set(['approved', 'executing', 'done', 'failed', 'indeterminate']);

/** Refusals are few, and an index has them by time. */
async function countRefused({ db }: Database, principal: string, now: Date): Promise<AgentDetail['refused']> {
  const rows = await db
    .selectFrom('calls')
    .select(['principal', 'rule'])
    .where(sql<boolean>`status in ('failed', 'refused', 'routed', 'dry_run')`)
    .where('status', '=', 'refused')
    .where('call_id', '>=', uuidFloor(firstDay(now)))
    .orderBy('call_id', 'desc')
    .limit(MOST_REFUSED)
    .execute();
  const own = rows.filter((row) => row.principal === principal);
  const byLimit = own.filter(({ rule }) => rule?.startsWith('limit:')).length;
  return { by_policy: own.length - byLimit, by_limit: byLimit };
}

async function lastDecisions({ db }: Database, principal: string): Promise<AgentDetail['last']> {
  const rows = await db
    .selectFrom('approvals as a')
    .select((eb) => [
      'a.id',
      'a.call_id',
      'a.summary',
      'a.gist',
      'a.state',
      'a.decided_at',
      'a.decided_by',
      'a.decision_reason',
      'a.feedback',
      eb
        .exists(
          eb.selectFrom('approval_edits as e').select('e.approval_id').whereRef('e.approval_id', '=', 'a.id'),
        )
        .as('edited'),
    ])
    .where('a.requester', '=', principal)
    .where('a.decided_at', 'is not', null)
    .orderBy('a.decided_at', 'desc')
    .limit(LAST)
    .execute();
  return rows.map((row) => ({
    approval_id: row.id,
    call_id: row.call_id,
    title: row.summary,
    gist: row.gist,
    state: row.state,
    edited: Boolean(row.edited),
    decided_at: row.decided_at,
    decided_by: row.decided_by,
    reason: row.feedback || row.decision_reason || null,
  }));
}

/** Names of agents that called lately: each found by a jump in the index, however many calls it made. */
async function recentNames({ db }: Database): Promise<string[]> {
  const names: string[] = [];
  let after = 'agent:';
  while (names.length < MOST_AGENTS) {
    const row = await db
      .selectFrom('calls')
      .select('principal')
      .where('principal', '>', after)
      .where('principal', '<', 'agent;')
      .orderBy('principal')
      .limit(1)
      .executeTakeFirst();
    if (!row) break;
    after = row.principal;
    names.push(row.principal.slice('agent:'.length));
  }
  return names.length === 0 ? [LOCAL_AGENT.id] : names;
}

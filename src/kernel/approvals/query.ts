import { type Kysely, type Selectable, sql } from 'kysely';
import type { JsonValue } from '../../contract/json.ts';
import {
  type Approval,
  type ApprovalFilter,
  type DamagedApproval,
  isReadable,
} from '../../contract/ports.ts';
import {
  isSharedIdentity,
  isShownTo,
  type Principal,
  principalName,
  SHARED_IDENTITIES,
} from '../../contract/principal.ts';
import type { BoundTool } from '../../contract/toolkit.ts';
import { isObject } from '../../lib/is-object.ts';
import { leafHash } from '../../lib/merkle.ts';
import type { Entry } from '../log/entry.ts';
import { entriesAbout } from '../log/rows/approval-entries.ts';
import type { Database } from '../store/database.ts';
import type { ApprovalsTable, Tables } from '../store/tables.ts';
import { readApproval, toApproval } from './row.ts';

const MAX_INTEGER_ID = 2_147_483_647;

/** By integer id (as number or digits) or by uuid. Throws where the row cannot be read. */
export async function findApproval(db: Kysely<Tables>, id: string | number): Promise<Approval | undefined> {
  const row = await findRow(db, id);
  return row && toApproval(row);
}

export async function findRow(
  db: Kysely<Tables>,
  id: string | number,
): Promise<Selectable<ApprovalsTable> | undefined> {
  const text = String(id);
  const query = db.selectFrom('approvals').selectAll();
  const isNumber = /^\d{1,10}$/.test(text);
  if (isNumber && Number(text) > MAX_INTEGER_ID) return undefined;
  return (
    isNumber ? query.where('id', '=', Number(text)) : query.where('uuid', '=', text)
  ).executeTakeFirst();
}

/** A filter as the tables answer it: the service knows whether agents may decide. */
export interface ApprovalQuery extends ApprovalFilter {
  readonly agentsMayApprove?: boolean;
}

/** The same expression as in the index (093-approval-signers). */
const DANGER = sql<number>`case when signers > 0 then 0 when effect = 'destroy' or risks like '["Moves money"%' then 1
  when risks <> '[]' then 2 when environment = 'live' then 3 else 4 end`;

/** Without rows that cannot be read. */
export const listApprovals = async (
  db: Kysely<Tables>,
  filter: ApprovalQuery,
): Promise<readonly Approval[]> => (await pageApprovals(db, filter)).filter(isReadable);

export async function pageApprovals(
  db: Kysely<Tables>,
  filter: ApprovalQuery,
): Promise<readonly (Approval | DamagedApproval)[]> {
  const query = filtered(db, filter).selectAll();
  const rows = await (filter.order === 'danger'
    ? query.orderBy(DANGER)
    : filter.order === 'requester'
      ? query.orderBy('requester').orderBy(DANGER)
      : filter.order === 'run'
        ? query
            .orderBy(sql`case when run_id is null then 1 else 0 end`)
            .orderBy('run_id', 'desc')
            .orderBy(DANGER)
        : query
  )
    .orderBy('id', filter.order === 'oldest' ? 'asc' : 'desc')
    .limit(filter.limit ?? 100)
    .offset(filter.offset ?? 0)
    .execute();
  return rows.map(readApproval);
}

/** The numbers of the approvals that a filter matches, up to a limit, for use inside another statement. */
export const idsOf = (db: Kysely<Tables>, filter: ApprovalQuery, most: number) =>
  filtered(db, filter).select('id').orderBy('id').limit(most);

export async function countApprovals(db: Kysely<Tables>, filter: ApprovalQuery): Promise<number> {
  const row = await filtered(db, filter)
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirst();
  return Number(row?.total ?? 0);
}

function filtered(db: Kysely<Tables>, filter: ApprovalQuery) {
  let query = db.selectFrom('approvals');
  if (filter.states) query = query.where('state', 'in', [...filter.states]);
  if (filter.toolkit) query = query.where('toolkit', '=', filter.toolkit);
  if (filter.toolkits) query = query.where('toolkit', 'in', [...filter.toolkits]);
  if (filter.tools) query = query.where('tool', 'in', [...filter.tools]);
  if (filter.groupId) query = query.where('group_id', '=', filter.groupId);
  if (filter.environments) query = query.where('environment', 'in', [...filter.environments]);
  if (filter.effects) query = query.where('effect', 'in', [...filter.effects]);
  if (filter.signed) query = query.where('signers', '>', 0);
  if (filter.runId) query = query.where('run_id', '=', filter.runId);
  if (filter.askedSince) query = query.where('created_at', '>=', filter.askedSince.toISOString());
  if (filter.askedBefore) query = query.where('created_at', '<', filter.askedBefore.toISOString());
  if (filter.text) query = query.where(containing(filter.text));
  if (filter.kind) query = query.where('kind', '=', filter.kind);
  if (filter.digest) query = query.where('digest', '=', filter.digest);
  if (filter.afterId !== undefined) query = query.where('id', '>', filter.afterId);
  if (filter.upToId !== undefined) query = query.where('id', '<=', filter.upToId);
  if (filter.decidedSince) query = query.where('decided_at', '>=', filter.decidedSince.toISOString());
  const { requesters, shownTo: reader } = filter;
  if (requesters) query = query.where('requester', 'in', requesters.map(principalName));
  if (reader?.kind !== 'agent') return query;
  return query.where((eb) =>
    eb.or([
      eb('requester', '=', principalName(reader)),
      ...(isShownTo(reader, 'system:') ? [eb('requester', 'like', 'system:%')] : []),
      // As `refuseOwn` decides it: never for a shared identity, and by such a name for no agent.
      ...(filter.agentsMayApprove
        ? [
            eb.and([
              eb('requester', 'not in', [...SHARED_IDENTITIES, principalName(reader)]),
              ...(isSharedIdentity(reader) ? [eb('requester', 'not like', 'agent:%')] : []),
            ]),
          ]
        : []),
    ]),
  );
}

/** One rule for every view of an approval that agents have. People read what was written. */
export async function approvalForAgent(
  resolve: (tool: string) => Promise<BoundTool | undefined>,
  approval: Approval,
  reader: Principal,
): Promise<Approval> {
  if (reader.kind === 'person') return approval;
  const bound = await resolve(approval.tool);
  // No toolkit is loaded that knows which of them may be shown.
  if (!bound)
    return {
      ...approval,
      summary: approval.tool,
      gist: undefined,
      reason: '',
      decisionReason: undefined,
      feedback: undefined,
      outcome: undefined,
    };
  const { redactForAgent } = bound.toolkit;
  if (!redactForAgent) return approval;
  const services = await bound.services();
  const tell = (words: string): Promise<string> => redactForAgent(words, approval, services);
  const { gist, reason, decisionReason, feedback, outcome } = approval;
  const summary = await tell(approval.summary);
  const shownGist = gist === undefined ? undefined : await tell(gist);
  return {
    ...approval,
    summary,
    // Where the toolkit shows neither, it says so once.
    gist: shownGist === summary ? undefined : shownGist,
    outcome: outcome === undefined ? undefined : await outcomeForAgent(outcome, tell),
    reason: await tell(reason),
    decisionReason: decisionReason === undefined ? undefined : await tell(decisionReason),
    feedback: feedback === undefined ? undefined : await tell(feedback),
  };
}

/** Identifiers that clients act on; everything else in an outcome may quote what it was about. */
const NOT_WORDS: ReadonlySet<string> = new Set(['status', 'code']);

async function outcomeForAgent(
  value: JsonValue,
  tell: (words: string) => Promise<string>,
): Promise<JsonValue> {
  if (typeof value === 'string') return tell(value);
  if (Array.isArray(value)) return Promise.all(value.map((item) => outcomeForAgent(item, tell)));
  if (!isObject<JsonValue>(value)) return value;
  const entries = Object.entries(value).map(async ([key, item]): Promise<[string, JsonValue]> => {
    return [key, NOT_WORDS.has(key) ? item : await outcomeForAgent(item, tell)];
  });
  return Object.fromEntries(await Promise.all(entries));
}

/** How an approval's arguments were changed before the decision, oldest first. */
export const approvalEdits = (
  db: Pick<Kysely<Tables>, 'selectFrom'>,
  approvalId: number,
): Promise<Selectable<Tables['approval_edits']>[]> =>
  db
    .selectFrom('approval_edits')
    .selectAll()
    .where('approval_id', '=', approvalId)
    .orderBy('edited_at')
    .execute();

/** `%` and `_` of what a person typed are signs like any other. */
function containing(text: string) {
  const pattern = `%${text.toLowerCase().replace(/[\\%_]/gu, '\\$&')}%`;
  const column = (name: 'summary' | 'gist' | 'reason' | 'tool' | 'args' | 'requester') =>
    sql<boolean>`lower(coalesce(${sql.ref(name)}, '')) like ${pattern} escape '\\'`;
  return sql<boolean>`(${sql.join(
    [
      column('summary'),
      column('gist'),
      column('reason'),
      column('tool'),
      column('args'),
      column('requester'),
    ],
    sql` or `,
  )})`;
}

const DECIDED = ['approved', 'executing', 'done', 'failed', 'indeterminate', 'rejected'] as const;
const USUAL_OF = 100;

/** How the last calls of the same tool by the same requester were decided, as far as the audit log has the decision. */
export async function usualDecisions(
  { db, engine }: Pick<Database, 'db' | 'engine'>,
  { id, tool, requester }: Approval,
): Promise<{ readonly approved: number; readonly of: number } | null> {
  const who = principalName(requester);
  const rows = await db
    .selectFrom('approvals')
    .select('uuid')
    .where('tool', '=', tool)
    .where('requester', '=', who)
    .where('id', '!=', id)
    .where('state', 'in', DECIDED)
    .orderBy('id', 'desc')
    .limit(USUAL_OF)
    .execute();
  const uuids = rows.map(({ uuid }) => uuid);
  const decided = new Map<string, boolean>();
  for (const { uuid, hash, body } of await entriesAbout(db, engine, uuids, ['approval'])) {
    // A changed entry proves nothing.
    if (leafHash(body) !== hash) continue;
    const { status, code, tool: about, approval } = JSON.parse(body) as Entry;
    if (about !== tool || approval?.requester !== who || code === 'approval_invalid') continue;
    if (status === 'approved' || status === 'rejected') decided.set(uuid, status === 'approved');
  }
  if (decided.size === 0) return null;
  return { approved: [...decided.values()].filter(Boolean).length, of: decided.size };
}

/** Each facet, and the part of a filter that it widens. */
const FACETS = {
  requester: 'requesters',
  tool: 'tools',
  toolkit: 'toolkits',
  environment: 'environments',
  effect: 'effects',
  run_id: 'runId',
} as const satisfies Partial<Record<keyof ApprovalsTable, keyof ApprovalFilter>>;
type Facet = keyof typeof FACETS;
type Counted = readonly { readonly value: string; readonly count: number }[];
export type FacetCounts = Readonly<Record<Facet | 'signature', Counted>>;

const MAX_FACET = 50;

/**
 * How many approvals each requester, tool, server, environment, effect and run has within the filter. Its own values do
 * not narrow a facet: next to the chosen one stand those that could be added.
 */
export async function countFacets(db: Kysely<Tables>, filter: ApprovalFilter): Promise<FacetCounts> {
  const signed = await countApprovals(db, { ...filter, signed: true });
  const counts: Record<string, Counted> = {
    signature: signed > 0 ? [{ value: 'required', count: signed }] : [],
  };
  for (const [facet, own] of Object.entries(FACETS) as [Facet, keyof ApprovalFilter][])
    counts[facet] = await countBy(db, { ...filter, [own]: undefined }, facet);
  return counts as FacetCounts;
}

/** How many approvals of a filter stand under each heading of a list. */
export const countGroups = (
  db: Kysely<Tables>,
  filter: ApprovalFilter,
  group: 'risk' | 'agent' | 'run',
): Promise<Counted> => countBy(db, filter, GROUPED_BY[group]);

const GROUPED_BY = { risk: DANGER, agent: 'requester', run: 'run_id' } as const;

async function countBy(
  db: Kysely<Tables>,
  filter: ApprovalFilter,
  by: Facet | typeof DANGER,
): Promise<Counted> {
  const value = typeof by === 'string' ? sql<string | number | null>`${sql.ref(by)}` : by;
  const rows = await filtered(db, filter)
    .select((eb) => [value.as('value'), eb.fn.countAll<number>().as('count')])
    .where(value, 'is not', null)
    .groupBy(value)
    .orderBy('count', 'desc')
    .orderBy(value)
    .limit(MAX_FACET)
    .execute();
  return rows.map(({ value, count }) => ({ value: String(value), count: Number(count) }));
}

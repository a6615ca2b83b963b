import { type Kysely, sql } from 'kysely';
import type { Approval, ApprovalFilter } from '../../contract/ports.ts';
import { mayBeAnybody, PROXIES, principalName } from '../../contract/principal.ts';
import type { Tables } from '../tables.ts';
import { toApproval } from './rows.ts';

const MAX_INTEGER_ID = 2_147_483_647;

/** By integer id (as number or digits) or by uuid. */
export async function findApproval(db: Kysely<Tables>, id: string | number): Promise<Approval | undefined> {
  const text = String(id);
  const query = db.selectFrom('approvals').selectAll();
  const isNumber = /^\d{1,10}$/.test(text);
  if (isNumber && Number(text) > MAX_INTEGER_ID) return undefined;
  const row = await (isNumber
    ? query.where('id', '=', Number(text))
    : query.where('uuid', '=', text)
  ).executeTakeFirst();
  return row && toApproval(row);
}

export async function listApprovals(
  db: Kysely<Tables>,
  filter: ApprovalFilter,
): Promise<readonly Approval[]> {
  const danger = sql<number>`case when effect = 'destroy' then 0 when risks <> '[]' then 1 else 2 end`;
  const query = filtered(db, filter).selectAll();
  const rows = await (filter.order === 'danger' ? query.orderBy(danger) : query)
    .orderBy('id', filter.order === 'oldest' ? 'asc' : 'desc')
    .limit(filter.limit ?? 100)
    .offset(filter.offset ?? 0)
    .execute();
  return rows.map(toApproval);
}

export async function countApprovals(db: Kysely<Tables>, filter: ApprovalFilter): Promise<number> {
  const row = await filtered(db, filter)
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirst();
  return Number(row?.total ?? 0);
}

function filtered(db: Kysely<Tables>, filter: ApprovalFilter) {
  let query = db.selectFrom('approvals');
  if (filter.states) query = query.where('state', 'in', [...filter.states]);
  if (filter.toolkit) query = query.where('toolkit', '=', filter.toolkit);
  if (filter.tools) query = query.where('tool', 'in', [...filter.tools]);
  if (filter.groupId) query = query.where('group_id', '=', filter.groupId);
  if (filter.kind) query = query.where('kind', '=', filter.kind);
  if (filter.digest) query = query.where('digest', '=', filter.digest);
  const { requesters, orDecidableBy } = filter;
  if (!requesters) return query;
  const names = requesters.map(principalName);
  if (!orDecidableBy) return query.where('requester', 'in', names);
  return query.where((eb) =>
    eb.or([
      eb('requester', 'in', names),
      // As `refuseOwn` decides it: for nobody behind whose name anybody may stand, and by such a name for no agent.
      eb.and([
        eb('requester', 'not in', [...PROXIES, principalName(orDecidableBy)]),
        ...(mayBeAnybody(orDecidableBy) ? [eb('requester', 'not like', 'agent:%')] : []),
      ]),
    ]),
  );
}

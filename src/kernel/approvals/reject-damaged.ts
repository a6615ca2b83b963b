import type { Kysely } from 'kysely';
import type { DamagedApproval } from '../../contract/ports.ts';
import { type Principal, parsePrincipal, principalName } from '../../contract/principal.ts';
import { writeWithEvidence } from '../log/write.ts';
import type { Database } from '../store/database.ts';
import type { Tables } from '../store/tables.ts';
import { move } from './move.ts';
import type { idsOf } from './query.ts';
import { UnreadableApproval } from './row.ts';

interface Words {
  readonly decision_reason: string | null;
  readonly feedback: string | null;
}

/**
 * A person rejects what cannot be read: nothing of its damaged columns is needed for that. Its requester is, because the
 * audit entry names it, and whether an agent may reject depends on it.
 */
export async function rejectDamaged(
  database: Database,
  { id, version, damaged, requester, ...row }: DamagedApproval,
  by: Principal,
  words: Words,
  at: Date,
): Promise<DamagedApproval> {
  const refuse = (why: string): never => {
    throw new UnreadableApproval(id, damaged, {
      message: `Approval ${id} cannot be read and was not rejected: ${why} Run \`countersign audit verify\`.`,
      state: row.state,
    });
  };
  if (by.kind !== 'person') refuse('only a person may reject it.');
  if (!parsePrincipal(requester)) refuse('its requester is damaged, and the audit entry would name it.');
  const set = { ...words, decided_at: at.toISOString(), decided_by: principalName(by) };
  const [moved] = await writeWithEvidence(database, (write) =>
    move(write, 'reject', { id, version }, { ...set, state: 'rejected' }, { at, by: principalName(by) }),
  );
  if (!moved) refuse(`its state is ${row.state}, or it was just changed.`);
  return { ...row, id, version: version + 1, state: 'rejected', requester, damaged };
}

/**
 * Of these approvals, those that stay when many are rejected together: their requester is damaged. The others that cannot
 * be read are rejected as this file does it one by one.
 */
export async function unnameable(
  db: Kysely<Tables>,
  ids: ReturnType<typeof idsOf>,
): Promise<readonly number[]> {
  const rows = await db.selectFrom('approvals').select(['id', 'requester']).where('id', 'in', ids).execute();
  return rows.filter(({ requester }) => !parsePrincipal(requester)).map(({ id }) => id);
}

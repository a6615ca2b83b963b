import type { JsonObject } from '../../contract/json.ts';
import { type Principal, principalName } from '../../contract/principal.ts';
import { UnreadableApproval } from '../approvals/row.ts';
import { parseObject } from '../store/cells.ts';
import type { Database } from '../store/database.ts';
import type { Edit } from './shapes.ts';

/** How people changed the arguments of an approval, oldest first. */
export async function readEdits({ db }: Database, approvalId: number): Promise<readonly Edit[]> {
  const rows = await db
    .selectFrom('approval_edits')
    .selectAll()
    .where('approval_id', '=', approvalId)
    .orderBy('edited_at')
    .execute();
  return rows.map((edit) => ({
    at: edit.edited_at,
    editor: edit.editor,
    before: parse(approvalId, edit.old_args),
    after: parse(approvalId, edit.new_args),
  }));
}

/** The reason of a call that undoes an approval. */
export const undoReason = (approvalId: number | string): string => `Undo approval ${approvalId}`;

/** What the person decided last; undoing is no decision of its own. */
export async function findLastDecided(
  { db }: Database,
  person: Principal,
): Promise<{ readonly id: number; readonly at: string } | undefined> {
  const name = principalName(person);
  const row = await db
    .selectFrom('approvals')
    .select(['id', 'decided_at'])
    .where('decided_by', '=', name)
    .where('decided_at', 'is not', null)
    .where((eb) => eb.not(eb.and([eb('requester', '=', name), eb('reason', 'like', undoReason('%'))])))
    .orderBy('decided_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.decided_at ? { id: row.id, at: row.decided_at } : undefined;
}

function parse(approvalId: number, text: string): JsonObject {
  const args = parseObject(text);
  if (!args) throw new UnreadableApproval(approvalId, 'edits');
  return args;
}

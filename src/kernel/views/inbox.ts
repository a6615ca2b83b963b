import type { JsonObject } from '../../contract/json.ts';
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

function parse(approvalId: number, text: string): JsonObject {
  const args = parseObject(text);
  if (!args) throw new UnreadableApproval(approvalId, 'edits');
  return args;
}

import type { JsonObject } from '../../contract/json.ts';
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
    before: parse(edit.old_args),
    after: parse(edit.new_args),
  }));
}

const parse = (text: string): JsonObject => JSON.parse(text) as JsonObject;

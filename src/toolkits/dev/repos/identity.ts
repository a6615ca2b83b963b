import type { Kysely } from 'kysely';
import type { DevTables } from '../tables.ts';

/**
 * The store's id of a clone. A registered clone is known by its name and may move; any other is known by where it
 * lies, and keeps its issues when it is registered later.
 */
export async function repoId(
  db: Kysely<DevTables>,
  repo: { readonly registered: string | undefined; readonly path: string; readonly now: Date },
): Promise<string> {
  const { registered, path } = repo;
  if (registered !== undefined) {
    const byName = await db
      .selectFrom('dev_repos')
      .selectAll()
      .where('name', '=', registered)
      .executeTakeFirst();
    if (byName) {
      if (byName.path !== path)
        await db.updateTable('dev_repos').set({ path }).where('id', '=', byName.id).execute();
      return byName.id;
    }
  }
  const byPath = await db
    .selectFrom('dev_repos')
    .selectAll()
    .where('path', '=', path)
    .orderBy('created_at')
    .executeTakeFirst();
  if (byPath && (registered === undefined || byPath.name === null)) {
    if (registered !== undefined) {
      await db.updateTable('dev_repos').set({ name: registered }).where('id', '=', byPath.id).execute();
    }
    return byPath.id;
  }
  const id = registered === undefined ? `path:${path}` : `name:${registered}`;
  await db
    .insertInto('dev_repos')
    .values({
      id,
      name: registered ?? null,
      path,
      last_number: 0,
      last_comment: 0,
      created_at: repo.now.toISOString(),
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
  return id;
}

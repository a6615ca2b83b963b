import { existsSync } from 'node:fs';
import type { Kysely } from 'kysely';
import { uuidv7 } from '../../../lib/random.ts';
import type { ResearchTables } from '../tables.ts';

/**
 * Which project this is. A project has no id of its own, so path and date of making stand for it: a moved project
 * keeps its id, a copy gets a new one and takes over what is off limits and all pseudonyms, so that no copy shows
 * more than its original.
 */
export async function identify(
  db: Kysely<ResearchTables>,
  project: { readonly path: string; readonly madeAt: string },
  now: Date,
): Promise<string> {
  const known = await seen(db, project.madeAt);
  const here = known.find(({ path }) => path === project.path);
  if (here) return here.id;
  const moved = known.find(({ path }) => !existsSync(path));
  if (moved) {
    await db
      .updateTable('research_projects')
      .set({ path: project.path })
      .where('id', '=', moved.id)
      .where('path', '=', moved.path)
      .execute();
  } else {
    await db.transaction().execute(async (trx) => {
      const id = uuidv7();
      const { numInsertedOrUpdatedRows } = await trx
        .insertInto('research_projects')
        .values({ id, path: project.path, made_at: project.madeAt, first_seen: now.toISOString() })
        .onConflict((conflict) => conflict.columns(['path', 'made_at']).doNothing())
        .executeTakeFirst();
      if (numInsertedOrUpdatedRows === 0n) return;
      for (const original of known) await copyRules(trx, original.id, id);
    });
  }
  // Another process may have been first: what stands in the store now is the answer for all.
  const settled = (await seen(db, project.madeAt)).find(({ path }) => path === project.path);
  if (!settled) throw new Error(`the project ${project.path} could not be registered`);
  return settled.id;
}

const seen = (db: Kysely<ResearchTables>, madeAt: string) =>
  db
    .selectFrom('research_projects')
    .selectAll()
    .where('made_at', '=', madeAt)
    .orderBy('first_seen')
    .orderBy('id')
    .execute();

async function copyRules(db: Kysely<ResearchTables>, from: string, to: string): Promise<void> {
  const marks = await db
    .selectFrom('research_off_limits')
    .selectAll()
    .where('project_id', '=', from)
    .execute();
  for (const mark of marks) {
    await db
      .insertInto('research_off_limits')
      .values({ ...mark, project_id: to })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
  const names = await db
    .selectFrom('research_pseudonyms')
    .selectAll()
    .where('project_id', '=', from)
    .execute();
  for (const name of names) {
    await db
      .insertInto('research_pseudonyms')
      .values({ ...name, project_id: to })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
}

import type { Kysely } from 'kysely';
import { uuidv7 } from '../../../lib/uuid.ts';
import type { ResearchTables } from '../tables.ts';

export interface Batch {
  readonly id: string;
  readonly projectId: string;
  readonly tool: string;
}

/** Suggestions filed together. Kept apart from them so that a batch without any is known too. */
export class BatchStore {
  readonly #db: Kysely<ResearchTables>;
  readonly #now: () => Date;

  constructor(db: Kysely<ResearchTables>, now: () => Date) {
    this.#db = db;
    this.#now = now;
  }

  async open(projectId: string, tool: string): Promise<string> {
    const id = uuidv7();
    await this.#db
      .insertInto('research_batches')
      .values({ id, project_id: projectId, tool, at: this.#now().toISOString() })
      .execute();
    return id;
  }

  async get(id: string): Promise<Batch | undefined> {
    const row = await this.#db
      .selectFrom('research_batches')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
    return row && { id: row.id, projectId: row.project_id, tool: row.tool };
  }
}

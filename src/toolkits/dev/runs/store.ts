import type { Kysely, Selectable } from 'kysely';
import { ToolFault } from '../../../contract/faults.ts';
import type { DevTables } from '../tables.ts';

export type Run = Selectable<DevTables['dev_runs']>;

/** Runs tie calls on one repository together. */
export class RunStore {
  readonly #db: Kysely<DevTables>;

  constructor(db: Kysely<DevTables>) {
    this.#db = db;
  }

  async add(run: Omit<Run, 'head_branch' | 'head_commit'>): Promise<Run> {
    const full: Run = { ...run, head_branch: null, head_commit: null };
    await this.#db.insertInto('dev_runs').values(full).execute();
    return full;
  }

  async get(runId: string): Promise<Run> {
    const run = await this.find(runId);
    if (run) return run;
    throw new ToolFault(
      'not_found',
      `There is no run ${JSON.stringify(runId.slice(0, 100))}. Call runs_create and use its run_id.`,
      {
        detail: { reason: 'run_not_found', run_id: runId.slice(0, 100) },
      },
    );
  }

  find(runId: string): Promise<Run | undefined> {
    return this.#db.selectFrom('dev_runs').selectAll().where('run_id', '=', runId).executeTakeFirst();
  }

  ofCall(callId: string): Promise<Run | undefined> {
    return this.#db.selectFrom('dev_runs').selectAll().where('call_id', '=', callId).executeTakeFirst();
  }

  list(filter: { repo?: string | undefined; limit: number }): Promise<Run[]> {
    let query = this.#db.selectFrom('dev_runs').selectAll().orderBy('created_at', 'desc').limit(filter.limit);
    if (filter.repo !== undefined) query = query.where('repo', '=', filter.repo);
    return query.execute();
  }

  /** Remembers the branch a run made last: QA looks at it from then on. */
  async setHead(runId: string, branch: string, commit: string): Promise<void> {
    await this.#db
      .updateTable('dev_runs')
      .set({ head_branch: branch, head_commit: commit })
      .where('run_id', '=', runId)
      .execute();
  }
}

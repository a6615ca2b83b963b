import type { Kysely, Selectable } from 'kysely';
import { ToolError } from '../../contract/errors.ts';
import type { Check } from './forge/port.ts';
import type { DevTables } from './tables.ts';

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
    throw new ToolError(
      'not_found',
      `Run ${JSON.stringify(runId.slice(0, 100))} not found. Call runs_create and use its run_id.`,
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

const LOG_TAIL_BYTES = 8_192;
const DAY_MS = 86_400_000;

/** The end of a log, where failures are reported; never more than a reply can hold, and cut at a line. */
export function tailOf(text: string, most = LOG_TAIL_BYTES): string {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= most) return text;
  const end = bytes.subarray(bytes.length - most).toString('utf8');
  return end.slice(end.indexOf('\n') + 1);
}

/** What qa_test and qa_lint said of commits. */
export class CheckStore {
  readonly #db: Kysely<DevTables>;

  constructor(db: Kysely<DevTables>) {
    this.#db = db;
  }

  async add(row: DevTables['dev_checks']): Promise<void> {
    await this.#db
      .insertInto('dev_checks')
      .values(row)
      .onConflict((conflict) => conflict.column('call_id').doNothing())
      .execute();
  }

  /** Refuses a command once the output of the last 24 hours has used its quota: it shares a disk with the audit log. */
  async requireRoom(now: Date, most: number): Promise<void> {
    const since = new Date(now.getTime() - DAY_MS).toISOString();
    const row = await this.#db
      .selectFrom('dev_checks')
      .select(({ fn }) => fn.sum<number | string | null>('output_bytes').as('bytes'))
      .where('finished_at', '>', since)
      .executeTakeFirst();
    const stored = Number(row?.bytes ?? 0);
    if (stored < most) return;
    throw new ToolError(
      'quota_exceeded',
      `QA commands stored ${stored} bytes of output within 24 hours; dev.qa.daily_output_bytes is ${most}. Nothing was run.`,
      {
        hint: 'Wait, or ask a person to raise dev.qa.daily_output_bytes.',
        detail: { reason: 'qa_output_quota', stored, limit: most },
      },
    );
  }

  /** The last word of each tool on a commit. */
  async ofCommit(repo: string, commit: string): Promise<Check[]> {
    const rows = await this.#db
      .selectFrom('dev_checks')
      .selectAll()
      .where('repo', '=', repo)
      .where('commit_id', '=', commit)
      .orderBy('finished_at', 'desc')
      .execute();
    const last = new Map<string, (typeof rows)[number]>();
    for (const row of rows) if (!last.has(row.tool)) last.set(row.tool, row);
    return [...last.values()].map((row) => ({
      name: row.tool,
      source: 'qa',
      state: row.status === 'pass' ? 'success' : 'failure',
      summary: row.summary,
      ...(row.status === 'pass' ? {} : { log_tail: row.log_tail }),
      finished_at: row.finished_at,
    }));
  }
}

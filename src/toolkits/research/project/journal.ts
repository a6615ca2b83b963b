import type { Kysely } from 'kysely';
import type { ChangesTable, ResearchTables } from '../tables.ts';
import type { RowChange } from './recorder.ts';
import type { ChangeBy } from './types.ts';

export type ChangeState = 'prepared' | 'applied' | 'void' | 'undone';

/** One change of a project as we remember it: who made it, and what undo needs. */
export interface Change extends ChangeBy {
  readonly id: number;
  readonly at: Date;
  readonly stamp: string;
  readonly state: ChangeState;
  readonly undoes: number | undefined;
  readonly rows: readonly RowChange[];
}

/** Who made a change, without what it did. */
export type Maker = Omit<Change, 'rows'>;

export interface NewChange extends ChangeBy {
  readonly at: Date;
  readonly stamp: string;
  readonly undoes?: number;
  readonly rows: readonly RowChange[];
}

/**
 * A project's changes, in our own store. A change is written down before the project's transaction commits and
 * confirmed after it, so that after a crash looking at the rows settles whether it happened.
 */
export class ChangeJournal {
  readonly #db: Kysely<ResearchTables>;
  readonly #project: string;

  constructor(db: Kysely<ResearchTables>, projectId: string) {
    this.#db = db;
    this.#project = projectId;
  }

  async prepare(change: NewChange): Promise<number> {
    const { id } = await this.#db
      .insertInto('research_changes')
      .values({
        project_id: this.#project,
        call_id: change.callId,
        tool: change.tool,
        owner: change.owner,
        principal: change.principal,
        approved_by: change.approvedBy ?? null,
        method: change.method ?? null,
        confidence: change.confidence ?? null,
        rationale: change.rationale ?? null,
        at: change.at.toISOString(),
        stamp: change.stamp,
        state: 'prepared',
        undoes: change.undoes ?? null,
        rows: JSON.stringify(change.rows),
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    const runs = runsOf(change.rows).map((run) => ({ ...run, change_id: id, project_id: this.#project }));
    for (let at = 0; at < runs.length; at += 500) {
      await this.#db
        .insertInto('research_added')
        .values(runs.slice(at, at + 500))
        .execute();
    }
    return id;
  }

  async settle(id: number, state: ChangeState): Promise<void> {
    await this.#db.updateTable('research_changes').set({ state }).where('id', '=', id).execute();
  }

  async get(id: number): Promise<Change | undefined> {
    const row = await this.#mine().where('id', '=', id).executeTakeFirst();
    return row && toChange(row);
  }

  async ofCall(callId: string): Promise<readonly Change[]> {
    const rows = await this.#mine().where('call_id', '=', callId).orderBy('id').execute();
    return rows.map(toChange);
  }

  /** Newest first. */
  async recent(limit: number, before?: number): Promise<readonly Change[]> {
    let query = this.#mine().where('state', '!=', 'void');
    if (before !== undefined) query = query.where('id', '<', before);
    return (await query.orderBy('id', 'desc').limit(limit).execute()).map(toChange);
  }

  async unsettled(): Promise<readonly Change[]> {
    return (await this.#mine().where('state', '=', 'prepared').orderBy('id').execute()).map(toChange);
  }

  /** The change that added each row. Ids are used again after a deletion, so owner and time must agree too. */
  async makers(
    table: string,
    rows: readonly { readonly id: number; readonly owner: string; readonly date: string }[],
  ): Promise<ReadonlyMap<number, Maker>> {
    const found = new Map<number, Maker>();
    if (rows.length === 0) return found;
    const ids = rows.map(({ id }) => id);
    const runs = await this.#db
      .selectFrom('research_added')
      .innerJoin('research_changes', 'research_changes.id', 'research_added.change_id')
      .where('research_added.project_id', '=', this.#project)
      .where('research_added.kind', '=', table)
      .where('research_added.first_id', '<=', Math.max(...ids))
      .where('research_added.last_id', '>=', Math.min(...ids))
      .where('research_changes.state', '!=', 'void')
      .select(['first_id', 'last_id', 'id', 'call_id', 'tool', 'owner', 'principal', 'approved_by', 'method'])
      .select(['confidence', 'rationale', 'at', 'stamp', 'state', 'undoes'])
      .orderBy('research_changes.id')
      .execute();
    for (const { id, owner, date } of rows) {
      const run = runs.findLast(
        (item) => item.first_id <= id && item.last_id >= id && item.owner === owner && item.stamp === date,
      );
      if (run) found.set(id, toMaker(run));
    }
    return found;
  }

  #mine() {
    return this.#db.selectFrom('research_changes').selectAll().where('project_id', '=', this.#project);
  }
}

type Stored = { readonly [K in keyof ChangesTable]: K extends 'id' ? number : ChangesTable[K] };

function toMaker(row: Omit<Stored, 'rows' | 'project_id'>): Maker {
  return {
    id: row.id,
    callId: row.call_id,
    tool: row.tool,
    owner: row.owner,
    principal: row.principal,
    approvedBy: row.approved_by ?? undefined,
    method: row.method ?? undefined,
    confidence: row.confidence ?? undefined,
    rationale: row.rationale ?? undefined,
    at: new Date(row.at),
    stamp: row.stamp,
    state: row.state as ChangeState,
    undoes: row.undoes ?? undefined,
  };
}

const toChange = (row: Stored): Change => ({ ...toMaker(row), rows: JSON.parse(row.rows) as RowChange[] });

/** Ten thousand codings of one batch have neighbouring ids: a run of them is one row. */
function runsOf(rows: readonly RowChange[]): { kind: string; first_id: number; last_id: number }[] {
  const byTable = new Map<string, number[]>();
  for (const row of rows) {
    if (row.kind !== 'insert' || typeof row.key !== 'number') continue;
    const keys = byTable.get(row.table) ?? [];
    keys.push(row.key);
    byTable.set(row.table, keys);
  }
  return [...byTable].flatMap(([kind, keys]) => {
    const runs: { kind: string; first_id: number; last_id: number }[] = [];
    for (const key of keys.sort((a, b) => a - b)) {
      const last = runs.at(-1);
      if (last && last.last_id + 1 === key) last.last_id = key;
      else runs.push({ kind, first_id: key, last_id: key });
    }
    return runs;
  });
}

import { type Principal, principalName } from '../../contract/principal.ts';
import { parseObject } from '../store/cells.ts';
import type { Database } from '../store/database.ts';
import type { HoldView } from './shapes.ts';

/** A hold as the servers that did not begin it see it. */
export interface PostedHold {
  readonly person: string;
  readonly view: HoldView;
}

/** A server that ended without clearing its holds ran none of them. */
const LOST_MS = 5_000;
const RUNNING_MS = 600_000;
/** Long enough for a page that lost its connection for a moment to learn the result. */
export const RESULT_MS = 60_000;

/**
 * The holds of all servers on one database. Only the server that began a hold runs it, from its own memory; the others
 * show it and call it off. Both change the state of the row in one statement, so one of them wins.
 */
export class HoldBoard {
  readonly #database: Database;
  readonly #now: () => Date;

  constructor(database: Database, now: () => Date) {
    this.#database = database;
    this.#now = now;
  }

  async post(person: Principal, view: HoldView): Promise<void> {
    const { db } = this.#database;
    const old = new Date(this.#now().getTime() - RUNNING_MS).toISOString();
    await db.deleteFrom('holds').where('changed_at', '<', old).execute();
    await db
      .insertInto('holds')
      .values({
        key: view.key,
        person: principalName(person),
        state: view.state,
        view: JSON.stringify(view),
        until: view.until,
        changed_at: this.#now().toISOString(),
      })
      .execute();
  }

  /** True when it was still held; it is then in the state of the view for every server. */
  async leave(from: HoldView['state'], view: HoldView): Promise<boolean> {
    const { numUpdatedRows } = await this.#database.db
      .updateTable('holds')
      .set({ state: view.state, view: JSON.stringify(view), changed_at: this.#now().toISOString() })
      .where('key', '=', view.key)
      .where('state', '=', from)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  async remove(key: string): Promise<void> {
    await this.#database.db.deleteFrom('holds').where('key', '=', key).execute();
  }

  /** In the order in which they began. */
  async list(): Promise<readonly PostedHold[]> {
    const rows = await this.#database.db.selectFrom('holds').selectAll().orderBy('until').execute();
    const now = this.#now().getTime();
    return rows.flatMap(({ person, state, view, until, changed_at: changed }) => {
      const age = now - Date.parse(changed);
      const isGone =
        state === 'held'
          ? now - Date.parse(until) > LOST_MS
          : age > (state === 'running' ? RUNNING_MS : RESULT_MS);
      const shown = isGone ? undefined : (parseObject(view) as unknown as HoldView | undefined);
      if (!shown) return [];
      const left_ms = state === 'held' ? Math.max(0, Date.parse(until) - now) : 0;
      return [{ person, view: { ...shown, state: state as HoldView['state'], left_ms } }];
    });
  }
}

import type { ModelMessage } from 'ai';
import type { Kysely, Selectable, Transaction } from 'kysely';
import type { JsonObject } from '../../../contract/json.ts';
import type { Ending, Run } from './runs.ts';
import { type AssistantTables, type EntriesTable, OPEN_STATES } from './tables.ts';

export type Entry = Selectable<EntriesTable>;

/** Thrown where a process notices that its order was closed or taken over by another. */
export class LostRun extends Error {
  constructor() {
    super('The order was closed or taken over by another process.');
    this.name = 'LostRun';
  }
}

export interface NewEntry {
  readonly type: 'message' | 'compaction' | 'note';
  readonly body: ModelMessage | JsonObject;
  readonly model?: string;
}

/** About four bytes to a token; UTF-8 length also keeps scripts without spaces from being underrated. */
export const estimateTokens = (text: string): number => Math.ceil(Buffer.byteLength(text, 'utf8') / 4) + 4;

/**
 * What was said, in order, for good: entries are only ever added. Only the process that holds a session's running
 * order may add to it, which every addition checks in its own transaction.
 */
export class Transcript {
  readonly #db: Kysely<AssistantTables>;
  readonly #owner: string;
  readonly #now: () => Date;
  readonly #changed: (sessionId: string) => void;

  constructor(
    db: Kysely<AssistantTables>,
    options: { owner: string; now: () => Date; changed?: (sessionId: string) => void },
  ) {
    this.#db = db;
    this.#owner = options.owner;
    this.#now = options.now;
    this.#changed = options.changed ?? (() => {});
  }

  async append(run: Run, entry: NewEntry): Promise<Entry> {
    const added = await this.#db.transaction().execute(async (trx) => {
      await this.#holdRun(trx, run.id);
      return this.#add(trx, run, entry);
    });
    this.#changed(run.session_id);
    return added;
  }

  async entries(sessionId: string, options: { limit?: number; offset?: number } = {}): Promise<Entry[]> {
    let query = this.#db
      .selectFrom('assistant_entries')
      .selectAll()
      .where('session_id', '=', sessionId)
      .orderBy('seq');
    if (options.limit !== undefined) query = query.limit(options.limit).offset(options.offset ?? 0);
    return query.execute();
  }

  async count(sessionId: string): Promise<number> {
    const row = await this.#db
      .selectFrom('assistant_entries')
      .select((eb) => eb.fn.countAll<number>().as('n'))
      .where('session_id', '=', sessionId)
      .executeTakeFirstOrThrow();
    return Number(row.n);
  }

  /** The last compaction and what the model is still shown from then on. */
  async context(sessionId: string): Promise<{ compaction: Entry | undefined; entries: Entry[] }> {
    const compaction = await this.#db
      .selectFrom('assistant_entries')
      .selectAll()
      .where('session_id', '=', sessionId)
      .where('type', '=', 'compaction')
      .orderBy('seq', 'desc')
      .limit(1)
      .executeTakeFirst();
    const from = compaction ? firstKept(compaction) : 0;
    const entries = await this.#db
      .selectFrom('assistant_entries')
      .selectAll()
      .where('session_id', '=', sessionId)
      .where('in_context', '=', 1)
      .where('type', '!=', 'compaction')
      .where('seq', '>=', from)
      .orderBy('seq')
      .execute();
    return { compaction, entries };
  }

  ofRun(runId: string, sessionId: string): Promise<Entry[]> {
    return this.#db
      .selectFrom('assistant_entries')
      .selectAll()
      .where('session_id', '=', sessionId)
      .where('run_id', '=', runId)
      .orderBy('seq')
      .execute();
  }

  async countCompaction(sessionId: string): Promise<void> {
    await this.#db
      .updateTable('assistant_sessions')
      .set((eb) => ({ compactions: eb('compactions', '+', 1) }))
      .where('id', '=', sessionId)
      .execute();
  }

  /** Ends the run this process holds. */
  async close(run: Run, ending: Ending, note?: string): Promise<void> {
    await this.#db.transaction().execute(async (trx) => {
      const result = await trx
        .updateTable('assistant_runs')
        .set({
          state: ending.state,
          answer: ending.answer ? JSON.stringify(ending.answer) : null,
          fault: ending.fault ? JSON.stringify(ending.fault) : null,
          finished_at: this.#now().toISOString(),
          doing: null,
        })
        .where('id', '=', run.id)
        .where('owner', '=', this.#owner)
        .where('state', 'in', OPEN_STATES)
        .executeTakeFirst();
      if (result.numUpdatedRows === 0n) throw new LostRun();
      if (ending.state !== 'done') await this.#setAside(trx, run, note ?? 'This message was not answered.');
    });
    this.#changed(run.session_id);
  }

  /** Closes an order whose process died; false when it came back to life or another process was first. */
  interrupt(run: Run): Promise<boolean> {
    return this.#closeForeign(
      run,
      'interrupted',
      'The work on this message was interrupted before it was answered.',
    );
  }

  /** Stops an order whichever process holds it: that one's next renewal or entry finds the row closed. */
  cancel(run: Run): Promise<boolean> {
    return this.#closeForeign(run, 'cancelled', 'The client cancelled the work on this message.');
  }

  async #closeForeign(run: Run, state: 'interrupted' | 'cancelled', note: string): Promise<boolean> {
    const closed = await this.#db.transaction().execute(async (trx) => {
      const now = this.#now().toISOString();
      let close = trx
        .updateTable('assistant_runs')
        .set({ state, finished_at: now, doing: null })
        .where('id', '=', run.id)
        .where('state', 'in', OPEN_STATES);
      if (state === 'interrupted') close = close.where('lease_until', '<', now);
      const result = await close.executeTakeFirst();
      if (result.numUpdatedRows === 0n) return false;
      await this.#setAside(trx, run, note);
      await trx
        .updateTable('assistant_sessions')
        .set({ aborted_last_run: 1 })
        .where('id', '=', run.session_id)
        .execute();
      return true;
    });
    if (closed) this.#changed(run.session_id);
    return closed;
  }

  /**
   * An unanswered message stays in the transcript but is not shown to the model again, or a message too large for it
   * would block the session for ever. Where tools were used the model must know, so there a note closes it instead.
   */
  async #setAside(trx: Transaction<AssistantTables>, run: Run, note: string): Promise<void> {
    // Quotes inside texts are escaped in JSON, so that nothing a person wrote can look like this.
    const usedTools = await trx
      .selectFrom('assistant_entries')
      .select('seq')
      .where('session_id', '=', run.session_id)
      .where('run_id', '=', run.id)
      .where('body', 'like', '%"tool-call"%')
      .limit(1)
      .executeTakeFirst();
    if (usedTools) {
      await this.#add(trx, run, { type: 'note', body: { text: note } });
      return;
    }
    await trx
      .updateTable('assistant_entries')
      .set({ in_context: 0 })
      .where('session_id', '=', run.session_id)
      .where('run_id', '=', run.id)
      .where('type', '=', 'message')
      .execute();
  }

  /** Locks the run's row for the transaction and makes sure it is ours. */
  async #holdRun(trx: Transaction<AssistantTables>, runId: string): Promise<void> {
    const held = await trx
      .updateTable('assistant_runs')
      .set({ owner: this.#owner })
      .where('id', '=', runId)
      .where('owner', '=', this.#owner)
      .where('state', '=', 'running')
      .executeTakeFirst();
    if (held.numUpdatedRows === 0n) throw new LostRun();
  }

  async #add(trx: Transaction<AssistantTables>, run: Run, entry: NewEntry): Promise<Entry> {
    const last = await trx
      .selectFrom('assistant_entries')
      .select((eb) => eb.fn.max('seq').as('seq'))
      .where('session_id', '=', run.session_id)
      .executeTakeFirst();
    const body = JSON.stringify(entry.body);
    const row: Entry = {
      session_id: run.session_id,
      seq: Number(last?.seq ?? 0) + 1,
      run_id: run.id,
      type: entry.type,
      in_context: 1,
      tokens: estimateTokens(body),
      model: entry.model ?? null,
      body,
      created_at: this.#now().toISOString(),
    };
    await trx.insertInto('assistant_entries').values(row).execute();
    return row;
  }
}

function firstKept(compaction: Entry): number {
  const body: unknown = JSON.parse(compaction.body);
  return typeof body === 'object' && body !== null && 'firstKept' in body ? Number(body.firstKept) : 0;
}

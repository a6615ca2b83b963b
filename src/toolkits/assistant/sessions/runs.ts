import { createHash, randomUUID } from 'node:crypto';
import type { Kysely, Selectable } from 'kysely';
import type { JsonObject } from '../../../contract/json.ts';
import { hasEnded } from '../../../lib/process-identity.ts';
import { type AssistantTables, OPEN_STATES, type RunState, type RunsTable } from './tables.ts';

export type Run = Selectable<RunsTable>;

export interface Ending {
  readonly state: Exclude<RunState, 'queued' | 'running' | 'interrupted'>;
  readonly answer?: JsonObject;
  readonly fault?: JsonObject;
}

const messageHash = (message: string): string => createHash('sha256').update(message, 'utf8').digest('hex');

/**
 * Orders as rows. The open rows of a session are its queue, across every process on the store: each change of a
 * row is one conditional statement, so that two processes never both believe they hold it.
 */
export class Runs {
  readonly #db: Kysely<AssistantTables>;
  readonly #now: () => Date;
  readonly #changed: (sessionId: string) => void;
  /** How long a process that stopped renewing is still believed alive. */
  readonly leaseMs: number;
  readonly owner: string;

  constructor(
    db: Kysely<AssistantTables>,
    options: { now: () => Date; leaseMs: number; owner: string; changed?: (sessionId: string) => void },
  ) {
    this.#db = db;
    this.#now = options.now;
    this.#changed = options.changed ?? (() => {});
    this.leaseMs = options.leaseMs;
    this.owner = options.owner;
  }

  async enqueue(sessionId: string, callId: string, message: string): Promise<Run> {
    const queued = await this.#db.transaction().execute(async (trx) => {
      // The lock on the session row makes places in the queue unique without retries on PostgreSQL; on SQLite the
      // transaction itself is the lock.
      await trx
        .updateTable('assistant_sessions')
        .set({ updated_at: this.#now().toISOString() })
        .where('id', '=', sessionId)
        .execute();
      const last = await trx
        .selectFrom('assistant_runs')
        .select((eb) => eb.fn.max('seq').as('seq'))
        .where('session_id', '=', sessionId)
        .executeTakeFirst();
      const run: Run = {
        id: randomUUID(),
        session_id: sessionId,
        seq: Number(last?.seq ?? 0) + 1,
        call_id: callId,
        message,
        message_hash: messageHash(message),
        state: 'queued',
        started: 0,
        detached: 0,
        delivered: 0,
        told: 0,
        owner: this.owner,
        lease_until: this.#leaseEnd(),
        doing: null,
        answer: null,
        fault: null,
        created_at: this.#now().toISOString(),
        finished_at: null,
      };
      await trx.insertInto('assistant_runs').values(run).execute();
      return run;
    });
    this.#changed(sessionId);
    return queued;
  }

  /** The newest order of each session: what it is about, and whether a process works on it. */
  async latest(sessionIds: readonly string[]): Promise<ReadonlyMap<string, Run>> {
    if (sessionIds.length === 0) return new Map();
    const rows = await this.#db
      .selectFrom('assistant_runs as run')
      .selectAll()
      .where('session_id', 'in', [...sessionIds])
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('assistant_runs as later')
              .select('later.id')
              .whereRef('later.session_id', '=', 'run.session_id')
              .whereRef('later.seq', '>', 'run.seq'),
          ),
        ),
      )
      .execute();
    return new Map(rows.map((row) => [row.session_id, row]));
  }

  get(id: string): Promise<Run | undefined> {
    return this.#db.selectFrom('assistant_runs').selectAll().where('id', '=', id).executeTakeFirst();
  }

  byCall(callId: string): Promise<Run | undefined> {
    return this.#db.selectFrom('assistant_runs').selectAll().where('call_id', '=', callId).executeTakeFirst();
  }

  /** An order with this very message whose end no caller has seen: its caller timed out, or its process died. */
  prior(sessionId: string, message: string, since: Date): Promise<Run | undefined> {
    const now = this.#now().toISOString();
    return this.#db
      .selectFrom('assistant_runs')
      .selectAll()
      .where('session_id', '=', sessionId)
      .where('message_hash', '=', messageHash(message))
      .where('delivered', '=', 0)
      .where('state', '!=', 'cancelled')
      .where('created_at', '>=', since.toISOString())
      .where((eb) =>
        eb.or([eb('detached', '=', 1), eb('state', '=', 'interrupted'), eb('lease_until', '<', now)]),
      )
      .orderBy('seq', 'asc')
      .limit(1)
      .executeTakeFirst();
  }

  /** Takes the turn when no earlier order of the session is open. */
  async claim(run: Run): Promise<boolean> {
    const result = await this.#db
      .updateTable('assistant_runs')
      .set({ state: 'running', started: 1, lease_until: this.#leaseEnd() })
      .where('id', '=', run.id)
      .where('owner', '=', this.owner)
      .where('state', '=', 'queued')
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('assistant_runs as earlier')
              .select('earlier.id')
              .where('earlier.session_id', '=', run.session_id)
              .where('earlier.seq', '<', run.seq)
              .where('earlier.state', 'in', OPEN_STATES),
          ),
        ),
      )
      .executeTakeFirst();
    return result.numUpdatedRows > 0n;
  }

  async isHeld(id: string): Promise<boolean> {
    const row = await this.get(id);
    return row?.owner === this.owner && row.state === 'queued';
  }

  ahead(run: Run): Promise<Run[]> {
    return this.#db
      .selectFrom('assistant_runs')
      .selectAll()
      .where('session_id', '=', run.session_id)
      .where('seq', '<', run.seq)
      .where('state', 'in', OPEN_STATES)
      .orderBy('seq')
      .execute();
  }

  /** Takes over an open order whose process stopped renewing it. */
  async adopt(id: string): Promise<boolean> {
    const result = await this.#db
      .updateTable('assistant_runs')
      .set({ state: 'queued', owner: this.owner, lease_until: this.#leaseEnd() })
      .where('id', '=', id)
      .where('state', 'in', OPEN_STATES)
      .where('lease_until', '<', this.#now().toISOString())
      .executeTakeFirst();
    return result.numUpdatedRows > 0n;
  }

  orphans(): Promise<Run[]> {
    return this.#db
      .selectFrom('assistant_runs')
      .selectAll()
      .where('state', 'in', OPEN_STATES)
      .where('lease_until', '<', this.#now().toISOString())
      .orderBy('created_at')
      .orderBy('seq')
      .limit(100)
      .execute();
  }

  /** Renews all that this process holds; answers what it still holds. */
  async renew(): Promise<Set<string>> {
    const held = await this.#db
      .updateTable('assistant_runs')
      .set({ lease_until: this.#leaseEnd() })
      .where('owner', '=', this.owner)
      .where('state', 'in', OPEN_STATES)
      .returning('id')
      .execute();
    return new Set(held.map((row) => row.id));
  }

  async setDoing({ id, session_id }: Pick<Run, 'id' | 'session_id'>, doing: string): Promise<void> {
    await this.#db
      .updateTable('assistant_runs')
      .set({ doing })
      .where('id', '=', id)
      .where('owner', '=', this.owner)
      .execute();
    this.#changed(session_id);
  }

  /** False when it had already ended, so that there is nothing left to detach. */
  async detach(id: string): Promise<boolean> {
    const result = await this.#db
      .updateTable('assistant_runs')
      .set({ detached: 1 })
      .where('id', '=', id)
      .where('delivered', '=', 0)
      .executeTakeFirst();
    return result.numUpdatedRows > 0n;
  }

  /** The one who wins this may hand the ending to its caller. */
  async deliver(id: string): Promise<boolean> {
    const result = await this.#db
      .updateTable('assistant_runs')
      .set({ delivered: 1 })
      .where('id', '=', id)
      .where('delivered', '=', 0)
      .executeTakeFirst();
    return result.numUpdatedRows > 0n;
  }

  /** Interrupted orders of the session that no caller has seen; each is reported once. */
  async untold(sessionId: string): Promise<Run[]> {
    return this.#db
      .updateTable('assistant_runs')
      .set({ told: 1 })
      .where('session_id', '=', sessionId)
      .where('state', '=', 'interrupted')
      .where('told', '=', 0)
      .returningAll()
      .execute();
  }

  async markTold(id: string): Promise<void> {
    await this.#db.updateTable('assistant_runs').set({ told: 1 }).where('id', '=', id).execute();
  }

  /** Ends the leases of processes of this machine that have ended without releasing them: killed, or crashed. */
  async releaseDead(): Promise<boolean> {
    const holders = await this.#db
      .selectFrom('assistant_runs')
      .select('owner')
      .distinct()
      .where('state', 'in', OPEN_STATES)
      .where('lease_until', '>=', this.#now().toISOString())
      .where('owner', '!=', this.owner)
      .execute();
    const dead = holders.flatMap(({ owner }) => (owner !== null && hasEnded(owner) ? [owner] : []));
    if (dead.length > 0) await this.#release(dead);
    return dead.length > 0;
  }

  /** Gives up what this process holds, so that another need not wait for the lease to run out. */
  release(): Promise<void> {
    return this.#release([this.owner]);
  }

  async #release(owners: readonly string[]): Promise<void> {
    await this.#db
      .updateTable('assistant_runs')
      .set({ lease_until: new Date(0).toISOString() })
      .where('owner', 'in', owners)
      .where('state', 'in', OPEN_STATES)
      .execute();
  }

  #leaseEnd(): string {
    return new Date(this.#now().getTime() + this.leaseMs).toISOString();
  }
}

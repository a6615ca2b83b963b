import type { Kysely } from 'kysely';
import { ToolError } from '../../contract/errors.ts';
import type { DevSettings } from './config.ts';
import type { Stamp } from './forge/port.ts';
import type { DevTables } from './tables.ts';

export type AttemptKind = keyof DevSettings['limits'];

const WORDS: Record<AttemptKind, string> = {
  issues: 'issues',
  comments: 'comments',
  pull_requests: 'pull requests',
  updates: 'updates of pull requests',
};

/**
 * What a run sent to a forge, written down before it is sent. It counts against the caps of the run, and it tells a
 * later equal call which markers to look for: a request whose answer was lost may be carried out much later.
 */
/** A gateway answers for a service that may still be at work; the service itself answers when it is done. */
const wasAnswered = (error: unknown): boolean =>
  error instanceof ToolError && (error.detail?.status === 500 || error.detail?.status === 503);

export const mayHappenLater = {
  settled: 'unknown',
  why: 'the request left no trace yet, and the remote service may still carry it out',
} as const;

export class Attempts {
  readonly #db: Kysely<DevTables>;
  readonly #limits: DevSettings['limits'];

  constructor(db: Kysely<DevTables>, limits: DevSettings['limits']) {
    this.#db = db;
    this.#limits = limits;
  }

  /** Refuses what would exceed the cap. The same thing sent again counts once. */
  async check(kind: AttemptKind, runId: string, key: string): Promise<void> {
    const rows = await this.#db
      .selectFrom('dev_attempts')
      .select('attempt_key')
      .distinct()
      .where('run_id', '=', runId)
      .where('kind', '=', kind)
      .execute();
    const most = this.#limits[kind];
    if (rows.length < most || rows.some(({ attempt_key }) => attempt_key === key)) return;
    throw new ToolError(
      'not_allowed',
      `This run has made ${rows.length} ${WORDS[kind]}, which is its limit.`,
      {
        hint: `A person can raise dev.limits.${kind}, or the work continues in a new run.`,
        detail: { reason: 'run_limit', kind, limit: most },
      },
    );
  }

  /** Sends once the attempt is written down. What certainly did not happen is not counted. */
  async send<T>(
    kind: AttemptKind,
    key: string,
    stamp: Stamp,
    work: (earlier: readonly string[]) => Promise<T>,
  ): Promise<T> {
    await this.check(kind, stamp.runId, key);
    const earlier = await this.#earlier(kind, stamp.runId, key);
    await this.#add(kind, key, stamp, 0);
    try {
      const made = await work(earlier);
      await this.#set([...earlier, stamp.callId], { done: 1 });
      return made;
    } catch (error) {
      if (error instanceof ToolError && error.effect === 'none')
        await this.#db.deleteFrom('dev_attempts').where('call_id', '=', stamp.callId).execute();
      // From here the forge's time runs: the request had left by now. One that was answered is over.
      else
        await this.#set([stamp.callId], {
          sent_at: (wasAnswered(error) ? new Date(0) : new Date()).toISOString(),
        });
      throw error;
    }
  }

  /** Whether this run sent such a thing; what certainly did not happen is not kept. */
  async has(kind: AttemptKind, runId: string, key: string): Promise<boolean> {
    const row = await this.#db
      .selectFrom('dev_attempts')
      .select('call_id')
      .where('run_id', '=', runId)
      .where('kind', '=', kind)
      .where('attempt_key', '=', key)
      .executeTakeFirst();
    return row !== undefined;
  }

  /** The key under which a call sent something; undefined when it sent nothing or what it sent did not happen. */
  async keyOf(callId: string): Promise<string | undefined> {
    const row = await this.#db
      .selectFrom('dev_attempts')
      .select('attempt_key')
      .where('call_id', '=', callId)
      .executeTakeFirst();
    return row?.attempt_key;
  }

  /** When the forge can no longer carry out a request that left no trace. */
  async settlesAt(callId: string, startedAt: Date, windowMs: number): Promise<Date> {
    const row = await this.#db
      .selectFrom('dev_attempts')
      .select('sent_at')
      .where('call_id', '=', callId)
      .executeTakeFirst();
    return new Date((row ? Date.parse(row.sent_at) : startedAt.getTime()) + windowMs);
  }

  /** For what is written to our own store, where an answer cannot be lost: counted afterwards, in one write. */
  async count<T>(kind: AttemptKind, key: string, stamp: Stamp, work: () => Promise<T>): Promise<T> {
    await this.check(kind, stamp.runId, key);
    const made = await work();
    await this.#add(kind, key, stamp, 1);
    return made;
  }

  async #add(kind: AttemptKind, key: string, stamp: Stamp, done: number): Promise<void> {
    const at = stamp.at.toISOString();
    const row = { call_id: stamp.callId, run_id: stamp.runId, kind, attempt_key: key, sent_at: at, done };
    await this.#db
      .insertInto('dev_attempts')
      .values(row)
      .onConflict((conflict) => conflict.column('call_id').doNothing())
      .execute();
  }

  async #set(callIds: readonly string[], values: { done: number } | { sent_at: string }): Promise<void> {
    await this.#db
      .updateTable('dev_attempts')
      .set(values)
      .where('call_id', 'in', [...callIds])
      .execute();
  }

  async #earlier(kind: AttemptKind, runId: string, key: string): Promise<string[]> {
    const rows = await this.#db
      .selectFrom('dev_attempts')
      .select('call_id')
      .where('run_id', '=', runId)
      .where('kind', '=', kind)
      .where('attempt_key', '=', key)
      .where('done', '=', 0)
      .orderBy('sent_at')
      .execute();
    return rows.map(({ call_id }) => call_id);
  }
}

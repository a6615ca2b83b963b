import type { Database } from '../../store/database.ts';
import type { Entry } from '../entry.ts';
import { keyDifference, keysWithEvidence, statedKey } from '../rows/key-row.ts';
import type { RowFault, StateCheck } from './state-rows.ts';

const BATCH = 500;

interface HeldKey {
  readonly seq: number;
  readonly until: string | null;
}

/**
 * Idempotency keys against the calls that hold them: what a repeated call is answered must be what the first one was, and
 * a key that has not expired must still be there.
 */
export class KeyRowCheck implements StateCheck {
  /** By call, as far as their keys had not expired when they were read. */
  readonly #held = new Map<string, HeldKey>();
  /** The latest time of any entry: a key whose end is earlier may have been swept, or replaced by another call. */
  #newest = '';

  take(seq: number, entry: Entry): void {
    const { kind, at, call = '', status, extra } = entry;
    if (at > this.#newest) this.#newest = at;
    if (kind !== 'intent' && kind !== 'outcome' && kind !== 'settled') return;
    const key = statedKey(entry);
    if (key && !isOver(key, this.#newest)) this.#held.set(call, { seq, until: key.until });
    // A call that failed has freed its key; one that was late says so itself if it holds the key again.
    else if (kind !== 'intent' && (extra?.late === true || !HOLDING.has(status ?? '')))
      this.#held.delete(call);
  }

  async compare(database: Database): Promise<RowFault[]> {
    const faults: RowFault[] = [];
    const missing = new Map(this.#held);
    for (let offset = 0; ; offset += BATCH) {
      const groups = await readGroups(database, offset);
      for (const [key, group] of groups) {
        const [row] = group;
        if (row) missing.delete(row.call_id);
        const why = row && keyDifference(row, group);
        if (why)
          faults.push({ seq: group.at(-1)?.seq ?? undefined, message: `Idempotency key ${key} ${why}.` });
      }
      if (groups.size === 0) break;
    }
    for (const [call, { seq, until }] of missing) {
      if (isOver({ until }, this.#newest)) continue;
      const time = until === null ? 'and does not expire' : `until ${until}`;
      faults.push({
        seq,
        message: `The idempotency key of call ${call} is missing; the log says that the call holds it ${time}.`,
      });
    }
    return faults;
  }
}

/** What a call that holds its key may have come to; afterwards the key is free. */
const HOLDING: ReadonlySet<string> = new Set(['ok', 'indeterminate']);

const isOver = ({ until }: Pick<HeldKey, 'until'>, newest: string): boolean =>
  until !== null && until <= newest;

type KeyGroup = Awaited<ReturnType<ReturnType<typeof keysWithEvidence>['execute']>>;

/** By position and not by key: a key whose text was damaged has no place in an order. */
async function readGroups({ db }: Database, offset: number): Promise<Map<string, KeyGroup>> {
  const rows = await keysWithEvidence(db)
    .where('i.scope_key', 'in', (eb) =>
      eb
        .selectFrom('idempotency')
        .select('scope_key')
        // Sign-ins that work once have a key, and no call.
        .where('scope_key', 'not like', 'once|%')
        .orderBy('scope_key')
        .limit(BATCH)
        .offset(offset),
    )
    .orderBy('l.seq')
    .execute();
  const groups = new Map<string, KeyGroup>();
  for (const row of rows) {
    const group = groups.get(row.scope_key);
    if (group) group.push(row);
    else groups.set(row.scope_key, [row]);
  }
  return groups;
}

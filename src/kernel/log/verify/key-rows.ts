import type { Database } from '../../store/database.ts';
import { keyDifference, keysWithEvidence } from '../rows/key-row.ts';
import type { RowFault, StateCheck } from './state-rows.ts';

const BATCH = 500;

/** Idempotency keys against the calls that hold them: what a repeated call is answered must be what the first one was. */
export class KeyRowCheck implements StateCheck {
  /** The rows name their calls, so nothing has to be remembered. */
  take(): void {}

  async compare(database: Database): Promise<RowFault[]> {
    const faults: RowFault[] = [];
    for (let offset = 0; ; offset += BATCH) {
      const groups = await readGroups(database, offset);
      for (const [key, group] of groups) {
        const [row] = group;
        const why = row && keyDifference(row, group);
        if (why)
          faults.push({ seq: group.at(-1)?.seq ?? undefined, message: `Idempotency key ${key} ${why}.` });
      }
      if (groups.size === 0) return faults;
    }
  }
}

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

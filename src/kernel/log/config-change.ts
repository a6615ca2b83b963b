import type { Transaction } from 'kysely';
import type { JsonObject } from '../../contract/json.ts';
import { type Principal, principalName } from '../../contract/principal.ts';
import type { Database } from '../store/database.ts';
import type { Tables } from '../store/tables.ts';
import { prepareEntry } from './entry.ts';
import { appendEntries } from './log.ts';

/**
 * What a person changes about the rules of the house, and its evidence: both or neither. `change` gives what the entry
 * says, or undefined when there was nothing to change.
 */
export function changeConfig(
  { engine, write }: Database,
  by: Principal,
  at: Date,
  change: (trx: Transaction<Tables>) => Promise<JsonObject | undefined>,
): Promise<boolean> {
  return write(async (trx) => {
    const extra = await change(trx);
    if (extra === undefined) return false;
    const entry = prepareEntry({
      kind: 'config',
      at: at.toISOString(),
      principal: principalName(by),
      extra,
    });
    await appendEntries(trx, engine, [entry]);
    return true;
  });
}

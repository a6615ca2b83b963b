import { randomUUID } from 'node:crypto';
import type { LeasePort } from '../contract/ports.ts';
import type { Database } from './database.ts';

/** Named leases in the store: of all processes and nodes, one holds a name at a time. */
export function createLeases({ db }: Database, now: () => Date): LeasePort {
  const holder = `${process.pid}-${randomUUID()}`;
  return {
    async acquire(name, ttlMs) {
      const at = now();
      const expires_at = new Date(at.getTime() + ttlMs).toISOString();
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('leases')
        .values({ name, holder, expires_at })
        .onConflict((conflict) =>
          conflict
            .column('name')
            .doUpdateSet({ holder, expires_at })
            .where((eb) =>
              eb.or([eb('leases.holder', '=', holder), eb('leases.expires_at', '<=', at.toISOString())]),
            ),
        )
        .executeTakeFirst();
      return numInsertedOrUpdatedRows !== 0n;
    },
    async release(name) {
      await db.deleteFrom('leases').where('name', '=', name).where('holder', '=', holder).execute();
    },
  };
}

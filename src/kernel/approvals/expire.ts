import { writeWithEvidence } from '../log/write.ts';
import { move } from './move.ts';
import type { ApprovalQueue } from './queue.ts';
import { sourcesOf } from './transitions.ts';

export const CLOCK = 'system:clock';

/** Past their time, waiting rows and unused permits expire; research suggestions have none. */
export async function expireDue({ ports: { database, now } }: ApprovalQueue): Promise<number> {
  const at = now();
  const due = await database.db
    .selectFrom('approvals')
    .select(['id', 'version'])
    .where('state', 'in', sourcesOf('expire', 'permit'))
    .where('expires_at', '<=', at.toISOString())
    .where((eb) => eb.or([eb('state', '=', 'pending'), eb('kind', '=', 'permit')]))
    .limit(500)
    .execute();
  if (due.length === 0) return 0;
  return writeWithEvidence(database, async (write) => {
    let expired = 0;
    for (const { id, version } of due) {
      const rows = await move(write, 'expire', { id, version }, { state: 'expired' }, { at, by: CLOCK });
      expired += rows.length;
    }
    return expired;
  });
}

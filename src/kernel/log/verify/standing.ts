import { type Selectable, sql } from 'kysely';
import { standingDigest } from '../../../lib/standing-digest.ts';
import type { Database } from '../../store/database.ts';
import type { StandingApprovalsTable } from '../../store/tables.ts';
import type { Entry } from '../entry.ts';
import type { RowFault, StateCheck } from './state-rows.ts';

interface LoggedStanding {
  readonly seq: number;
  readonly digest: string | undefined;
  readonly agent: string;
  readonly tool: string | undefined;
  readonly until: string;
  readonly uses: number;
  readonly isByPerson: boolean;
  used: number;
  revokedAt: string | null;
  revokedBy: string | null;
}

/** Standing approvals in the log: who gave which, when it ended, and which calls ran under it. */
class StandingLedger {
  readonly logged = new Map<string, LoggedStanding>();

  /** What is wrong with an entry, in words that follow "Entry N"; undefined when it fits what came before. */
  take(seq: number, { kind, at, tool, principal, approval, extra = {} }: Entry): string | undefined {
    if (kind === 'config' && typeof extra.standing_added === 'string') {
      this.logged.set(extra.standing_added, {
        seq,
        digest: approval?.digest,
        agent: String(extra.agent),
        tool,
        until: String(extra.until),
        uses: Number(extra.uses),
        isByPerson: principal?.startsWith('person:') === true,
        used: 0,
        revokedAt: null,
        revokedBy: null,
      });
    } else if (kind === 'config' && typeof extra.standing_revoked === 'string') {
      const one = this.logged.get(extra.standing_revoked);
      // The first one ends it.
      if (one?.revokedAt === null) {
        one.revokedAt = at;
        one.revokedBy = principal ?? null;
      }
    } else if (kind === 'intent' && typeof extra.standing === 'string') {
      return this.#use(extra.standing, at, tool, principal);
    }
    return undefined;
  }

  #use(
    uuid: string,
    at: string,
    tool: string | undefined,
    principal: string | undefined,
  ): string | undefined {
    const one = this.logged.get(uuid);
    if (!one) return `runs under standing approval ${uuid}, which no one had given`;
    one.used += 1;
    if (!one.isByPerson) return `runs under standing approval ${uuid}, which no person gave`;
    if (one.agent !== principal || one.tool !== tool)
      return `runs under standing approval ${uuid}, which is for ${one.agent} and ${one.tool}`;
    if (one.used > one.uses)
      return `uses standing approval ${uuid} ${one.used} times, but it allows ${one.uses}`;
    if (at >= one.until) return `runs under standing approval ${uuid}, which had expired`;
    if (one.revokedAt !== null) return `runs under standing approval ${uuid}, which had been revoked`;
    return undefined;
  }
}

/** Whether calls that no one was asked about ran within what a person had approved in advance. */
export class StandingHistoryCheck {
  readonly #ledger = new StandingLedger();

  take(seq: number, entry: Entry): string | undefined {
    return this.#ledger.take(seq, entry);
  }
}

/** The rows of standing approvals against what the log says of each. */
export class StandingRowCheck implements StateCheck {
  readonly #ledger = new StandingLedger();

  take(seq: number, entry: Entry): void {
    this.#ledger.take(seq, entry);
  }

  async compare(database: Database): Promise<RowFault[]> {
    const faults: RowFault[] = [];
    const missing = new Map(this.#ledger.logged);
    for (const row of await readRows(database)) {
      const name = `Standing approval ${row.id} (${row.uuid})`;
      const logged = missing.get(row.uuid);
      missing.delete(row.uuid);
      if (!logged) {
        faults.push({ seq: undefined, message: `${name} has a row, but no entry in the log.` });
        continue;
      }
      const wrong = (what: string) => faults.push({ seq: logged.seq, message: `${name} ${what}.` });
      if (digestOf(row) !== logged.digest) wrong('is not what the log says was approved');
      if (row.used !== logged.used)
        wrong(`says it was used ${row.used} times, but the log says ${logged.used}`);
      if (row.revoked_at !== logged.revokedAt)
        wrong(`says it was revoked at "${row.revoked_at}", but the log says "${logged.revokedAt}"`);
      if (row.revoked_by !== logged.revokedBy)
        wrong(`says it was revoked by "${row.revoked_by}", but the log says "${logged.revokedBy}"`);
    }
    for (const [uuid, { seq }] of missing)
      faults.push({ seq, message: `Standing approval ${uuid} is in the log, but its row is missing.` });
    return faults;
  }
}

/** None where the database is older than standing approvals: it is verified as it is, without being migrated. */
async function readRows({ db, engine }: Database): Promise<Selectable<StandingApprovalsTable>[]> {
  const { rows } = await (engine === 'sqlite'
    ? sql`select 1 from sqlite_master where type = 'table' and name = 'standing_approvals'`
    : sql`select 1 where to_regclass('standing_approvals') is not null`
  ).execute(db);
  return rows.length === 0 ? [] : db.selectFrom('standing_approvals').selectAll().orderBy('id').execute();
}

function digestOf(row: Parameters<typeof standingDigest>[0]): string | undefined {
  try {
    return standingDigest(row);
  } catch {
    return undefined;
  }
}

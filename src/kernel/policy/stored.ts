import { sql } from 'kysely';
import { isChange } from '../../contract/tool.ts';
import { ABOUT_CONFIG, readConfigEntry } from '../log/rows/config-entries.ts';
import type { Database } from '../store/database.ts';
import { OVERRIDES_KEY, stampOf } from '../store/pause.ts';
import type { Decision, Policy } from './types.ts';

const SETS_POLICY = {
  sqlite: sql<boolean>`instr(body, '"policy_version":') > 0`,
  postgres: sql<boolean>`strpos(body, '"policy_version":') > 0`,
} as const;

interface Row {
  readonly value: string | null;
  readonly hash: string | null;
  readonly body: string | null;
}

export interface StoredOverrides {
  readonly value: string | undefined;
  /** Are these the overrides that the last entry about them names? */
  readonly isLogged: boolean;
}

/**
 * The overrides with the entry that set them last, in one statement: between two, another process could set others.
 * The row alone is not to be believed, because anyone with a client of the database can edit it.
 */
export async function readStored({ db, engine }: Database): Promise<StoredOverrides> {
  const { rows } = await sql<Row>`
    select (select value from settings where key = ${OVERRIDES_KEY}) as value, last.hash as hash, last.body as body
    from (select 1 as one) as one left join
      (select hash, body from audit_log where ${ABOUT_CONFIG[engine]} and ${SETS_POLICY[engine]}
        order by seq desc limit 1) as last on 1 = 1`.execute(db);
  const [row] = rows;
  const value = row?.value ?? undefined;
  return { value, isLogged: isLogged(value, row) };
}

function isLogged(value: string | undefined, row: Row | undefined): boolean {
  if (row?.body == null) return value === undefined;
  const entry = readConfigEntry(row.body, row.hash);
  if (!entry) return false;
  const named = entry.extra?.overrides;
  // Entries of older versions do not name them.
  return typeof named !== 'string' || (value !== undefined && stampOf(value) === named);
}

export const NOT_LOGGED =
  'The rules stored in the database do not match the audit log, so no change is allowed. `countersign audit verify` has the details. A person opens the Policy page of the web app and sets the rules again.';

/** Stands in while the stored rules cannot be believed: no change is allowed, reads as the configuration alone has it. */
export function withoutChanges(base: Policy): Policy {
  const reason = NOT_LOGGED;
  const rule = 'hard:unreadable_policy';
  const decision: Decision = {
    action: 'deny',
    rule,
    reason,
    code: 'policy_error',
    trace: [{ rule, source: 'hard', action: 'deny', reason }],
    policyVersion: base.version,
  };
  return {
    ...base,
    decide: (call) => (isChange(call.subject.effect) ? decision : base.decide(call)),
    explain: (call) =>
      isChange(call.subject.effect) ? { decision, considered: [], limits: [] } : base.explain(call),
    status: () => ({ ...base.status(), problem: reason }),
  };
}

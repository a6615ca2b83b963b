import { createHash } from 'node:crypto';
import type { Kysely, Transaction } from 'kysely';
import { ToolError } from '../../contract/errors.ts';
import { type Principal, principalName } from '../../contract/principal.ts';
import type { Engine } from './database.ts';
import { runStatement, statement } from './statements.ts';
import type { Tables } from './tables.ts';

/** Where rules that people changed while servers run are kept. */
export const OVERRIDES_KEY = 'policy_overrides';

export const stampOf = (stored: string | undefined): string =>
  stored === undefined ? 'none' : createHash('sha256').update(stored).digest('hex');

const KEY = 'paused';

/** One setting for each paused agent; its value names who paused it. */
export const AGENT_PAUSED = 'paused:agent:';

interface Orders {
  readonly paused: string | null;
  readonly overrides: string | null;
  readonly agent: string | null;
  readonly newest: number | string | null;
}

const READ_ORDERS = statement(
  `select (select value from settings where key = ?) as paused, (select value from settings where key = ?) as overrides,
  (select value from settings where key = ?) as agent,
  (select seq from audit_log where instr(body, '"kind":"config"') > 0 order by seq desc limit 1) as newest`,
  { single: true },
);
const ORDERS = { ...READ_ORDERS, postgres: READ_ORDERS.postgres.replace('instr(', 'strpos(') };

export const changesPaused = (): ToolError => new ToolError('paused', 'A person paused all changes.');

export const pausedInLog = (): ToolError =>
  new ToolError(
    'paused',
    'A person paused all changes. The pause is missing in the database, but the audit log has it. `countersign audit verify` has the details.',
  );

interface AdmissionState {
  readonly paused: boolean;
  readonly agentPaused: boolean;
  readonly policyStamp: string;
  /** Position of the newest entry about the configuration; -1 when there is none. */
  readonly newestConfig: number;
}

/** Read inside the admission transaction, so that a pause or an edited rule applies to every process immediately. */
export async function readAdmissionState(
  trx: Transaction<Tables>,
  engine: Engine,
  principal: Principal,
): Promise<AdmissionState> {
  const keys = [KEY, OVERRIDES_KEY, `paused:${principalName(principal)}`];
  const { rows } = await runStatement<Orders>(trx, engine, ORDERS, keys);
  const [orders] = rows;
  return {
    paused: orders?.paused != null,
    agentPaused: orders?.agent != null,
    policyStamp: stampOf(orders?.overrides ?? undefined),
    newestConfig: Number(orders?.newest ?? -1),
  };
}

/** Agent → who paused it. */
export async function pausedAgents(db: Kysely<Tables>): Promise<ReadonlyMap<string, string>> {
  const rows = await db
    .selectFrom('settings')
    .selectAll()
    .where('key', '>=', AGENT_PAUSED)
    .where('key', '<', 'paused:agent;')
    .execute();
  return new Map(rows.map(({ key, value }) => [key.slice(AGENT_PAUSED.length), value]));
}

export async function isPaused(db: Kysely<Tables>): Promise<boolean> {
  const row = await db.selectFrom('settings').select('value').where('key', '=', KEY).executeTakeFirst();
  return row !== undefined;
}

export async function setPaused(db: Kysely<Tables>, paused: boolean, who: string): Promise<void> {
  if (!paused) {
    await db.deleteFrom('settings').where('key', '=', KEY).execute();
    return;
  }
  await db
    .insertInto('settings')
    .values({ key: KEY, value: who })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value: who }))
    .execute();
}

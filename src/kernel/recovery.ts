import { hostname } from 'node:os';
import type { Selectable, Transaction } from 'kysely';
import type { JsonObject, JsonValue } from '../contract/json.ts';
import type { Settlement } from '../contract/outcome.ts';
import type { Approval } from '../contract/ports.ts';
import { type Principal, principalName } from '../contract/principal.ts';
import { uuidFloor } from '../lib/uuid.ts';
import type { ApprovalExecutor } from './approvals/decide.ts';
import { returnedEntry } from './approvals/finish.ts';
import { toApproval } from './approvals/rows.ts';
import { prepareEntry } from './audit/entry.ts';
import { appendEntries } from './audit/log.ts';
import type { Ports } from './ports.ts';
import type { CallsTable, Tables } from './tables.ts';

type CallRow = Selectable<CallsTable>;
type RecoveryPorts = Pick<Ports, 'database' | 'log' | 'now' | 'resolve'>;

const RECONCILE_MS = 30_000;
/** An approved row this old was left by a process that died before running it. */
const ABANDONED_MS = 60_000;

/** Calls whose process died between intent and outcome become `indeterminate`; nothing is run again. */
export async function markInterrupted({ database, now, log }: RecoveryPorts): Promise<number> {
  const running = await database.db.selectFrom('calls').selectAll().where('status', '=', 'running').execute();
  let marked = 0;
  for (const row of running.filter((one) => isDead(one, now()))) {
    const at = now().toISOString();
    const entry = prepareEntry({
      ...entryBase(row),
      kind: 'outcome',
      at,
      status: 'indeterminate',
      code: 'indeterminate',
      extra: { interrupted: true },
    });
    const done = await database.write(async (trx) => {
      const { numUpdatedRows } = await trx
        .updateTable('calls')
        .set({
          status: 'indeterminate',
          code: 'indeterminate',
          evidence_hash: entry.hash,
          holder_host: null,
          holder_pid: null,
          lease_until: null,
        })
        .where('call_id', '=', row.call_id)
        .where('status', '=', 'running')
        .executeTakeFirst();
      if (numUpdatedRows === 0n) return false;
      await setApproval(trx, row.call_id, 'executing', 'indeterminate', undefined);
      await trx
        .updateTable('idempotency')
        .set({ state: 'indeterminate' })
        .where('call_id', '=', row.call_id)
        .where('state', '=', 'running')
        .execute();
      await appendEntries(trx, database.engine, [entry]);
      return true;
    });
    if (done) {
      marked += 1;
      log.warn('A change was interrupted; whether it happened is not known yet', {
        call: row.call_id,
        tool: row.tool,
      });
    }
  }
  return marked;
}

/** A read is not admitted, so no lease tells whether its process lives; none takes this long. */
const LONGEST_READ_MS = 60 * 60_000;

/** Approved reads whose process died on the way: they changed nothing, so they only have to be asked for again. */
export async function closeLostReads({ database, now }: RecoveryPorts): Promise<number> {
  const outcome = {
    status: 'failed',
    code: 'internal',
    message: 'The process ended before the read was done. Nothing was changed; ask again.',
  };
  const before = uuidFloor(now().getTime() - LONGEST_READ_MS);
  const { numUpdatedRows } = await database.db
    .updateTable('approvals')
    .set((eb) => ({ state: 'failed', outcome: JSON.stringify(outcome), version: eb('version', '+', 1) }))
    .where('state', '=', 'executing')
    .where('effect', '=', 'read')
    .where('call_id', '<', before)
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

/** Lets each tool look at the far side and settles what it can. */
export async function reconcileAll(ports: RecoveryPorts): Promise<{ settled: number; open: number }> {
  const rows = await ports.database.db
    .selectFrom('calls')
    .selectAll()
    .where('status', '=', 'indeterminate')
    .execute();
  let settled = 0;
  for (const row of rows) {
    const settlement = await look(row, ports);
    if (settlement.settled === 'unknown') continue;
    if (await settleCall(ports, row.call_id, settlement, { kind: 'system', id: 'reconcile' })) settled += 1;
  }
  return { settled, open: rows.length - settled };
}

async function look(row: CallRow, { database, resolve, log }: RecoveryPorts): Promise<Settlement> {
  const bound = await resolve(row.tool);
  if (!bound?.tool.reconcile) return { settled: 'unknown', why: 'the tool cannot look' };
  const payload = await database.db
    .selectFrom('audit_payloads')
    .select('body')
    .where('call_id', '=', row.call_id)
    .where('kind', '=', 'args')
    .executeTakeFirst();
  if (!payload?.body) return { settled: 'unknown', why: 'its arguments were erased' };
  try {
    return await bound.tool.reconcile(JSON.parse(payload.body) as JsonObject, {
      services: await bound.services(),
      callId: row.call_id,
      startedAt: new Date(row.started_at),
      signal: AbortSignal.timeout(RECONCILE_MS),
    });
  } catch (error) {
    log.warn('Reconciling an interrupted call did not work', { call: row.call_id, tool: row.tool, error });
    return { settled: 'unknown', why: 'looking failed' };
  }
}

/** Settles an indeterminate call, by reconcile or by a person; false when somebody else was first. */
export async function settleCall(
  { database, now }: RecoveryPorts,
  callId: string,
  settlement: Exclude<Settlement, { settled: 'unknown' }>,
  by: Principal,
): Promise<boolean> {
  const at = now().toISOString();
  const happened = settlement.settled === 'done';
  const data: JsonValue = happened ? settlement.data : null;
  return database.write(async (trx) => {
    const parts = happened ? 0 : await doneParts(trx, callId);
    const outcome =
      settlement.settled === 'done'
        ? { status: 'ok', data, notes: {}, settled: true }
        : { status: 'failed', code: 'indeterminate', message: notDone(parts, settlement) };
    const usedUp = settlement.settled === 'done' || (parts > 0 && !settlement.resumes);
    const row = await trx
      .updateTable('calls')
      .set({ status: happened ? 'ok' : 'failed', finished_at: at })
      .where('call_id', '=', callId)
      .where('status', '=', 'indeterminate')
      .returningAll()
      .executeTakeFirst();
    if (!row) return false;
    await setApproval(trx, callId, 'indeterminate', happened ? 'done' : 'failed', JSON.stringify(outcome));
    const permits = usedUp ? [] : await returnPermit(trx, callId);
    const key = trx
      .updateTable('idempotency')
      .where('call_id', '=', callId)
      .where('state', '=', 'indeterminate');
    if (happened) await key.set({ state: 'ok', outcome: JSON.stringify(outcome) }).execute();
    else
      await trx
        .deleteFrom('idempotency')
        .where('call_id', '=', callId)
        .where('state', '=', 'indeterminate')
        .execute();
    const entry = prepareEntry({
      ...entryBase(row),
      kind: 'settled',
      at,
      status: happened ? 'ok' : 'failed',
      principal: principalName(by),
      ...(settlement.settled === 'not_done' && settlement.left ? { extra: { left: settlement.left } } : {}),
    });
    const returned = permits.map((permit) => returnedEntry(permit, callId, at));
    await appendEntries(trx, database.engine, [entry, ...returned]);
    return true;
  });
}

/** Calls made on the way that changed something, or may have. */
async function doneParts(trx: Transaction<Tables>, callId: string): Promise<number> {
  const row = await trx
    .selectFrom('calls')
    .select((eb) => eb.fn.countAll<number>().as('parts'))
    .where('parent_id', '=', callId)
    .where('status', 'in', ['ok', 'indeterminate'])
    .where('effect', 'in', ['change', 'destroy'])
    // Parts start after the whole, so their ids lie behind its own.
    .where('call_id', '>', callId)
    .executeTakeFirstOrThrow();
  return Number(row.parts);
}

function notDone(parts: number, { left, resumes }: Extract<Settlement, { settled: 'not_done' }>): string {
  if (parts > 0 && resumes)
    return `It was settled: the call did not finish, but ${parts} of its parts happened or may have. Sent again, the same call makes only what is missing.`;
  if (parts > 0)
    return `It was settled: the call did not finish, but ${parts} of its parts happened or may have. Look at them before you send it again.`;
  return left === undefined
    ? 'It was settled: the change did not happen.'
    : `It was settled: the change was not finished. ${left}`;
}

/** Runs what a person approved and a dying process never started; the queue's compare-and-set keeps it single. */
export async function resumeApproved(
  { database, now, log }: RecoveryPorts,
  executor: ApprovalExecutor,
): Promise<number> {
  const before = new Date(now().getTime() - ABANDONED_MS).toISOString();
  const rows = await database.db
    .selectFrom('approvals')
    .selectAll()
    .where('state', '=', 'approved')
    .where('kind', '=', 'call')
    .where('decided_at', '<', before)
    .execute();
  let resumed = 0;
  for (const row of rows) {
    log.info('Running a call that was approved but not run', { approval: row.id, tool: row.tool });
    try {
      await executor.execute(toApproval(row));
      resumed += 1;
    } catch (error) {
      // One that cannot run must not keep the others waiting.
      log.warn('An approved call could not be run', { approval: row.id, tool: row.tool, error });
    }
  }
  return resumed;
}

async function setApproval(
  trx: Transaction<Tables>,
  callId: string,
  from: string,
  to: string,
  outcome: string | undefined,
): Promise<void> {
  await trx
    .updateTable('approvals')
    .set((eb) => ({
      state: to,
      version: eb('version', '+', 1),
      ...(outcome === undefined ? {} : { outcome }),
    }))
    .where('call_id', '=', callId)
    .where('state', '=', from)
    .execute();
}

/** A permit is for one exact call; when that proved not to have happened, it is still to be had. */
async function returnPermit(trx: Transaction<Tables>, callId: string): Promise<Approval[]> {
  const rows = await trx
    .updateTable('approvals')
    .set((eb) => ({ state: 'approved', call_id: null, version: eb('version', '+', 1) }))
    .where('call_id', '=', callId)
    .where('kind', '=', 'permit')
    .where('state', '=', 'failed')
    .returningAll()
    .execute();
  return rows.map(toApproval);
}

/** A process that exists is believed for a good while, even when it stopped renewing: it may only be held up. */
const HELD_UP_MS = 10 * 60_000;

function isDead(row: CallRow, now: Date): boolean {
  const silentMs = row.lease_until === null ? 0 : now.getTime() - Date.parse(row.lease_until);
  if (row.holder_host !== hostname() || row.holder_pid === null) return silentMs > 0;
  if (row.holder_pid === process.pid) return false;
  return !exists(row.holder_pid) || silentMs > HELD_UP_MS;
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

const entryBase = (row: CallRow) => ({
  call: row.call_id,
  run: row.run_id ?? undefined,
  tool: row.tool,
  toolkit: row.toolkit,
  effect: row.effect,
  principal: row.principal,
  digest: row.digest,
});

import { hostname } from 'node:os';
import type { Selectable, Transaction } from 'kysely';
import type { JsonObject, JsonValue } from '../contract/json.ts';
import type { Settlement } from '../contract/outcome.ts';
import type { LeasePort } from '../contract/ports.ts';
import { type Principal, principalName } from '../contract/principal.ts';
import { uuidFloor } from '../lib/random.ts';
import { HAND_OVER_MS } from './approvals/hand-over.ts';
import { toApproval } from './approvals/row.ts';
import type { ApprovalExecutor } from './approvals/service.ts';
import { closeLostReads as closeReads, loseUse, settleUse } from './approvals/use.ts';
import { prepareEntry } from './log/entry.ts';
import { answerHash, argsSalt } from './log/rows/key-row.ts';
import { writeWithEvidence } from './log/write.ts';
import type { Ports } from './ports.ts';
import type { CallsTable, Tables } from './store/tables.ts';

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
    const at = now();
    const entry = prepareEntry({
      ...entryBase(row),
      kind: 'outcome',
      at: at.toISOString(),
      status: 'indeterminate',
      code: 'indeterminate',
      extra: { interrupted: true },
    });
    const done = await writeWithEvidence(database, async (write) => {
      const { trx } = write;
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
      await loseUse(write, row.call_id, at);
      await trx
        .updateTable('idempotency')
        .set({ state: 'indeterminate' })
        .where('call_id', '=', row.call_id)
        .where('state', '=', 'running')
        .execute();
      write.append(entry);
      return true;
    });
    if (done) {
      marked += 1;
      log.warn('A change was interrupted; its outcome is not yet known', {
        call: row.call_id,
        tool: row.tool,
      });
    }
  }
  return marked;
}

/** A read is not admitted, so no lease shows whether its process lives; none takes this long. */
const LONGEST_READ_MS = 60 * 60_000;

/** Approved reads whose process died on the way: they changed nothing, so they only have to be asked for again. */
export async function closeLostReads({ database, now }: RecoveryPorts): Promise<number> {
  const at = now();
  const before = uuidFloor(at.getTime() - LONGEST_READ_MS);
  return writeWithEvidence(database, (write) => closeReads(write, before, at));
}

/** Lets each tool read its remote service and settles what it can. */
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

/** The same for one call, when an equal one comes in; true when it is settled now. */
export async function reconcileCall(ports: RecoveryPorts, callId: string): Promise<boolean> {
  const row = await ports.database.db
    .selectFrom('calls')
    .selectAll()
    .where('call_id', '=', callId)
    .where('status', '=', 'indeterminate')
    .executeTakeFirst();
  const settlement = row && (await look(row, ports));
  if (!settlement || settlement.settled === 'unknown') return false;
  return settleCall(ports, callId, settlement, { kind: 'system', id: 'reconcile' });
}

async function look(row: CallRow, { database, resolve, log }: RecoveryPorts): Promise<Settlement> {
  const bound = await resolve(row.tool);
  if (!bound?.tool.reconcile) return { settled: 'unknown', why: 'the tool does not support reconciliation' };
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
    log.warn('Could not reconcile an interrupted call', { call: row.call_id, tool: row.tool, error });
    return { settled: 'unknown', why: 'reconciliation failed' };
  }
}

/** Settles an indeterminate call, by reconcile or by a person; false when another process was first. */
export async function settleCall(
  { database, now }: RecoveryPorts,
  callId: string,
  settlement: Exclude<Settlement, { settled: 'unknown' }>,
  by: Principal,
): Promise<boolean> {
  const at = now();
  const happened = settlement.settled === 'done';
  const data: JsonValue = happened ? settlement.data : null;
  return writeWithEvidence(database, async (write) => {
    const { trx } = write;
    const parts = happened ? 0 : await doneParts(trx, callId);
    const outcome: JsonObject =
      settlement.settled === 'done'
        ? { status: 'ok', data, notes: {}, settled: true }
        : { status: 'failed', code: 'indeterminate', message: notDone(parts, settlement) };
    const usedUp = settlement.settled === 'done' || (parts > 0 && !settlement.resumes);
    const row = await trx
      .updateTable('calls')
      .set({ status: happened ? 'ok' : 'failed', finished_at: at.toISOString() })
      .where('call_id', '=', callId)
      .where('status', '=', 'indeterminate')
      .returningAll()
      .executeTakeFirst();
    if (!row) return false;
    const answer = JSON.stringify(outcome);
    const salt = await argsSalt(trx, callId);
    const key = trx
      .updateTable('idempotency')
      .where('call_id', '=', callId)
      .where('state', '=', 'indeterminate');
    if (happened) await key.set({ state: 'ok', outcome: answer }).execute();
    else
      await trx
        .deleteFrom('idempotency')
        .where('call_id', '=', callId)
        .where('state', '=', 'indeterminate')
        .execute();
    write.append(
      prepareEntry({
        ...entryBase(row),
        kind: 'settled',
        at: at.toISOString(),
        status: happened ? 'ok' : 'failed',
        principal: principalName(by),
        extra: settledExtra(settlement, salt, answer),
      }),
    );
    await settleUse(write, callId, { happened, usedUp, outcome }, at);
    return true;
  });
}

/** What its key answers and its approval stores from now on, as far as there is a salt to bind it by. */
function settledExtra(settlement: Settlement, salt: string, answer: string): JsonObject | undefined {
  const left = settlement.settled === 'not_done' ? settlement.left : undefined;
  const extra: JsonObject = {
    ...(left ? { left } : {}),
    ...(salt === '' ? {} : { outcome_hash: answerHash(salt, answer) }),
  };
  return Object.keys(extra).length > 0 ? extra : undefined;
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
    return `Settled: the call did not finish, but ${parts} of its parts happened or may have happened. Sending the same call again completes only the missing parts.`;
  if (parts > 0)
    return `Settled: the call did not finish, but ${parts} of its parts happened or may have happened. Check them before you send it again.`;
  return left === undefined
    ? 'Settled: the change did not happen.'
    : `Settled: the change was not finished. ${left}`;
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

/** Left alone so long, an approved call belongs to no process that decides; one that decides here runs it immediately. */
const OWN_MS = 1_000;

/** Runs what people approved in processes that cannot: of all that serve the toolkit, one takes each. */
export async function runHandedOver(
  { database, now, log }: RecoveryPorts,
  executor: ApprovalExecutor,
  leases: LeasePort,
  toolkit: string,
): Promise<void> {
  const before = (ms: number): string => new Date(now().getTime() - ms).toISOString();
  const rows = await database.db
    .selectFrom('approvals')
    .selectAll()
    .where('state', '=', 'approved')
    .where('kind', '=', 'call')
    .where('toolkit', '=', toolkit)
    .where('decided_at', '<', before(OWN_MS))
    .where('decided_at', '>', before(HAND_OVER_MS))
    .execute();
  for (const row of rows) {
    if (!(await leases.acquire(`approval:${row.id}`, HAND_OVER_MS))) continue;
    try {
      await executor.execute(toApproval(row));
    } catch (error) {
      log.warn('An approved call could not be run', { approval: row.id, tool: row.tool, error });
    }
  }
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

import { setTimeout as sleep } from 'node:timers/promises';
import { type ErrorCode, ToolError } from '../../contract/errors.ts';
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import type { Outcome } from '../../contract/outcome.ts';
import type { Approval, Decided } from '../../contract/ports.ts';

const POLL_MS = 200;
/** A process that serves the tool looks every second. What it has not taken by now, no process takes. */
export const HAND_OVER_MS = 10_000;
/** Longer than calls run; the inbox shows what becomes of it. */
const LONGEST_MS = 15 * 60_000;

interface HandOverPorts {
  find(id: number): Promise<Approval>;
  /** Makes it pending again, if it is still as it was read. */
  reopen(approval: Approval): Promise<Approval>;
  now(): Date;
}

/**
 * Waits for the process that serves an approved call to run it. An approval that none takes is pending again: it must
 * not run some day when such a process comes back.
 */
export async function handOver(approval: Approval, { find, reopen, now }: HandOverPorts): Promise<Decided> {
  const since = approval.decidedAt?.getTime() ?? now().getTime();
  for (;;) {
    const current = await find(approval.id);
    const waited = now().getTime() - since;
    if (current.state === 'approved' && waited >= HAND_OVER_MS) {
      await reopen(current);
      throw notServed(current);
    }
    if (current.state !== 'approved' && current.state !== 'executing')
      return { approval: current, outcome: readOutcome(current) };
    if (waited >= LONGEST_MS) return { approval: current, outcome: undefined };
    await sleep(POLL_MS);
  }
}

const notServed = ({ id, toolkit }: Approval): ToolError =>
  new ToolError(
    'server_unavailable',
    `No client that wraps ${toolkit} is running, or clients wrap different programs under that name. Approval ${id} is still pending: start one client, or give each program its own name, then approve it.`,
    { detail: { id, server: toolkit }, effect: 'none' },
  );

/** What the other process wrote down of its outcome. */
function readOutcome({ state, outcome }: Approval): Outcome | undefined {
  if (typeof outcome !== 'object' || outcome === null || Array.isArray(outcome)) return undefined;
  const { status, code, message, data } = outcome as JsonObject & { data?: JsonValue };
  if (state === 'done') return { status: 'ok', data: data ?? null, notes: {}, replayed: false };
  // The code is one that a tool error of this program had.
  const fault = new ToolError(String(code ?? 'internal') as ErrorCode, String(message ?? ''));
  if (status === 'refused') return { status, fault, rule: 'unknown' };
  return status === 'indeterminate' ? { status, fault } : { status: 'failed', fault };
}

import { isChange } from '../../contract/effect.ts';
import { ToolFault } from '../../contract/faults.ts';
import type { Outcome } from '../../contract/outcome.ts';
import type { CallState, Step } from '../call.ts';
import { createContext } from '../context.ts';
import { Deadline } from '../deadline.ts';
import type { Ports } from '../ports.ts';

/** Time a reconcile may take right after a failure, while the caller still waits. */
const RECONCILE_MS = 10_000;

/** Runs the tool's function under a deadline. A change that failed in an unknown place is looked up, never repeated. */
export const runHandler =
  (ports: Ports): Step =>
  async (call) => {
    const { bound, signal: cancelled } = call.request;
    const { tool } = bound;
    const deadlineMs = tool.deadlineMs ?? ports.limits.deadlineMs;
    const deadline = new Deadline(deadlineMs, cancelled);
    try {
      const services = await bound.services();
      deadline.throwIfPassed();
      const data = await tool.run(call.args, createContext(call, services, ports, deadline));
      return {
        status: 'ok',
        data: data ?? null,
        notes: call.notes,
        replayed: false,
        content: call.attachments,
      };
    } catch (error) {
      const fault = asFault(error, call, ports, deadline, deadlineMs);
      if (!isChange(tool.effect) || fault.effect !== 'unknown')
        return { status: 'failed', fault, notes: call.notes };
      return settle(call, fault, ports);
    } finally {
      deadline.close();
    }
  };

function asFault(
  error: unknown,
  call: CallState,
  { log }: Ports,
  deadline: Deadline,
  deadlineMs: number,
): ToolFault {
  if (error instanceof ToolFault) return error;
  const { name } = call.request.bound.tool;
  if (deadline.passed) {
    const late = call.request.signal?.aborted !== true;
    const message = late
      ? `${name} did not finish within ${Math.round(deadlineMs / 1000)} s.`
      : `${name} was cancelled by the caller.`;
    return new ToolFault(late ? 'timeout' : 'cancelled', message, { cause: error, effect: 'unknown' });
  }
  log.error('A tool failed unexpectedly', { call: call.id, tool: name, error });
  return new ToolFault('internal', `${name} failed inside the server (call ${call.id}).`, {
    cause: error,
    effect: 'unknown',
  });
}

/** Asks the far side at once whether the effect happened, so that most failures need no person. */
async function settle(call: CallState, fault: ToolFault, ports: Ports): Promise<Outcome> {
  const { tool, services } = call.request.bound;
  if (tool.reconcile) {
    try {
      const context = {
        services: await services(),
        callId: call.id,
        startedAt: call.startedAt,
        signal: AbortSignal.timeout(RECONCILE_MS),
      };
      const settlement = await tool.reconcile(call.args, context);
      if (settlement.settled === 'done')
        return { status: 'ok', data: settlement.data, notes: call.notes, replayed: false };
      if (settlement.settled === 'not_done')
        return { status: 'failed', fault: nowCertain(fault, settlement.left), notes: call.notes };
    } catch (error) {
      ports.log.warn('Reconciling a failed call did not work', { call: call.id, tool: tool.name, error });
    }
  }
  return {
    status: 'indeterminate',
    fault: new ToolFault(
      'indeterminate',
      `${fault.message} It is not known whether the change happened (call ${call.id}); do not repeat it.`,
      {
        cause: fault,
        detail: { call_id: call.id, cause: fault.code },
      },
    ),
    notes: call.notes,
  };
}

/** What was in doubt no longer is: the caller may send it again wherever that makes sense for this fault. */
function nowCertain(
  { code, message, detail, resetAt, cause }: ToolFault,
  left: string | undefined,
): ToolFault {
  const looked = left === undefined ? 'it did not happen.' : `it was not finished. ${left}`;
  const said = message.replace(/\.?$/, `; a look at the far side showed that ${looked}`);
  return new ToolFault(code, said, { detail, resetAt, cause, effect: 'none' });
}

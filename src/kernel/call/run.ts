import { performance } from 'node:perf_hooks';
import { ToolError } from '../../contract/errors.ts';
import type { Outcome } from '../../contract/outcome.ts';
import { principalName } from '../../contract/principal.ts';
import { type CallApproval, isChange, type ToolContext } from '../../contract/tool.ts';
import { describeDatabaseError } from '../../lib/database-error.ts';
import type { Ports } from '../ports.ts';
import type { CallState, Step } from './call.ts';
import { tracedMeta } from './tracing.ts';

/** What a handler is given for this call. */
export const createContext = (
  call: CallState,
  services: unknown,
  ports: Ports,
  deadline?: Deadline,
): ToolContext<unknown> => new CallContext(call, services, ports, deadline);

/** Most handlers use few of these, so each is made when it is asked for; handlers take them out of the object. */
class CallContext implements ToolContext<unknown> {
  readonly services: unknown;
  readonly #call: CallState;
  readonly #ports: Ports;
  readonly #deadline: Deadline | undefined;

  constructor(call: CallState, services: unknown, ports: Ports, deadline: Deadline | undefined) {
    this.services = services;
    this.#call = call;
    this.#ports = ports;
    this.#deadline = deadline;
  }

  get callId() {
    return this.#call.id;
  }

  get principal() {
    return this.#call.request.principal;
  }

  get connection() {
    const { connection, principal, client } = this.#call.request;
    return connection ?? `${principalName(principal)} ${client ?? ''}`;
  }

  get decider() {
    return this.#call.decider;
  }

  get shown() {
    return this.#call.shown;
  }

  get isPrepared() {
    return this.#call.isPrepared;
  }

  get approval() {
    return approvalOf(this.#call);
  }

  get meta() {
    return tracedMeta(this.#call);
  }

  get ask() {
    return this.#call.request.ask;
  }

  get task() {
    return this.#call.request.task;
  }

  get log() {
    return this.#call.request.onLog;
  }

  get signal() {
    return this.#deadline?.signal ?? this.#call.request.signal ?? new AbortController().signal;
  }

  get now() {
    return this.#ports.now;
  }

  get progress(): ToolContext<unknown>['progress'] {
    const { onProgress } = this.#call.request;
    return (message, done = 0, total) => onProgress?.({ message, done, total });
  }

  get artifact(): ToolContext<unknown>['artifact'] {
    const [call, ports] = [this.#call, this.#ports];
    return async (name, mediaType, body) => {
      const ref = await ports.artifacts.write(name, mediaType, body);
      call.artifacts.push(ref);
      return ref;
    };
  }

  get evidence(): ToolContext<unknown>['evidence'] {
    const call = this.#call;
    return (facts) => {
      call.evidence = { ...call.evidence, ...facts };
    };
  }

  get note(): ToolContext<unknown>['note'] {
    const call = this.#call;
    return (notes) => {
      call.notes = { ...call.notes, ...notes };
    };
  }

  get attach(): ToolContext<unknown>['attach'] {
    const { attachments } = this.#call;
    return (part) => void attachments.push(part);
  }

  get call(): ToolContext<unknown>['call'] {
    const [call, ports] = [this.#call, this.#ports];
    return (name, args, options) => callPart(call, ports, this.#deadline, name, args, options);
  }
}

/** Runs another tool of the same toolkit as part of this call. */
async function callPart(
  call: CallState,
  ports: Ports,
  deadline: Deadline | undefined,
  ...[name, args, options]: Parameters<ToolContext<unknown>['call']>
): Promise<Outcome> {
  const { request } = call;
  const bound = await ports.resolve(name);
  if (!bound || bound.toolkit.id !== request.bound.toolkit.id) {
    throw new ToolError(
      'internal',
      `${request.bound.tool.name} tried to call ${name}, which is not a tool of its toolkit.`,
    );
  }
  const result = await ports.invoke({
    bound,
    args,
    principal: request.principal,
    transport: request.transport,
    client: request.client,
    connection: request.connection,
    signal: deadline?.signal ?? request.signal,
    idempotencyKey: options?.idempotencyKey,
    ask: options?.ask,
    reason: request.reason,
    parent: call,
  });
  const { status } = result.outcome;
  if (isChange(bound.tool.effect) && (status === 'ok' || status === 'indeterminate')) call.partDone = true;
  return result.outcome;
}

function approvalOf({ grant }: CallState): CallApproval | undefined {
  if (!grant) return undefined;
  const { id, uuid, digest, decidedBy: approver, binding } = grant;
  // The digest that was compared covers the binding, so it is what `bind` answered for this very call.
  return { id, uuid, digest, approver, binding };
}

/**
 * How long a call may take, together with its caller's wish to stop. Most handlers never look: the signal, its timer and
 * its listener are made for the first that does.
 */
export class Deadline {
  readonly #ms: number;
  readonly #cancelled: AbortSignal | undefined;
  readonly #started = performance.now();
  #controller: AbortController | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number, cancelled?: AbortSignal) {
    this.#ms = ms;
    this.#cancelled = cancelled;
  }

  get signal(): AbortSignal {
    if (this.#controller) return this.#controller.signal;
    const controller = new AbortController();
    this.#controller = controller;
    if (this.passed) controller.abort(this.#reason());
    else {
      this.#timer = setTimeout(this.#stop, this.#ms - (performance.now() - this.#started)).unref();
      this.#cancelled?.addEventListener('abort', this.#stop, { once: true });
    }
    return controller.signal;
  }

  /** Whether the caller gave up or the time is over. */
  get passed(): boolean {
    return (
      this.#controller?.signal.aborted === true ||
      this.#cancelled?.aborted === true ||
      performance.now() - this.#started >= this.#ms
    );
  }

  throwIfPassed(): void {
    if (this.passed) throw this.#reason();
  }

  /** To be called when the work is over; the signal stays as it is. */
  close(): void {
    clearTimeout(this.#timer);
    if (this.#controller) this.#cancelled?.removeEventListener('abort', this.#stop);
  }

  readonly #stop = (): void => this.#controller?.abort(this.#reason());

  #reason(): unknown {
    if (this.#cancelled?.aborted) return this.#cancelled.reason;
    return new DOMException(`The deadline of ${this.#ms} ms passed.`, 'TimeoutError');
  }
}

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
      // Work that outlives its caller is begun also when the caller has left by now: it decides what that means.
      if (!tool.outlivesCaller) deadline.throwIfPassed();
      const data = await tool.run(call.args, createContext(call, services, ports, deadline));
      return {
        status: 'ok',
        data: data ?? null,
        notes: call.notes,
        replayed: false,
        content: call.attachments,
      };
    } catch (error) {
      const fault = asError(error, call, ports, deadline, deadlineMs);
      if (!isChange(tool.effect) || fault.effect !== 'unknown')
        return { status: 'failed', fault, data: fault.result, notes: call.notes };
      return settle(call, fault, ports);
    } finally {
      deadline.close();
    }
  };

function asError(
  error: unknown,
  call: CallState,
  { log }: Ports,
  deadline: Deadline,
  deadlineMs: number,
): ToolError {
  if (error instanceof ToolError) return error;
  const { name } = call.request.bound.tool;
  if (deadline.passed) {
    const late = call.request.signal?.aborted !== true;
    const message = late
      ? `${name} did not finish within ${Math.round(deadlineMs / 1000)} s.`
      : `The client cancelled ${name}.`;
    return new ToolError(late ? 'timeout' : 'cancelled', message, { cause: error, effect: 'unknown' });
  }
  log.error('A tool failed unexpectedly', { call: call.id, tool: name, error });
  const problem = describeDatabaseError(error);
  if (problem !== undefined)
    return new ToolError('db_error', `${name} did not finish. ${problem}`, {
      cause: error,
      effect: 'unknown',
    });
  return new ToolError('internal', `${name} failed with an internal error (call ${call.id}).`, {
    cause: error,
    effect: 'unknown',
  });
}

/** Asks the remote service immediately whether the effect happened, so that most failures need no person. */
async function settle(call: CallState, fault: ToolError, ports: Ports): Promise<Outcome> {
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
        return { status: 'failed', fault: toReconciledError(fault, settlement.left), notes: call.notes };
    } catch (error) {
      ports.log.warn('Could not reconcile a failed call', { call: call.id, tool: tool.name, error });
    }
  }
  return {
    status: 'indeterminate',
    fault: new ToolError(
      'indeterminate',
      `${fault.message} Outcome unknown: the change may have happened (call ${call.id}). Do not retry.`,
      {
        cause: fault,
        detail: { ...fault.detail, call_id: call.id, cause: fault.code },
      },
    ),
    notes: call.notes,
  };
}

/** What was in doubt no longer is: the caller may send it again wherever that makes sense for this fault. */
function toReconciledError(error: ToolError, left: string | undefined): ToolError {
  const { message, detail, resetAt, cause } = error;
  const looked = left === undefined ? 'it did not happen.' : `it was not finished. ${left}`;
  const said = message.replace(/\.?$/, `. Reconciliation found that ${looked}`);
  return error.reworded(said, { detail, resetAt, cause, effect: 'none' });
}

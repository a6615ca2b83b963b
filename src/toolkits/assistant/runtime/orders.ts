import { ToolError } from '../../../contract/errors.ts';
import { type Principal, principalName } from '../../../contract/principal.ts';
import { AssistantError } from '../errors.ts';
import type { Run, Runs } from '../sessions/runs.ts';
import { generateKey, type Session } from '../sessions/sessions.ts';
import { type Answer, answerSchema } from './answer.ts';
import { asksToStop, errorFromJson } from './failures.ts';
import { carryOut, Stopped, type StopReason, type WorkEnd, type WorkerParts } from './worker.ts';

export interface Order {
  readonly message: string;
  readonly sessionKey: string | undefined;
  readonly principal: Principal;
  readonly callId: string;
  readonly signal: AbortSignal;
  progress(message: string): void;
  /** Receives the session's key before anything can fail, so that a failed order can be continued too. */
  onKey?(key: string): void;
}

export interface Delivery {
  readonly answer: Answer;
  readonly session: Session;
  /** What this one caller should know besides the answer. */
  readonly notices: readonly string[];
  /** When the answer was made, if that was for an earlier call whose caller had gone. */
  readonly storedAt: string | undefined;
}

interface Active {
  readonly run: Run;
  readonly stop: (why: StopReason) => void;
  readonly listeners: Set<(doing: string) => void>;
  readonly end: Promise<WorkEnd>;
  doing: string;
}

interface OrdersParts extends WorkerParts {
  /** How long closing waits for work that is about to end. */
  readonly finishMs: number;
  readonly runs: Runs;
  now(): Date;
}

const HOUR_MS = 3_600_000;
/** How often the row of an order that another process works on is looked at. */
const WATCH_MS = 250;
/** A waiting client gets progress at least this often, so it does not time out. */
const HEARTBEAT_MS = 10_000;

/** Takes orders, follows them for their callers, and lets them go on without one. */
export class Orders {
  readonly #parts: OrdersParts;
  readonly #active = new Map<string, Active>();
  readonly #renewal: NodeJS.Timeout;
  #entering: Promise<unknown> = Promise.resolve();

  constructor(parts: OrdersParts) {
    this.#parts = parts;
    this.#renewal = setInterval(() => void this.#renew(), parts.runs.leaseMs / 4).unref();
  }

  async place(order: Order): Promise<Delivery> {
    const { sessions, runs, config, backend, now, log } = this.#parts;
    const key = order.sessionKey ?? generateKey(now());
    order.onKey?.(key);
    await backend.check();
    if (order.sessionKey === undefined) {
      order.progress(`Session ${key}. If this call times out, send the same message with this sessionKey.`);
    }
    const since = new Date(now().getTime() - config.keep_answers_hours * HOUR_MS);
    const { session, ...followed } = await this.#inOrder(async () => {
      const session = await sessions.open(principalName(order.principal), key);
      await runs.releaseDead();
      const prior = await runs.prior(session.id, order.message, since);
      const taken = prior && (await this.#resume(prior, order));
      return { session, ...(taken ?? (await this.#begin(session, order))) };
    });
    const about = { call: order.callId, session: session.id, message_chars: order.message.length };
    // Neither key nor text: both are private. The session's id finds them in the store.
    log.debug('Order received', { ...about, from: principalName(order.principal) });
    const answer = await this.#settle(followed.run, followed.end, order).catch((error: unknown) => {
      log.debug('Order failed', { ...about, code: error instanceof ToolError ? error.code : 'internal' });
      throw error;
    });
    const { model, steps, inputTokens, outputTokens } = answer;
    const used = { model, steps, input_tokens: inputTokens, output_tokens: outputTokens };
    log.debug('Order answered', { ...about, ...used, answer_chars: answer.text.length });
    return {
      answer,
      session,
      storedAt: followed.storedAt,
      notices: [...followed.notices, ...(await this.#untoldNotices(session.id))],
    };
  }

  /** For `countersign up`: continues with what processes that died had promised to finish. */
  async takeOver(): Promise<number> {
    const { runs, transcript, backend } = this.#parts;
    let taken = 0;
    await runs.releaseDead();
    for (const run of await runs.orphans()) {
      // Its lease ran out while the machine slept; the work is still here.
      if (this.#active.has(run.id)) continue;
      const mayGoOn = run.detached === 1 && (backend.resumable || run.started === 0);
      if (!mayGoOn) {
        await transcript.interrupt(run);
      } else if (await runs.adopt(run.id)) {
        this.#start(run, run.started === 1);
        taken += 1;
      }
    }
    return taken;
  }

  /** Stops work that does not end soon; it stays open in the store, for another process to take over or to report. */
  async close(): Promise<void> {
    clearInterval(this.#renewal);
    const active = [...this.#active.values()];
    // Stored first: if this process is killed while it waits, another continues what is left.
    await Promise.all(active.map(({ run }) => this.#parts.runs.detach(run.id)));
    const ended = Promise.all(active.map(({ end }) => end));
    const late = setTimeout(() => {
      for (const { stop } of active) stop('closing');
    }, this.#parts.finishMs);
    await ended;
    clearTimeout(late);
    await this.#parts.runs.release();
  }

  /** Orders of this process enter the queue in the order they came, whichever connection of a pool is faster. */
  #inOrder<T>(enter: () => Promise<T>): Promise<T> {
    const result = this.#entering.then(enter);
    this.#entering = result.catch(() => {});
    return result;
  }

  async #begin(session: Session, order: Order) {
    const run = await this.#parts.runs.enqueue(session.id, order.callId, order.message);
    return { run, end: this.#start(run, false).end, notices: [] as string[], storedAt: undefined };
  }

  /** The same message again after a time-out or a crash: its answer, its work, or a new start that says so. */
  async #resume(prior: Run, order: Order) {
    const { runs, backend, transcript } = this.#parts;
    const sentAt = prior.created_at;
    if (prior.state === 'interrupted') return this.#restart(prior, order);
    if (prior.state === 'done' || prior.state === 'failed') {
      if (!(await runs.deliver(prior.id))) return undefined;
      const at = prior.finished_at ?? sentAt;
      const notices = [`This is the answer to the same message sent at ${sentAt}, stored since ${at}.`];
      return { run: prior, end: this.#watch(prior, order), notices, storedAt: at };
    }
    if (this.#active.has(prior.id) || prior.lease_until >= this.#parts.now().toISOString()) {
      const notices = [`This order was already being worked on since ${sentAt}.`];
      const end = this.#active.get(prior.id)?.end ?? this.#watch(prior, order);
      return { run: prior, end, notices, storedAt: undefined };
    }
    if (!backend.resumable && prior.started === 1) {
      await transcript.interrupt(prior);
      return this.#restart(prior, order);
    }
    if (!(await runs.adopt(prior.id))) return undefined;
    const notices = [`This order was interrupted after ${sentAt} and has been resumed.`];
    return { run: prior, end: this.#start(prior, prior.started === 1).end, notices, storedAt: undefined };
  }

  async #restart(prior: Run, order: Order) {
    const { runs } = this.#parts;
    await runs.deliver(prior.id);
    await runs.markTold(prior.id);
    const run = await runs.enqueue(prior.session_id, order.callId, order.message);
    const notices = [
      `The same message sent at ${prior.created_at} was interrupted; it has been started again.`,
    ];
    return { run, end: this.#start(run, false).end, notices, storedAt: undefined };
  }

  #start(run: Run, resume: boolean): Active {
    const stopper = new AbortController();
    const listeners: Active['listeners'] = new Set();
    const report = (doing: string) => {
      if (active.doing === doing) return;
      active.doing = doing;
      for (const tell of listeners) tell(doing);
      void this.#parts.runs.setDoing(run, doing).catch(() => {});
    };
    const active: Active = {
      run,
      listeners,
      doing: '',
      stop: (why) => stopper.abort(new Stopped(why)),
      end: Promise.resolve().then(async () => {
        try {
          return await carryOut({ run, resume, signal: stopper.signal, report }, this.#parts);
        } finally {
          this.#active.delete(run.id);
        }
      }),
    };
    this.#active.set(run.id, active);
    return active;
  }

  /** Waits for the ending and hands it over; when the caller goes away, stops the work or lets it go on alone. */
  async #settle(run: Run, end: Promise<WorkEnd>, order: Order): Promise<Answer> {
    const stopTelling = this.#tell(run.id, order);
    // A watch that the caller's leaving cut short must not surface as an unhandled rejection.
    end.catch(() => {});
    try {
      const ended = await Promise.race([end, aborted(order.signal)]);
      if (ended === ABORTED) return await this.#callerLeft(run, order.signal.reason);
      return await this.#handOver(run, ended);
    } finally {
      stopTelling();
    }
  }

  async #handOver(run: Run, end: WorkEnd): Promise<Answer> {
    if (end.state === 'lost') return this.#handOverLost(run);
    await this.#parts.runs.deliver(run.id);
    if (end.state === 'done') return end.answer;
    throw end.fault;
  }

  async #handOverLost(run: Run): Promise<never> {
    const now = await this.#parts.runs.get(run.id);
    if (now?.state === 'cancelled')
      throw new ToolError('cancelled', 'The order was cancelled by another call.');
    throw new AssistantError(
      'assistant_error',
      'The work on this message was interrupted: its process is shutting down. Send the same message with the same sessionKey to resume it.',
    );
  }

  async #callerLeft(run: Run, reason: unknown): Promise<never> {
    const { runs, transcript } = this.#parts;
    if (!asksToStop(reason)) {
      await runs.detach(run.id);
      throw new ToolError(
        'timeout',
        'The client stopped waiting; the work continues. Send the same message with the same sessionKey to get the answer.',
        { retryable: true, cause: reason },
      );
    }
    const active = this.#active.get(run.id);
    if (active) {
      active.stop('cancelled');
      const end = await active.end;
      await runs.deliver(run.id);
      if (end.state === 'failed' || end.state === 'cancelled') throw end.fault;
    } else {
      await transcript.cancel(run);
      await runs.deliver(run.id);
    }
    throw new ToolError('cancelled', 'The order was cancelled and its work stopped.', { cause: reason });
  }

  /** An order that another process works on, or that has ended: looks at its row until it has an ending. */
  async #watch(run: Run, order: Order): Promise<WorkEnd> {
    for (;;) {
      await this.#parts.runs.releaseDead();
      const row = await this.#parts.runs.get(run.id);
      if (!row) return { state: 'lost' };
      if (row.state === 'done')
        return { state: 'done', answer: answerSchema.parse(JSON.parse(row.answer ?? '{}')) };
      if (row.state === 'failed' || row.state === 'cancelled') {
        return { state: row.state, fault: errorFromJson(row.fault) };
      }
      if (row.state === 'interrupted') return { state: 'lost' };
      if (row.lease_until < this.#parts.now().toISOString()) {
        const mayGoOn = this.#parts.backend.resumable && (await this.#parts.runs.adopt(run.id));
        return mayGoOn ? this.#start(row, row.started === 1).end : { state: 'lost' };
      }
      if (row.doing) order.progress(row.doing);
      await this.#parts.turns.pause(run.session_id, WATCH_MS, order.signal);
      order.signal.throwIfAborted();
    }
  }

  #tell(runId: string, order: Order): () => void {
    const active = this.#active.get(runId);
    const started = this.#parts.now().getTime();
    const tell = (doing: string) => order.progress(doing);
    active?.listeners.add(tell);
    if (active?.doing) tell(active.doing);
    const beat = setInterval(() => {
      const seconds = Math.round((this.#parts.now().getTime() - started) / 1000);
      order.progress(`${active?.doing || 'Working'} (${seconds} s)`);
    }, HEARTBEAT_MS).unref();
    return () => {
      clearInterval(beat);
      active?.listeners.delete(tell);
    };
  }

  async #untoldNotices(sessionId: string): Promise<string[]> {
    const untold = await this.#parts.runs.untold(sessionId);
    return untold.map(
      (run) =>
        `An earlier message of this session, sent at ${run.created_at}, was interrupted before it was answered. Send it again to have it answered.`,
    );
  }

  async #renew(): Promise<void> {
    if (this.#active.size === 0) return;
    // Taken before the renewal: an order that begins during it is not among the renewed and not lost either.
    const active = [...this.#active.values()];
    try {
      const held = await this.#parts.runs.renew();
      for (const { run, stop } of active) if (!held.has(run.id)) stop('lost');
    } catch (error) {
      this.#parts.log.warn('The assistant could not renew the leases of its orders.', {
        error: String(error),
      });
    }
  }
}

const ABORTED = Symbol('aborted');

function aborted(signal: AbortSignal): Promise<typeof ABORTED> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(ABORTED);
    else signal.addEventListener('abort', () => resolve(ABORTED), { once: true });
  });
}

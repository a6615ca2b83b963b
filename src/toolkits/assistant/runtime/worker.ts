import { ToolError } from '../../../contract/errors.ts';
import type { ArtifactsPort, Log } from '../../../contract/ports.ts';
import { timeLimit } from '../../../lib/time-limit.ts';
import type { Backend } from '../backends/backend.ts';
import type { AssistantConfig } from '../config.ts';
import { AssistantError } from '../errors.ts';
import type { Run } from '../sessions/runs.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { LostRun, type Transcript } from '../sessions/transcript.ts';
import type { Turns } from '../sessions/turns.ts';
import { type Answer, makeAnswer } from './answer.ts';
import { errorToJson } from './failures.ts';
import { Meter } from './meter.ts';

export type WorkEnd =
  | { readonly state: 'done'; readonly answer: Answer }
  | { readonly state: 'failed' | 'cancelled'; readonly fault: ToolError }
  /** Another process closed it or took it over. */
  | { readonly state: 'lost' };

/** Why work is stopped from within this process. */
export type StopReason = 'cancelled' | 'lost' | 'closing';

export class Stopped extends Error {
  readonly why: StopReason;

  constructor(why: StopReason) {
    super(`The order was stopped: ${why}.`);
    this.name = 'Stopped';
    this.why = why;
  }
}

export interface WorkerParts {
  readonly config: AssistantConfig;
  readonly backend: Backend;
  readonly sessions: Sessions;
  readonly transcript: Transcript;
  readonly turns: Turns;
  readonly slots: Slots;
  readonly artifacts: ArtifactsPort;
  readonly log: Log;
}

export interface Work {
  readonly run: Run;
  readonly resume: boolean;
  /** Aborted with a `Stopped`. */
  readonly signal: AbortSignal;
  report(doing: string): void;
}

/** Carries one order from its place in the queue to an ending in the store. Never throws. */
export async function carryOut(work: Work, parts: WorkerParts): Promise<WorkEnd> {
  const meter = new Meter(parts.config);
  const { run } = work;
  try {
    await parts.turns.wait(run, {
      signal: work.signal,
      timeoutMs: parts.config.queue_timeout_seconds * 1000,
      onWait: (ahead) => work.report(`Waiting for ${ahead} earlier message(s) of this session`),
    });
    const answer = await parts.slots.use(work.signal, () => answerRun(work, meter, parts));
    await parts.transcript.close(run, { state: 'done', answer });
    await addTotals(run, meter, parts, false);
    return { state: 'done', answer };
  } catch (error) {
    return endWith(error, work, meter, parts);
  } finally {
    parts.turns.ended(run.session_id);
  }
}

async function answerRun(work: Work, meter: Meter, parts: WorkerParts): Promise<Answer> {
  // Read now: what an earlier order of the session left behind counts.
  const session = await parts.sessions.get(work.run.session_id);
  if (!session) throw new LostRun();
  const limit = timeLimit(parts.config.timeout_seconds * 1000, work.signal);
  const { signal } = limit;
  try {
    const { run, resume, report } = work;
    const reply = await parts.backend.run({ session, run, resume, signal, meter, report });
    return await makeAnswer(reply, meter, parts.artifacts);
  } catch (error) {
    if (!limit.expired || work.signal.aborted) throw error;
    const seconds = parts.config.timeout_seconds;
    throw new ToolError(
      'timeout',
      `The order was not finished after ${seconds} s and was stopped. ${unknownEffects(parts.backend)}Request less, or raise [assistant] timeout_seconds.`,
      { cause: error, ...effectOf(parts.backend) },
    );
  } finally {
    limit.clear();
  }
}

async function endWith(error: unknown, work: Work, meter: Meter, parts: WorkerParts): Promise<WorkEnd> {
  const reason: unknown = work.signal.reason;
  const why = reason instanceof Stopped ? reason.why : undefined;
  // A process that goes away leaves its orders open: another may take them over, or finds them interrupted.
  if (error instanceof LostRun || why === 'lost' || why === 'closing') return { state: 'lost' };
  const state = why === 'cancelled' ? 'cancelled' : 'failed';
  const fault = state === 'cancelled' ? cancelledError(parts.backend) : toError(error, parts.log);
  const note =
    state === 'cancelled'
      ? 'The client cancelled the work on this message.'
      : `The work on this message failed before it was answered (${fault.code}).`;
  try {
    await parts.transcript.close(work.run, { state, fault: errorToJson(fault) }, note);
    await addTotals(work.run, meter, parts, true);
  } catch (closing) {
    if (closing instanceof LostRun) return { state: 'lost' };
    parts.log.error('An order of the assistant ended, but its ending could not be stored.', {
      error: String(closing),
    });
  }
  return { state, fault };
}

function addTotals(run: Run, meter: Meter, parts: WorkerParts, aborted: boolean): Promise<void> {
  return parts.sessions.addTurn(run.session_id, {
    model: meter.model,
    inputTokens: meter.inputTokens,
    outputTokens: meter.outputTokens,
    contextTokens: meter.contextTokens,
    windowTokens: parts.backend.windowTokens,
    costUsd: meter.costUsd,
    aborted,
  });
}

const cancelledError = (backend: Backend): ToolError =>
  new ToolError(
    'cancelled',
    `The order was cancelled and its work stopped. ${unknownEffects(backend)}`.trimEnd(),
    effectOf(backend),
  );

/** A command acts outside of the pipeline, so it is unknown here what it did and whether repeating is safe. */
const effectOf = ({ resumable }: Backend) =>
  resumable ? ({ effect: 'none' } as const) : ({ effect: 'partial', retryable: false } as const);

const unknownEffects = ({ resumable }: Backend): string =>
  resumable ? '' : 'What the command did until then is unknown. ';

function toError(error: unknown, log: Log): ToolError {
  if (error instanceof ToolError) return error;
  log.error('The assistant failed.', {
    error: error instanceof Error ? (error.stack ?? error.message) : String(error),
  });
  return new AssistantError('assistant_error', 'The assistant failed. See the server log.', { cause: error });
}

/** A limited number in parallel in this process; the others wait in the order they came. */
export class Slots {
  #free: number;
  readonly #waiting: Array<() => void> = [];

  constructor(count: number) {
    this.#free = count;
  }

  async use<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#take(signal);
    try {
      return await work();
    } finally {
      this.#give();
    }
  }

  async #take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const leave = () => {
        const at = this.#waiting.indexOf(go);
        if (at >= 0) this.#waiting.splice(at, 1);
        reject(signal.reason);
      };
      const go = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      this.#waiting.push(go);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  #give(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free += 1;
  }
}

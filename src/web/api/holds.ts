import { randomUUID } from 'node:crypto';
import { ToolError } from '../../contract/errors.ts';
import type { Outcome } from '../../contract/outcome.ts';
import type { Approval, ApprovalsPort, ApproveOptions, Log } from '../../contract/ports.ts';
import { type Principal, principalName, samePrincipal } from '../../contract/principal.ts';
import type { DecisionResult, HeldItem, HoldView } from '../../kernel/views/shapes.ts';
import { toRefusal } from './approval-json.ts';
import { presentOutcome } from './body.ts';

export interface HoldPorts {
  readonly approvals: Pick<ApprovalsPort, 'approve'>;
  /** 0: nothing is held. */
  readonly seconds: number;
  readonly log: Log;
  now(): Date;
  /** Notifies open pages that the holds have changed. */
  publish(): Promise<unknown>;
}

/** What is approved when the hold ends: exactly this version of the item. */
export interface ToHold extends HeldItem, Pick<ApproveOptions, 'note' | 'prepare'> {}

interface Hold {
  readonly key: string;
  readonly person: Principal;
  readonly items: readonly ToHold[];
  readonly until: Date;
  timer: NodeJS.Timeout | undefined;
  state: HoldView['state'];
  results: readonly DecisionResult[];
  /** Its only run, from the moment it begins. */
  run: Promise<void> | undefined;
}

/** Long enough for a page that lost its connection for a moment to learn the result. */
const RESULT_MS = 60_000;
const MAX_ENDED = 200;

/**
 * Approved calls that wait a few seconds before they are decided and run, so a person can call them off. Nothing is
 * stored: until it runs, a held approval is pending for everyone, and a server that stops runs nothing.
 */
export class Holds {
  readonly #ports: HoldPorts;
  /** In the order in which they began, those that have ended included. */
  readonly #holds = new Map<string, Hold>();
  /** Of each item that waits or runs. */
  readonly #byItem = new Map<number, Hold>();
  readonly #work = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(ports: HoldPorts) {
    this.#ports = ports;
  }

  get seconds(): number {
    return this.#ports.seconds;
  }

  /** Holds together what is not on hold yet. */
  start(person: Principal, items: readonly ToHold[]): void {
    const added = items.filter(({ id, version }) => !this.#find(id, version));
    if (added.length === 0) return;
    if (this.#isClosed)
      throw new ToolError('cancelled', 'The server is stopping. What was to be held is still pending.');
    const ms = this.seconds * 1000;
    const hold: Hold = {
      key: randomUUID(),
      person,
      items: added,
      until: new Date(this.#ports.now().getTime() + ms),
      timer: undefined,
      state: 'held',
      results: [],
      run: undefined,
    };
    hold.timer = setTimeout(() => void this.#runOnce(hold), ms).unref();
    this.#holds.set(hold.key, hold);
    for (const { id } of added) this.#byItem.set(id, hold);
    this.#publish();
  }

  /** Who holds this version of an approval, and until when. */
  of({ id, version }: Approval): { readonly by: string; readonly until: Date } | undefined {
    const hold = this.#find(id, version);
    return hold && { by: principalName(hold.person), until: hold.until };
  }

  /** The person's own hold on this version of an approval. Another person's is a decision already made. */
  ownOf(person: Principal, { id, version }: Pick<Approval, 'id' | 'version'>): HoldView | undefined {
    const hold = this.#find(id, version);
    if (!hold || samePrincipal(hold.person, person)) return hold && this.#show(hold);
    throw new ToolError(
      'approval_state',
      `${principalName(hold.person)} has approved ${id}; it runs in a few seconds.`,
      { detail: { id, state: 'pending' } },
    );
  }

  /** The person's holds, with those that have just ended. */
  list(person: Principal): HoldView[] {
    const own = [...this.#holds.values()].filter((hold) => samePrincipal(hold.person, person));
    return own.map((hold) => this.#show(hold));
  }

  callOff(person: Principal, key: string): HoldView {
    const hold = this.#own(person, key);
    if (hold.state === 'held') this.#end(hold, 'called_off');
    if (hold.state !== 'called_off')
      throw new ToolError('approval_state', 'It is already running and can no longer be called off.');
    return this.#show(hold);
  }

  /** Does not wait for the rest of the time; answers with the results. */
  async runNow(person: Principal, key: string): Promise<HoldView> {
    const hold = this.#own(person, key);
    if (hold.state === 'called_off')
      throw new ToolError('approval_state', 'It was called off and is still pending. Approve it again.');
    await this.#runOnce(hold);
    return this.#show(hold);
  }

  /** Drops what waits, and resolves when what already runs has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const hold of this.#holds.values()) {
      clearTimeout(hold.timer);
      if (hold.state === 'held') this.#forget(hold);
    }
    while (this.#work.size > 0) await Promise.allSettled(this.#work);
  }

  #find(id: number, version: number): Hold | undefined {
    const hold = this.#byItem.get(id);
    // One that was edited since is not what is held; the end of that hold says so.
    return hold?.items.some((item) => item.id === id && item.version === version) ? hold : undefined;
  }

  #own(person: Principal, key: string): Hold {
    const hold = this.#holds.get(key);
    if (!hold || !samePrincipal(hold.person, person))
      throw new ToolError('not_found', 'This hold has ended or does not exist.');
    return hold;
  }

  /** The timer and "run now" may come together: the state changes before anything is awaited, so one of them runs it. */
  #runOnce(hold: Hold): Promise<void> {
    if (hold.state === 'held') {
      hold.state = 'running';
      clearTimeout(hold.timer);
      hold.run = this.#track(this.#run(hold));
    }
    return hold.run ?? Promise.resolve();
  }

  async #run(hold: Hold): Promise<void> {
    this.#publish();
    const results: DecisionResult[] = [];
    // One after the other; what is wrong with one is its own result.
    for (const item of hold.items) results.push(await this.#approve(hold.person, item));
    hold.results = results;
    this.#end(hold, 'ran');
  }

  async #approve(person: Principal, { id, version, note, prepare }: ToHold): Promise<DecisionResult> {
    try {
      const options = { version, note, prepare };
      const { approval, outcome } = await this.#ports.approvals.approve(id, person, options);
      return { id, state: approval.state, result: outcome ? briefly(outcome) : null };
    } catch (error) {
      if (error instanceof ToolError) return toRefusal(id, error);
      this.#ports.log.error('A held call failed', { approval: id, error });
      return toRefusal(id, new ToolError('internal', 'Internal error. Details are in the server log.'));
    }
  }

  #end(hold: Hold, state: 'ran' | 'called_off'): void {
    clearTimeout(hold.timer);
    hold.state = state;
    for (const { id } of hold.items) if (this.#byItem.get(id) === hold) this.#byItem.delete(id);
    hold.timer = setTimeout(() => this.#forget(hold), RESULT_MS).unref();
    const ended = [...this.#holds.values()].filter(({ state }) => isEnded(state));
    for (const one of ended.slice(0, -MAX_ENDED)) this.#forget(one);
    this.#publish();
  }

  #forget(hold: Hold): void {
    clearTimeout(hold.timer);
    this.#holds.delete(hold.key);
    for (const { id } of hold.items) if (this.#byItem.get(id) === hold) this.#byItem.delete(id);
  }

  #show({ key, state, items, until, results }: Hold): HoldView {
    return {
      key,
      state,
      until: until.toISOString(),
      // The clock of the browser may be wrong.
      left_ms: state === 'held' ? Math.max(0, until.getTime() - this.#ports.now().getTime()) : 0,
      items: items.map(({ id, version, title, done }) => ({ id, version, title, done })),
      hold_ms: this.seconds * 1000,
      results,
    };
  }

  #publish(): void {
    void this.#track(
      this.#ports.publish().catch((error: unknown) => {
        this.#ports.log.warn('Open pages were not notified of a hold', { error });
      }),
    );
  }

  #track<T>(work: Promise<T>): Promise<T> {
    this.#work.add(work);
    void work.finally(() => this.#work.delete(work));
    return work;
  }
}

const isEnded = (state: HoldView['state']): boolean => state === 'ran' || state === 'called_off';

/** Data of any size is in the approval; here it would only take memory. */
function briefly(outcome: Outcome): DecisionResult['result'] {
  const { message, hint } = presentOutcome(outcome);
  return { message, hint };
}

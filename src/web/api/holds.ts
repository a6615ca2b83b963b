import { randomUUID } from 'node:crypto';
import { ToolError } from '../../contract/errors.ts';
import type { Outcome } from '../../contract/outcome.ts';
import type { Approval, ApprovalsPort, ApproveOptions, Log } from '../../contract/ports.ts';
import { type Principal, principalName, samePrincipal } from '../../contract/principal.ts';
import { type HoldBoard, type PostedHold, RESULT_MS } from '../../kernel/views/hold-board.ts';
import type { DecisionResult, HeldItem, HoldView } from '../../kernel/views/shapes.ts';
import { toRefusal } from './approval-json.ts';
import { presentOutcome } from './body.ts';

export interface HoldPorts {
  readonly approvals: Pick<ApprovalsPort, 'approve'>;
  /** 0: nothing is held. */
  readonly seconds: number;
  readonly log: Log;
  now(): Date;
  /** Shows the holds of this server to others on the same database, and theirs here. */
  readonly board: HoldBoard;
  /** Notifies open pages that the holds have changed. */
  publish(): Promise<unknown>;
}

/** Who has approved an item that is on hold, and when it runs. */
interface HeldBy {
  readonly by: string;
  readonly until: Date;
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
  /** Once other servers see it. */
  posted: Promise<void>;
}

const MAX_ENDED = 200;

/**
 * Approved calls that wait a few seconds before they are decided and run, so a person can call them off. Until it runs,
 * a held approval is pending for everyone, and a server that stops runs nothing. Other servers on the same database show
 * a hold and call it off; what runs is what this server remembers, never what a row says.
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
  async start(person: Principal, items: readonly ToHold[]): Promise<void> {
    const others = await this.#others();
    const added = items.filter((item) => !this.#find(item.id, item.version) && !findItem(others, item));
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
      posted: Promise.resolve(),
    };
    hold.timer = setTimeout(() => void this.#runOnce(hold), ms).unref();
    this.#holds.set(hold.key, hold);
    for (const { id } of added) this.#byItem.set(id, hold);
    hold.posted = this.#ports.board.post(person, this.#show(hold));
    try {
      await hold.posted;
    } catch (error) {
      this.#forget(hold);
      throw error;
    }
    this.#publish();
  }

  /** Who holds this version of an approval, and until when. */
  async of({ id, version }: Pick<Approval, 'id' | 'version'>): Promise<HeldBy | undefined> {
    const hold = this.#find(id, version);
    if (hold) return { by: principalName(hold.person), until: hold.until };
    const other = findItem(await this.#others(), { id, version });
    return other && { by: other.person, until: new Date(other.view.until) };
  }

  /** The person's own hold on this version of an approval. Another person's is a decision already made. */
  async ownOf(
    person: Principal,
    { id, version }: Pick<Approval, 'id' | 'version'>,
  ): Promise<HoldView | undefined> {
    const hold = this.#find(id, version);
    const other = hold ? undefined : findItem(await this.#others(), { id, version });
    const holder = hold ? principalName(hold.person) : other?.person;
    if (holder === undefined || holder === principalName(person))
      return hold ? this.#show(hold) : other?.view;
    throw new ToolError('approval_state', `${holder} has approved ${id}; it runs in a few seconds.`, {
      detail: { id, state: 'pending' },
    });
  }

  /** The person's holds, with those that have just ended. */
  async list(person: Principal): Promise<HoldView[]> {
    const own = [...this.#holds.values()].filter((hold) => samePrincipal(hold.person, person));
    const others = (await this.#others()).filter((one) => one.person === principalName(person));
    return [...own.map((hold) => this.#show(hold)), ...others.map(({ view }) => view)];
  }

  async callOff(person: Principal, key: string): Promise<HoldView> {
    const hold = this.#own(person, key);
    const view = hold ? this.#show(hold) : await this.#other(person, key);
    if (view.state === 'held') {
      const off = { ...view, state: 'called_off', left_ms: 0 } as const;
      await hold?.posted;
      if (await this.#ports.board.leave('held', off)) {
        if (hold) this.#end(hold, 'called_off');
        else this.#publish();
        return off;
      }
    }
    const now = hold ? hold.state : (await this.#other(person, key)).state;
    if (now !== 'called_off')
      throw new ToolError('approval_state', 'It is already running and can no longer be called off.');
    return { ...view, state: now, left_ms: 0 };
  }

  /** Does not wait for the rest of the time; answers with the results. The hold of another server runs when it is due. */
  async runNow(person: Principal, key: string): Promise<HoldView> {
    const hold = this.#own(person, key);
    const { state } = hold ?? (await this.#other(person, key));
    if (state === 'called_off')
      throw new ToolError('approval_state', 'It was called off and is still pending. Approve it again.');
    if (!hold) return this.#other(person, key);
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

  #own(person: Principal, key: string): Hold | undefined {
    const hold = this.#holds.get(key);
    return hold && samePrincipal(hold.person, person) ? hold : undefined;
  }

  /** What other servers hold. */
  async #others(): Promise<readonly PostedHold[]> {
    return (await this.#ports.board.list()).filter(({ view }) => !this.#holds.has(view.key));
  }

  async #other(person: Principal, key: string): Promise<HoldView> {
    const other = (await this.#others()).find(({ view }) => view.key === key);
    if (other?.person !== principalName(person))
      throw new ToolError('not_found', 'This hold has ended or does not exist.');
    return other.view;
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
    // Not where it was called off on another server, nor where that cannot be known.
    if (!(await this.#leave('held', hold))) {
      this.#end(hold, 'called_off');
      return;
    }
    this.#publish();
    const results: DecisionResult[] = [];
    // One after the other; what is wrong with one is its own result.
    for (const item of hold.items) results.push(await this.#approve(hold.person, item));
    hold.results = results;
    this.#end(hold, 'ran');
    await this.#leave('running', hold);
    this.#publish();
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

  async #leave(from: HoldView['state'], hold: Hold): Promise<boolean> {
    try {
      await hold.posted;
      return await this.#ports.board.leave(from, this.#show(hold));
    } catch (error) {
      this.#ports.log.error('The state of a hold could not be stored', { error });
      return false;
    }
  }

  #end(hold: Hold, state: 'ran' | 'called_off'): void {
    clearTimeout(hold.timer);
    hold.state = state;
    for (const { id } of hold.items) if (this.#byItem.get(id) === hold) this.#byItem.delete(id);
    hold.timer = setTimeout(() => this.#forget(hold), RESULT_MS).unref();
    const ended = [...this.#holds.values()].filter(({ state }) => isEnded(state));
    for (const one of ended.slice(0, -MAX_ENDED)) this.#forget(one);
    if (state === 'called_off') this.#publish();
  }

  #forget(hold: Hold): void {
    clearTimeout(hold.timer);
    this.#holds.delete(hold.key);
    void this.#track(hold.posted.then(() => this.#ports.board.remove(hold.key)).catch(() => {}));
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

const findItem = (
  holds: readonly PostedHold[],
  { id, version }: Pick<HeldItem, 'id' | 'version'>,
): PostedHold | undefined =>
  holds.find(
    ({ view }) =>
      !isEnded(view.state) && view.items.some((item) => item.id === id && item.version === version),
  );

const isEnded = (state: HoldView['state']): boolean => state === 'ran' || state === 'called_off';

/** Data of any size is in the approval; here it would only take memory. */
function briefly(outcome: Outcome): DecisionResult['result'] {
  const { message, hint } = presentOutcome(outcome);
  return { message, hint };
}

import type { Entry } from '../entry.ts';
import { ApprovalHistoryCheck } from './approval-history.ts';
import type { Problems } from './report.ts';
import { StandingHistoryCheck } from './standing.ts';

interface OpenIntent {
  readonly seq: number;
  readonly digest: string | undefined;
  readonly tool: string | undefined;
  readonly approval: string | undefined;
  /** False for a part that runs under the approval of the whole. */
  readonly usesApproval: boolean;
}

/**
 * Whether the entries describe a possible history: no outcome without an intent, no change that policy refused, no approval
 * used twice. Remembers only what is unfinished, so that it stays small however long the log is.
 */
export class CallHistoryCheck {
  readonly #problems: Problems;
  readonly #approvals: ApprovalHistoryCheck;
  readonly #standing = new StandingHistoryCheck();
  readonly #open = new Map<string, OpenIntent>();
  /** Calls of unknown outcome, with the approval they used. */
  readonly #unsettled = new Map<string, string | undefined>();
  #calls = 0;

  constructor(problems: Problems) {
    this.#problems = problems;
    this.#approvals = new ApprovalHistoryCheck(problems);
  }

  /** How many calls the entries are about, if each begins and ends only once. */
  get calls(): number {
    return this.#calls;
  }

  /** Reads that stand alone: each is a call of its own and nothing more. */
  skip(calls: number): void {
    this.#calls += calls;
  }

  get openIntents(): number {
    return this.#open.size;
  }

  take(seq: number, entry: Entry): void {
    const outside = this.#standing.take(seq, entry);
    if (outside !== undefined) this.#wrong(seq, outside);
    if (entry.call !== undefined && entry.kind !== 'outcome' && entry.kind !== 'settled') this.#calls += 1;
    switch (entry.kind) {
      case 'config':
      case 'checkpoint-key':
      case 'erasure':
      case 'passkey':
      case 'signature':
        break;
      case 'intent':
        this.#intent(seq, entry);
        break;
      case 'outcome':
        this.#outcome(seq, entry);
        break;
      case 'read':
      case 'call':
        this.#call(seq, entry);
        break;
      case 'refusal':
      case 'routed':
      case 'dry_run':
        this.#notRun(seq, entry);
        break;
      case 'settled':
        this.#settled(seq, entry);
        break;
      case 'approval':
        this.#approvals.decided(seq, entry);
        break;
      case 'edit':
        this.#approvals.edited(seq, entry);
        break;
      default:
        entry.kind satisfies never;
    }
  }

  #intent(seq: number, entry: Entry): void {
    const { call = '', decision, approval } = entry;
    if (this.#open.has(call)) this.#wrong(seq, `begins call ${call} a second time`);
    if (decision === 'deny' || decision === 'dry_run') {
      this.#wrong(seq, `begins call ${call} although policy said ${decision}`);
    }
    const parent = entry.parent === undefined ? undefined : this.#open.get(entry.parent);
    // What a person approved may be done in steps: the parts run under the approval of the whole.
    const usesApproval = approval !== undefined && parent?.approval !== approval.uuid;
    if (approval) {
      if (usesApproval) this.#approvals.used(seq, entry, approval);
    } else if (decision === 'ask' && entry.parent === undefined && entry.extra?.standing === undefined) {
      this.#wrong(seq, `begins call ${call} without the approval that policy required`);
    }
    this.#open.set(call, {
      seq,
      digest: entry.digest,
      tool: entry.tool,
      approval: approval?.uuid,
      usesApproval,
    });
  }

  #outcome(seq: number, { call = '', digest, tool, status }: Entry): void {
    const intent = this.#open.get(call);
    if (!intent) {
      this.#wrong(seq, `is an outcome of call ${call}, which has no open intent before it`);
      return;
    }
    if (intent.digest !== digest || intent.tool !== tool) {
      this.#wrong(seq, `ends call ${call}, but entry ${intent.seq} began a different call`);
    }
    this.#open.delete(call);
    const approval = intent.usesApproval ? intent.approval : undefined;
    if (status === 'indeterminate') this.#unsettled.set(call, approval);
    else this.#ended(seq, call, approval, status);
  }

  /** Finished without an intent: a read, or a change that did not begin and so used no approval. */
  #call(seq: number, entry: Entry): void {
    const { call = '', effect, status, decision, approval, parent, replayOf } = entry;
    const done = status === 'ok';
    if (effect === 'change' || effect === 'destroy') {
      if (done && replayOf === undefined)
        this.#wrong(seq, `says call ${call} made a change, but no intent was written first`);
      return;
    }
    if (approval) this.#approvals.usedByRead(seq, entry, approval);
    else if (done && decision === 'ask' && parent === undefined) {
      this.#wrong(seq, `answers call ${call} without the approval that policy required`);
    }
    if (done && (decision === 'deny' || decision === 'dry_run'))
      this.#wrong(seq, `answers call ${call} although policy said ${decision}`);
  }

  #notRun(seq: number, { kind, call = '', status }: Entry): void {
    if (status === 'ok') this.#wrong(seq, `is a ${kind} of call ${call} that claims to have succeeded`);
    if (this.#open.delete(call)) this.#wrong(seq, `is a ${kind} of call ${call}, which had already begun`);
  }

  #settled(seq: number, { call = '', status }: Entry): void {
    const open = this.#open.get(call);
    const approval = open?.usesApproval ? open.approval : this.#unsettled.get(call);
    const known = this.#open.delete(call) || this.#unsettled.has(call);
    if (!known) this.#wrong(seq, `settles call ${call}, which was not indeterminate`);
    this.#ended(seq, call, approval, status);
  }

  #ended(seq: number, call: string, approval: string | undefined, status: string | undefined): void {
    if (approval !== undefined) this.#approvals.ended(seq, approval, call, status === 'failed');
  }

  #wrong(seq: number, what: string): void {
    this.#problems.add('story', seq, `Entry ${seq} ${what}.`);
  }
}

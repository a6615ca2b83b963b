import type { ApprovalKind, ApprovalState } from '../../../contract/ports.ts';
import { isAllowed, type TransitionName } from '../../approvals/transitions.ts';
import type { Entry, EntryApproval } from '../entry.ts';
import type { Problems } from './report.ts';

interface LiveApproval {
  digest: string;
  readonly tool: string | undefined;
  readonly requester: string | undefined;
  readonly permit: boolean;
  approver: string | undefined;
  /** As far as the log knows: a read has no entry before it ends. */
  state: ApprovalState;
}

/** Who moves approvals without a decision. */
const KERNEL = 'system:kernel';

/**
 * The life of each approval: asked, perhaps edited, decided once, used once, by the call it was given for. Which move may
 * follow which is read from the table that the moves themselves are made by.
 */
export class ApprovalHistoryCheck {
  readonly #problems: Problems;
  readonly #live = new Map<string, LiveApproval>();
  /** Grows with people's decisions, not with the log. */
  readonly #closed = new Set<string>();
  /** Approvals whose call has begun, until it is known how it ended. */
  readonly #used = new Map<string, { readonly live: LiveApproval; failed: boolean }>();
  /** Calls that were taken for not done and gave their approval back. */
  readonly #gaveBack = new Set<string>();

  /** Reads that were taken for dead, by approval: one that was alive after all still writes its entry. */
  readonly #lost = new Map<string, string>();

  constructor(problems: Problems) {
    this.#problems = problems;
  }

  decided(seq: number, entry: Entry): void {
    const { approval } = entry;
    if (!approval) return;
    const { uuid } = approval;
    const state = entry.status ?? entry.decision;
    if (state === 'returned') {
      this.#returned(seq, entry, uuid);
      return;
    }
    if (entry.code === 'approval_invalid') {
      // The row contradicted the log and was closed; what the log says of it is not in question.
      this.#close(uuid);
      return;
    }
    const known = this.#live.get(uuid);
    const name = moveOf(entry, state, known);
    if (!name) return;
    if (this.#closed.has(uuid)) {
      if (name !== 'answer' && name !== 'lose')
        this.#wrong(seq, `decides about approval ${uuid}, which was already closed`);
      return;
    }
    // Logs of earlier versions lack some moves, so one about an unknown approval opens it.
    // A read that was lost had begun without an entry.
    const from = name === 'lose' && known?.state === 'approved' ? 'executing' : known?.state;
    if (known && !isAllowed(name, from, state as ApprovalState, kindOf(known)))
      this.#wrong(seq, refusalOf(name, uuid, known.state));
    if (name === 'ask') this.#live.set(uuid, opened(entry, approval));
    else if (name === 'reopen' && known) {
      known.state = 'pending';
      known.approver = undefined;
    } else if (name === 'approve') this.#approved(seq, entry, approval, known);
    else {
      if (name === 'lose' && typeof entry.extra?.call === 'string') this.#lost.set(uuid, entry.extra.call);
      this.#close(uuid);
    }
  }

  #approved(seq: number, entry: Entry, approval: EntryApproval, known: LiveApproval | undefined): void {
    const { uuid, digest, approver } = approval;
    const live = known ?? opened(entry, approval);
    if (live.digest !== digest)
      this.#wrong(seq, `approves ${uuid} for a different call from the one requested`);
    live.state = 'approved';
    live.approver = approver;
    if (isSelf(approver, live.requester)) {
      this.#wrong(seq, `lets ${approver} approve its own call (${uuid})`);
    }
    this.#live.set(uuid, live);
  }

  edited(seq: number, { approval }: Entry): void {
    if (!approval) return;
    const live = this.#live.get(approval.uuid);
    if (
      this.#closed.has(approval.uuid) ||
      (live && !isAllowed('edit', live.state, 'pending', kindOf(live)))
    ) {
      this.#wrong(seq, `edits approval ${approval.uuid} after it was decided`);
    }
    if (live) live.digest = approval.digest;
  }

  /** A read has no intent: its one entry both uses the approval and says how it went. */
  usedByRead(seq: number, entry: Entry, approval: EntryApproval): void {
    const { uuid } = approval;
    const { parent, tool, call = '', status } = entry;
    if (this.#lost.get(uuid) === call) {
      this.#lost.delete(uuid);
      return;
    }
    const live = this.#live.get(uuid);
    // A part is written down before the whole it belongs to has ended, so its approval is still held. It is another tool's: a
    // call of the very tool that was approved used the approval itself, no matter who made it.
    const held = this.#used.get(uuid)?.live ?? (live?.state === 'approved' ? live : undefined);
    if (parent !== undefined && held && held.tool !== tool) return;
    this.used(seq, entry, approval);
    this.ended(seq, uuid, call, status === 'failed');
  }

  /** A call that runs under an approval of its own. */
  used(seq: number, { kind, call, digest, principal }: Entry, approval: EntryApproval): void {
    const { uuid } = approval;
    const live = this.#live.get(uuid);
    const begins = kind === 'intent' ? 'begins' : 'answers';
    if (!live || !isAllowed('begin', live.state, 'executing', kindOf(live))) {
      const why = this.#closed.has(uuid) ? 'was already used or refused' : 'no one had approved';
      this.#wrong(seq, `${begins} call ${call} under approval ${uuid}, which ${why}`);
      return;
    }
    if (live.digest !== approval.digest || (!live.permit && digest !== approval.digest)) {
      this.#wrong(seq, `${begins} call ${call} with different arguments from those approved by ${uuid}`);
    }
    if (approval.approver !== live.approver) {
      this.#wrong(seq, `names ${approval.approver} as approver of ${uuid}, but ${live.approver} approved it`);
    }
    if (isSelf(live.approver, principal)) {
      this.#wrong(seq, `${begins} call ${call}, which ${principal} approved for itself`);
    }
    this.#close(uuid);
    this.#used.set(uuid, { live, failed: false });
  }

  /** How the call that used it ended. */
  ended(seq: number, uuid: string, call: string, failed: boolean): void {
    if (this.#gaveBack.has(call) && !failed) {
      if (!this.#live.has(uuid))
        this.#wrong(seq, `says call ${call} was done after all, but another call used its approval ${uuid}`);
      this.#close(uuid);
      return;
    }
    const used = this.#used.get(uuid);
    if (used && failed) used.failed = true;
    else this.#used.delete(uuid);
  }

  /** Only what did nothing gives its approval back: a permit to its holder, any other to the person. */
  #returned(seq: number, { extra }: Entry, uuid: string): void {
    const used = this.#used.get(uuid);
    if (!used?.failed) {
      this.#wrong(seq, `makes approval ${uuid} usable again, although no call under it failed`);
      return;
    }
    const { live } = used;
    if (typeof extra?.call === 'string') this.#gaveBack.add(extra.call);
    this.#closed.delete(uuid);
    this.#used.delete(uuid);
    this.#live.set(uuid, live.permit ? live : { ...live, state: 'pending', approver: undefined });
  }

  #close(uuid: string): void {
    this.#live.delete(uuid);
    this.#closed.add(uuid);
  }

  #wrong(seq: number, what: string): void {
    this.#problems.add('story', seq, `Entry ${seq} ${what}.`);
  }
}

const opened = (entry: Entry, approval: EntryApproval): LiveApproval => ({
  digest: approval.digest,
  tool: entry.tool,
  requester: approval.requester ?? (entry.status === 'pending' ? entry.principal : undefined),
  permit: approval.permit === true || entry.rule === 'permit',
  approver: undefined,
  state: 'pending',
});

const kindOf = ({ permit }: LiveApproval): ApprovalKind => (permit ? 'permit' : 'call');

/** Which move an entry is about. */
function moveOf(
  { principal, extra }: Entry,
  state: string | undefined,
  known: LiveApproval | undefined,
): TransitionName | undefined {
  switch (state) {
    case 'pending':
      return known?.state === 'approved' && principal === KERNEL ? 'reopen' : 'ask';
    case 'approved':
      return 'approve';
    case 'rejected':
      return 'reject';
    case 'expired':
      return 'expire';
    case 'withdrawn':
      return 'withdraw';
    case 'done':
      return 'answer';
    case 'failed':
      // Only a lost read names its call.
      return extra?.call === undefined ? 'answer' : 'lose';
    default:
      return undefined;
  }
}

function refusalOf(name: TransitionName, uuid: string, from: ApprovalState): string {
  if (name === 'ask') return `asks for approval ${uuid} a second time`;
  if (name === 'approve') return `approves ${uuid} a second time`;
  return `closes approval ${uuid}, which is ${from}, in a way that is not possible from there`;
}

/** A person may decide about what they asked for themselves; an agent may not. */
const isSelf = (approver: string | undefined, requester: string | undefined): boolean =>
  approver !== undefined && approver === requester && !approver.startsWith('person:');

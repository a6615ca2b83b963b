import type { Entry, EntryApproval } from '../entry.ts';
import type { Problems } from './report.ts';

interface LiveApproval {
  digest: string;
  readonly tool: string | undefined;
  readonly requester: string | undefined;
  readonly permit: boolean;
  approver: string | undefined;
  approved: boolean;
}

/** Who moves approvals without a decision of anybody's. */
const KERNEL = 'system:kernel';

/** The life of each approval: asked, perhaps edited, decided once, used once, by the call it was given for. */
export class ApprovalStory {
  readonly #problems: Problems;
  readonly #live = new Map<string, LiveApproval>();
  /** Grows with people's decisions, not with the log. */
  readonly #closed = new Set<string>();
  /** Approvals whose call has begun, until it is known how it ended. */
  readonly #used = new Map<string, { readonly live: LiveApproval; failed: boolean }>();
  /** Calls that were taken for not done and gave their approval back. */
  readonly #gaveBack = new Set<string>();

  constructor(problems: Problems) {
    this.#problems = problems;
  }

  decided(seq: number, entry: Entry): void {
    const { approval } = entry;
    if (!approval) return;
    const { uuid, digest } = approval;
    const state = entry.status ?? entry.decision;
    if (state === 'returned') {
      this.#returned(seq, entry, uuid);
      return;
    }
    const known = this.#live.get(uuid);
    if (this.#closed.has(uuid) && isDecision(state)) {
      this.#wrong(seq, `decides about approval ${uuid}, which was already closed`);
      return;
    }
    if (state === 'pending') {
      if (known?.approved && entry.principal === KERNEL) {
        // Approved, and refused before it began (paused, a limit, a rule): the person is asked again.
        known.approved = false;
        known.approver = undefined;
        return;
      }
      if (known) this.#wrong(seq, `asks for approval ${uuid} a second time`);
      this.#live.set(uuid, opened(entry, approval));
    } else if (state === 'approved') {
      const live = known ?? opened(entry, approval);
      if (known?.approved) this.#wrong(seq, `approves ${uuid} a second time`);
      if (live.digest !== digest) this.#wrong(seq, `approves ${uuid} for another call than was asked for`);
      live.approved = true;
      live.approver = approval.approver;
      if (isSelf(approval.approver, live.requester)) {
        this.#wrong(seq, `lets ${approval.approver} approve its own call (${uuid})`);
      }
      this.#live.set(uuid, live);
    } else if (isDecision(state)) {
      this.#close(uuid);
    }
  }

  edited(seq: number, { approval }: Entry): void {
    if (!approval) return;
    const live = this.#live.get(approval.uuid);
    if (this.#closed.has(approval.uuid) || live?.approved) {
      this.#wrong(seq, `edits approval ${approval.uuid} after it was decided`);
    }
    if (live) live.digest = approval.digest;
  }

  /** A read has no intent: its one entry both uses the approval and says how it went. */
  usedByRead(seq: number, entry: Entry, { uuid }: EntryApproval): void {
    const { parent, tool, call = '', status } = entry;
    const live = this.#live.get(uuid);
    // A part is written down before the whole it belongs to has ended, so its approval is still held. It is another tool's: a
    // call of the very tool that was approved used the approval itself, whoever made it.
    const held = this.#used.get(uuid)?.live ?? (live?.approved ? live : undefined);
    if (parent !== undefined && held && held.tool !== tool) return;
    this.used(seq, entry);
    this.ended(seq, uuid, call, status === 'failed');
  }

  /** A call that runs under an approval of its own. */
  used(seq: number, { kind, approval, call, digest, principal }: Entry): void {
    if (!approval) return;
    const { uuid } = approval;
    const live = this.#live.get(uuid);
    const begins = kind === 'intent' ? 'begins' : 'answers';
    if (!live?.approved) {
      const why = this.#closed.has(uuid) ? 'was already used or refused' : 'nobody had approved';
      this.#wrong(seq, `${begins} call ${call} under approval ${uuid}, which ${why}`);
      return;
    }
    if (live.digest !== approval.digest || (!live.permit && digest !== approval.digest)) {
      this.#wrong(seq, `${begins} call ${call} with other arguments than approval ${uuid} was given for`);
    }
    if (approval.approver !== live.approver) {
      this.#wrong(seq, `names ${approval.approver} as approver of ${uuid}, who was ${live.approver}`);
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

  /** Only what did nothing gives its approval back: a permit to whoever holds it, any other to the person. */
  #returned(seq: number, { extra }: Entry, uuid: string): void {
    const used = this.#used.get(uuid);
    if (!used?.failed) {
      this.#wrong(seq, `gives approval ${uuid} back, though no call under it failed`);
      return;
    }
    const { live } = used;
    if (typeof extra?.call === 'string') this.#gaveBack.add(extra.call);
    this.#closed.delete(uuid);
    this.#used.delete(uuid);
    this.#live.set(uuid, live.permit ? live : { ...live, approved: false, approver: undefined });
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
  approved: false,
});

const isDecision = (state: string | undefined): boolean =>
  state === 'pending' ||
  state === 'approved' ||
  state === 'rejected' ||
  state === 'expired' ||
  state === 'withdrawn';

/** A person may decide about what they asked for themselves; an agent may not. */
const isSelf = (approver: string | undefined, requester: string | undefined): boolean =>
  approver !== undefined && approver === requester && !approver.startsWith('person:');

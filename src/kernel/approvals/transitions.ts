import type { ApprovalKind, ApprovalState } from '../../contract/ports.ts';

/** A state, or `state*`: only for permits. */
type Side = ApprovalState | `${ApprovalState}*`;

/**
 * Every way an approval can go: from which states, to which. `move` writes no other, and `audit verify` accepts no
 * other in the log.
 */
const TRANSITIONS = {
  ask: [[], ['pending']],
  edit: [['pending'], ['pending']],
  approve: [['pending'], ['approved']],
  reject: [['pending'], ['rejected']],
  expire: [['pending', 'approved*'], ['expired']],
  withdraw: [['pending', 'approved*'], ['withdrawn']],
  /** Approved, and refused before it began (paused, a limit, a rule): the person is asked again. */
  reopen: [['approved'], ['pending']],
  /** An identical call was done before: its answer is replayed. */
  answer: [['approved'], ['done', 'failed']],
  begin: [['approved'], ['executing']],
  finish: [['executing'], ['done', 'failed', 'indeterminate']],
  /** The call certainly did nothing, so the decision is not used up. */
  giveBack: [
    ['executing', 'indeterminate*'],
    ['pending', 'approved*'],
  ],
  /** The process died: a change may have happened, a read only has to be asked for again. */
  lose: [['executing'], ['indeterminate', 'failed']],
  settle: [['indeterminate'], ['done', 'failed']],
  /** A call that others took for dead came back with its outcome. */
  late: [
    ['approved', 'failed', 'indeterminate'],
    ['done', 'indeterminate'],
  ],
  /** The row contradicts the log: it is closed the way the log has it, otherwise as failed. */
  invalidate: [
    ['pending', 'approved'],
    ['done', 'failed', 'indeterminate', 'rejected', 'expired', 'withdrawn'],
  ],
} as const satisfies Record<string, readonly [readonly Side[], readonly Side[]]>;

export type TransitionName = keyof typeof TRANSITIONS;

/** The states this transition starts from, for approvals of this kind. */
export const sourcesOf = (name: TransitionName, kind: ApprovalKind): ApprovalState[] =>
  statesOf(TRANSITIONS[name][0], kind);

/** The states this transition leads to, for approvals of this kind. */
export const targetsOf = (name: TransitionName, kind: ApprovalKind): ApprovalState[] =>
  statesOf(TRANSITIONS[name][1], kind);

/** `from` undefined: there is no such approval yet. */
export function isAllowed(
  name: TransitionName,
  from: ApprovalState | undefined,
  to: ApprovalState,
  kind: ApprovalKind,
): boolean {
  const sources = sourcesOf(name, kind);
  const starts = from === undefined ? sources.length === 0 : sources.includes(from);
  return starts && targetsOf(name, kind).includes(to);
}

const statesOf = (side: readonly Side[], kind: ApprovalKind): ApprovalState[] =>
  side.flatMap((one) => {
    const permitsOnly = one.endsWith('*');
    return permitsOnly && kind !== 'permit' ? [] : [one.replace('*', '') as ApprovalState];
  });

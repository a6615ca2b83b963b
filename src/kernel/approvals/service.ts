import type { Updateable } from 'kysely';
import { ToolError } from '../../contract/errors.ts';
import type { JsonObject } from '../../contract/json.ts';
import { type Outcome, outcomeData } from '../../contract/outcome.ts';
import {
  type Approval,
  type ApprovalFilter,
  type ApprovalsPort,
  type ApproveOptions,
  type Decided,
  isDamaged,
  isReadable,
} from '../../contract/ports.ts';
import type { ApprovalPresentation } from '../../contract/presentation.ts';
import { type Principal, principalName, samePrincipal } from '../../contract/principal.ts';
import type { BoundTool } from '../../contract/toolkit.ts';
import { digest } from '../../lib/canonical.ts';
import { type EvidenceWrite, writeWithEvidence } from '../log/write.ts';
import { signatureMissing } from '../passkeys/signed.ts';
import type { ApprovalsTable } from '../store/tables.ts';
import { CLOCK, expireDue } from './expire.ts';
import { ForgedApproval, requireGenuine } from './genuine.ts';
import { handOver } from './hand-over.ts';
import { type Change, move, moveMany, type WhereBuilder } from './move.ts';
import {
  findPresentation,
  presentAsked,
  presentStored,
  sealPresentation,
  storePresentation,
} from './presentations.ts';
import { approvalForAgent, countApprovals, findRow, idsOf, pageApprovals, usualDecisions } from './query.ts';
import { type ApprovalQueue, isExpired } from './queue.ts';
import { alreadyError, expiredText, obstacleOf, refuseOwn, toolUnavailable } from './refusals.ts';
import { rejectDamaged, unnameable } from './reject-damaged.ts';
import { readApproval, toApproval } from './row.ts';
import { createSigning, type Signing } from './sign.ts';
import { canRemember, SIGNED_EACH_TIME } from './standing.ts';
import type { TransitionName } from './transitions.ts';
import { mayRunLater } from './use.ts';
import { validEdit } from './valid-edit.ts';

export interface DecisionPorts {
  readonly queue: ApprovalQueue;
  readonly agentsMayApprove: boolean;
  /** Runs an approved call through the pipeline. */
  run(bound: BoundTool, approval: Approval): Promise<Outcome>;
  /** Makes a call of the person who decides, through the pipeline too. */
  invoke(tool: string, args: JsonObject, person: Principal): Promise<Outcome>;
  /** The limits that the call counts in, the fullest first. */
  limitsOf(bound: BoundTool, approval: Approval): Promise<ApprovalPresentation['limits']>;
  /** What a rule is for, in its author's words. */
  ruleLabel(id: string): string | undefined;
}

/** One transaction must hold their entries. */
const MAX_TOGETHER = 10_000;
const KERNEL = 'system:kernel';

type Decision = 'approve' | 'reject';

/** Runs a row that was approved but never got to run, because its process died in between. */
export interface ApprovalExecutor {
  execute(approval: Approval): Promise<Decided>;
}

/** Decisions on the queue. Every transition is a compare-and-set: a second decision gets a clear error. */
export function createApprovals({
  queue,
  agentsMayApprove,
  run,
  invoke,
  limitsOf,
  ruleLabel,
}: DecisionPorts): ApprovalsPort & ApprovalExecutor & { readonly signing: Signing } {
  const { database, now } = queue.ports;
  const inbox = (id?: number): Promise<string> => queue.inbox(id);

  /** What only the queue and the policy know of the request. */
  const context = async (approval: Approval, bound: BoundTool | undefined) => {
    const mustSign = approval.state === 'pending' && (await signing.requirement(approval)).required > 0;
    return {
      usual: await usualDecisions(database, approval),
      limits: bound ? await limitsOf(bound, approval) : [],
      needs_signature: mustSign,
      remember: mustSign ? { possible: false, why: SIGNED_EACH_TIME } : canRemember(approval, bound),
    };
  };

  const mustFind = async (id: string | number): Promise<Approval> => {
    const approval = await queue.get(id);
    if (!approval)
      throw new ToolError('not_found', `Approval ${id} not found.`, { detail: { id: String(id) } });
    return approval;
  };

  /** Moves a row on from the version that was read, or says why not. */
  const moveOne = async (
    approval: Approval,
    name: TransitionName,
    by: string,
    set: Change,
    more: { readonly extra?: JsonObject; also?(write: EvidenceWrite): Promise<void> } = {},
  ): Promise<Approval> => {
    const { id, version } = approval;
    const [moved] = await writeWithEvidence(database, async (write) => {
      const rows = await move(write, name, { id, version }, set, { at: now(), by, extra: more.extra });
      if (rows.length > 0) await more.also?.(write);
      return rows;
    });
    if (moved) return toApproval(moved);
    throw alreadyError(await mustFind(id), name);
  };

  /** Throws unless it can still be decided. */
  const requireOpen = async (approval: Approval, name: Decision): Promise<void> => {
    if (approval.state !== 'pending') throw alreadyError(approval, name);
    if (!isExpired(approval, now())) return;
    await moveOne(approval, 'expire', CLOCK, { state: 'expired' });
    throw new ToolError('approval_state', expiredText(approval), {
      detail: { id: approval.id, state: 'expired' },
    });
  };

  const decide = (
    approval: Approval,
    name: Decision,
    by: Principal,
    set: Updateable<ApprovalsTable>,
  ): Promise<Approval> =>
    moveOne(approval, name, principalName(by), {
      ...set,
      state: name === 'approve' ? 'approved' : 'rejected',
      decided_at: now().toISOString(),
      decided_by: principalName(by),
    });

  /** Where a pending row contradicts the log. */
  const findForgery = async (approval: Approval): Promise<ForgedApproval | undefined> => {
    if (approval.state !== 'pending') return undefined;
    try {
      await requireGenuine(database.db, database.engine, approval, 'pending');
      return undefined;
    } catch (error) {
      if (!(error instanceof ForgedApproval)) throw error;
      // Row and log are read one after the other: a decision that came in between is no forgery, and the move finds it.
      return (await mustFind(approval.id)).version === approval.version ? error : undefined;
    }
  };

  /** A person must not be led to approve what no one asked for. */
  const requireAsked = async (approval: Approval): Promise<void> => {
    const forgery = await findForgery(approval);
    if (forgery) {
      await queue.closeForged(forgery);
      throw forgery;
    }
    // Throws where it cannot be read.
    await findPresentation(database.db, approval.id);
  };

  /**
   * What cannot run now is not decided: a decision that uses up the approval without effect helps no one. Returns the
   * call that lets it run, where the person agreed to make it.
   */
  const requirePossible = async (bound: BoundTool, approval: Approval, prepare = false) => {
    const obstacle = await obstacleOf(bound, approval);
    if (obstacle && !(prepare && obstacle.remedy)) throw obstacle.error;
    return obstacle?.remedy;
  };

  /** The approval, if nothing is against approving it now, and what has to be called first. */
  const findApprovable = async (id: string | number, by: Principal, options: ApproveOptions = {}) => {
    const approval = await mustFind(id);
    // The move compares the version once more, so that nothing slips in between.
    if (approval.state === 'pending' && approval.version !== (options.version ?? approval.version)) {
      throw new ToolError(
        'approval_state',
        'This approval was edited after you opened it. Review it before you decide.',
        { detail: { id: approval.id, state: approval.state } },
      );
    }
    const bound = await queue.ports.resolve(approval.tool);
    if (approval.kind === 'call' && !bound) throw toolUnavailable(approval);
    await refuseOwn(approval, by, agentsMayApprove, { inbox });
    await requireAsked(approval);
    const { required, signed } = await signing.requirement(approval);
    if (required > 0)
      throw signatureMissing(approval, required, signed.length, await queue.ports.inboxUrl?.(approval.id));
    const prepare = options.prepare && by.kind === 'person';
    const isPending = approval.state === 'pending';
    const remedy = bound && isPending ? await requirePossible(bound, approval, prepare) : undefined;
    await requireOpen(approval, 'approve');
    return { approval, first: bound && remedy ? { bound, ...remedy } : undefined };
  };

  const execute = async (approval: Approval): Promise<Decided> => {
    const bound = await queue.ports.resolve(approval.tool);
    const undecided = { state: 'pending', decided_at: null, decided_by: null } as const;
    if (!bound) {
      // It must not run automatically when the tool comes back some day.
      await moveOne(approval, 'reopen', KERNEL, undecided);
      throw toolUnavailable(approval);
    }
    const obstacle = await obstacleOf(bound, approval);
    if (obstacle) {
      await moveOne(approval, 'reopen', KERNEL, undecided);
      throw obstacle.error;
    }
    if (bound.toolkit.servedElsewhere)
      return handOver(approval, {
        find: mustFind,
        reopen: (current) => moveOne(current, 'reopen', KERNEL, undecided),
        now,
      });
    const outcome = await run(bound, approval);
    const after = await mustFind(approval.id);
    if (after.state !== 'approved') return { approval: after, outcome };
    const data = JSON.stringify(outcomeData(outcome));
    const back = outcome.status === 'refused' || outcome.status === 'dry_run' || mayRunLater(outcome);
    // An equal call was done before: its answer is this one's too.
    const end = outcome.status === 'ok' ? 'done' : 'failed';
    const settled = back
      ? await moveOne(after, 'reopen', KERNEL, { ...undecided, outcome: data })
      : await moveOne(after, 'answer', KERNEL, { state: end, outcome: data });
    return { approval: settled, outcome };
  };

  const signing = createSigning({ queue, find: mustFind, requireAsked, execute });

  const sweep = async (filter: ApprovalFilter): Promise<void> => {
    if (filter.states && !filter.states.includes('pending')) return;
    await expireDue(queue);
  };

  const page: ApprovalsPort['page'] = async (filter) => {
    await sweep(filter);
    const rows = await pageApprovals(database.db, { ...filter, agentsMayApprove });
    if (!filter.fresh) return rows;
    const fresh = await queue.refreshed(rows.filter(isReadable));
    const byId = new Map(fresh.map((one) => [one.id, one]));
    return rows.map((one) => byId.get(one.id) ?? one);
  };

  return {
    propose: (proposal) => queue.propose(proposal),
    get: (id) => queue.get(id),
    list: async (filter) => (await page(filter)).filter(isReadable),
    page,
    async count(filter) {
      await sweep(filter);
      return countApprovals(database.db, { ...filter, agentsMayApprove });
    },
    async present(approval) {
      // What a person reads before they sign must be what was requested.
      const forgery = await findForgery(approval);
      if (forgery) throw forgery;
      const bound = await queue.ports.resolve(approval.tool);
      const shown = await presentStored(database.db, approval, bound, ruleLabel(approval.rule));
      return { ...shown, ...(await context(approval, bound)) };
    },
    inbox,
    tell: (approval, reader) => approvalForAgent(queue.ports.resolve, approval, reader),
    async requireApprovable(id, by, options) {
      return (await findApprovable(id, by, options)).approval;
    },
    async approve(id, by, options) {
      const { approval, first } = await findApprovable(id, by, options);
      if (first) {
        const outcome = await invoke(first.tool, first.args, by);
        if ('fault' in outcome) throw outcome.fault;
        await requirePossible(first.bound, approval);
      }
      const approved = await decide(approval, 'approve', by, { decision_reason: options?.note ?? null });
      if (approved.kind === 'permit') return { approval: approved, outcome: undefined };
      return execute(approved);
    },
    async reject(id, by, options) {
      const set = { decision_reason: options?.reason ?? null, feedback: options?.feedback ?? null };
      const row = await findRow(database.db, id);
      const read = row && readApproval(row);
      if (read && isDamaged(read)) return rejectDamaged(database, read, by, set, now());
      const approval = read ?? (await mustFind(id));
      await refuseOwn(approval, by, agentsMayApprove, { inbox });
      await requireOpen(approval, 'reject');
      return decide(approval, 'reject', by, set);
    },
    async rejectMatching(filter, by, { total, ...why }) {
      if (by.kind !== 'person')
        throw new ToolError(
          'policy_denied_hard_rule',
          'Policy denied: only a person may reject many together.',
        );
      await expireDue(queue);
      const at = now();
      const set = {
        state: 'rejected',
        decided_at: at.toISOString(),
        decided_by: principalName(by),
        decision_reason: why.reason ?? null,
        feedback: why.feedback ?? null,
      } as const;
      return writeWithEvidence(database, async (write) => {
        const ids = idsOf(write.trx, { ...filter, states: ['pending'] }, MAX_TOGETHER);
        const kept = await unnameable(write.trx, ids);
        const matching = {
          and: (eb: WhereBuilder) =>
            eb.and([eb('id', 'in', ids), ...(kept.length > 0 ? [eb('id', 'not in', kept)] : [])]),
        };
        const moved = await moveMany(write, 'reject', matching, set, { at, by: principalName(by) });
        const matched = moved + kept.length;
        // Thrown inside the transaction: nothing is rejected unless it is what the person saw.
        if (matched !== total)
          throw new ToolError(
            'approval_state',
            `${matched} approvals match now, not ${total}. Review the list before you decide.`,
            { detail: { total: matched } },
          );
        return moved;
      });
    },
    async edit(id, by, args) {
      if (by.kind !== 'person') {
        throw new ToolError(
          'policy_denied_hard_rule',
          'Policy denied: only a person may edit a pending approval.',
        );
      }
      const approval = await mustFind(id);
      const { args: checked, bound } = await validEdit(queue, approval, args);
      const before = await findPresentation(database.db, approval.id);
      const kept = before && 'presentation' in before ? before : undefined;
      const presented = await presentAsked(bound, checked, {
        principal: approval.requester,
        binding: approval.binding,
        risks: kept?.added.map(({ text }) => text),
        said: kept ? kept.said : approval.reason,
        asked: kept?.asked ?? approval.reason,
      });
      const shown = sealPresentation(presented, approval.reason);
      const newDigest = digest(approval.tool, checked);
      const { requester } = approval;
      const set = {
        ...shown.columns,
        signers: await queue.ports.signersFor({ bound, args: checked, requester }),
        args: JSON.stringify(checked),
        state: 'pending',
        digest: newDigest,
      } as const;
      return moveOne(approval, 'edit', principalName(by), set, {
        extra: { before: approval.digest, ...shown.evidence },
        also: async ({ trx }) => {
          await storePresentation(trx, approval.id, shown);
          await trx
            .insertInto('approval_edits')
            .values({
              approval_id: approval.id,
              edited_at: now().toISOString(),
              editor: principalName(by),
              old_args: JSON.stringify(approval.args),
              new_args: JSON.stringify(checked),
              old_digest: approval.digest,
              new_digest: newDigest,
            })
            .execute();
        },
      });
    },
    async withdraw(id, by) {
      const approval = await mustFind(id);
      if (by.kind !== 'person' && !samePrincipal(approval.requester, by)) {
        throw new ToolError(
          'policy_denied_hard_rule',
          'Policy denied: only its requester or a person may withdraw a request.',
        );
      }
      return moveOne(approval, 'withdraw', principalName(by), {
        state: 'withdrawn',
        decided_at: now().toISOString(),
        decided_by: principalName(by),
      });
    },
    execute,
    signing,
  };
}

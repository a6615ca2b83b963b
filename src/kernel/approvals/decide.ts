import type { Transaction, Updateable } from 'kysely';
import { ToolFault } from '../../contract/faults.ts';
import type { JsonObject } from '../../contract/json.ts';
import type {
  Approval,
  ApprovalFilter,
  ApprovalState,
  ApprovalsPort,
  Decided,
} from '../../contract/ports.ts';
import { mayBeAnybody, type Principal, principalName, samePrincipal } from '../../contract/principal.ts';
import type { Tool } from '../../contract/tool.ts';
import { digest } from '../../lib/digest.ts';
import { type EntryKind, prepareEntry } from '../audit/entry.ts';
import { appendEntries } from '../audit/log.ts';
import { publishEvent } from '../events.ts';
import { outcomeData } from '../evidence.ts';
import type { Invoke } from '../pipeline.ts';
import { withoutFalseDryRun } from '../steps/validate.ts';
import type { ApprovalsTable, Tables } from '../tables.ts';
import { countApprovals } from './find.ts';
import { type ApprovalQueue, isExpired } from './queue.ts';
import { toApproval } from './rows.ts';
import { tellApproval } from './tell.ts';

export interface DecisionPorts {
  readonly queue: ApprovalQueue;
  readonly agentsMayApprove: boolean;
  invoke: Invoke;
}

const KERNEL: Principal = { kind: 'system', id: 'kernel' };

const goneTool = ({ tool, id }: Approval): ToolFault =>
  new ToolFault(
    'not_found',
    `There is no tool ${tool} here any more, or the configuration takes it away; approval ${id} waits.`,
    { detail: { id, tool } },
  );

/** Runs a row that was approved but never got to run, because its process died in between. */
export interface ApprovalExecutor {
  execute(approval: Approval): Promise<Decided>;
}

/** Decisions on the queue. Every transition is a compare-and-set: a second decision gets a clear error. */
export function createApprovals({
  queue,
  agentsMayApprove,
  invoke,
}: DecisionPorts): ApprovalsPort & ApprovalExecutor {
  const { database, now } = queue.ports;

  const mustFind = async (id: string | number): Promise<Approval> => {
    const approval = await queue.get(id);
    if (!approval)
      throw new ToolFault('not_found', `There is no approval ${id}.`, { detail: { id: String(id) } });
    return approval;
  };

  /** Moves a row on, with its evidence, or says why not. */
  const move = async (
    approval: Approval,
    from: readonly ApprovalState[],
    to: ApprovalState,
    by: Principal,
    set: Updateable<ApprovalsTable> = {},
    kind: EntryKind = 'approval',
    also?: (trx: Transaction<Tables>) => Promise<void>,
  ): Promise<Approval> => {
    const at = now();
    const moved = await database.write(async (trx) => {
      const row = await trx
        .updateTable('approvals')
        .set((eb) => ({ ...set, state: to, version: eb('version', '+', 1) }))
        .where('id', '=', approval.id)
        .where('version', '=', approval.version)
        .where('state', 'in', [...from])
        .returningAll()
        .executeTakeFirst();
      if (!row) return undefined;
      const entry = prepareEntry({
        kind,
        at: at.toISOString(),
        run: row.run_id ?? undefined,
        tool: row.tool,
        toolkit: row.toolkit,
        principal: principalName(by),
        digest: row.digest,
        status: to,
        approval: {
          uuid: row.uuid,
          digest: row.digest,
          requester: row.requester,
          approver: to === 'approved' ? principalName(by) : undefined,
          permit: row.kind === 'permit' || undefined,
        },
        extra: kind === 'edit' ? { before: approval.digest } : undefined,
      });
      await appendEntries(trx, database.engine, [entry]);
      await publishEvent(trx, 'approvals', { id: row.id, state: to }, at);
      await also?.(trx);
      return toApproval(row);
    });
    if (moved) return moved;
    const current = await mustFind(approval.id);
    throw new ToolFault('approval_state', alreadyText(current, from), {
      detail: { id: current.id, state: current.state },
    });
  };

  const decide = async (
    approval: Approval,
    to: 'approved' | 'rejected',
    by: Principal,
    set: Updateable<ApprovalsTable>,
  ): Promise<Approval> => {
    refuseOwn(approval, by, agentsMayApprove);
    if (approval.state === 'pending' && isExpired(approval, now())) {
      await move(approval, ['pending'], 'expired', { kind: 'system', id: 'clock' });
      throw new ToolFault(
        'approval_state',
        `Approval ${approval.id} expired at ${approval.expiresAt?.toISOString()}; ask the agent to try again.`,
        {
          detail: { id: approval.id, state: 'expired' },
        },
      );
    }
    return move(approval, ['pending'], to, by, {
      ...set,
      decided_at: now().toISOString(),
      decided_by: principalName(by),
    });
  };

  const execute = async (approval: Approval): Promise<Decided> => {
    const bound = await queue.ports.resolve(approval.tool);
    if (!bound) {
      // It must not run by itself when the tool comes back some day.
      await move(approval, ['approved'], 'pending', KERNEL, { decided_at: null, decided_by: null });
      throw goneTool(approval);
    }
    const { outcome } = await invoke({
      bound,
      args: approval.args,
      principal: approval.requester,
      transport: 'approval',
      approval,
    });
    const after = await mustFind(approval.id);
    if (after.state !== 'approved') return { approval: after, outcome };
    // Refused before anything happened (paused, a limit, a rule): the row waits again, so that nothing is lost.
    const data = JSON.stringify(outcomeData(outcome));
    const undecided = { decided_at: null, decided_by: null, outcome: data };
    const back = outcome.status === 'refused' || outcome.status === 'dry_run';
    // An equal call was done before: its answer is this one's too.
    const end = outcome.status === 'ok' ? 'done' : 'failed';
    const settled = back
      ? await move(after, ['approved'], 'pending', KERNEL, undecided)
      : await move(after, ['approved'], end, KERNEL, { outcome: data });
    return { approval: settled, outcome };
  };

  const sweep = async (filter: ApprovalFilter): Promise<void> => {
    if (filter.states && !filter.states.includes('pending')) return;
    await expireDue(queue);
  };

  return {
    propose: (proposal) => queue.propose(proposal),
    get: (id) => queue.get(id),
    async list(filter) {
      await sweep(filter);
      return queue.list(filter);
    },
    async count(filter) {
      await sweep(filter);
      return countApprovals(database.db, filter);
    },
    tell: (approval, reader) => tellApproval(queue.ports.resolve, approval, reader),
    async approve(id, by, options) {
      const approval = await mustFind(id);
      // The move below compares the version once more, so that nothing slips in between.
      if (approval.state === 'pending' && approval.version !== (options?.version ?? approval.version)) {
        throw new ToolFault(
          'approval_state',
          'This was edited since you opened it. Look at it again before you decide.',
          { detail: { id: approval.id, state: approval.state } },
        );
      }
      if (approval.kind === 'call' && !(await queue.ports.resolve(approval.tool))) throw goneTool(approval);
      const approved = await decide(approval, 'approved', by, { decision_reason: options?.note ?? null });
      if (approved.kind === 'permit') return { approval: approved, outcome: undefined };
      return execute(approved);
    },
    async reject(id, by, options) {
      const approval = await mustFind(id);
      return decide(approval, 'rejected', by, {
        decision_reason: options?.reason ?? null,
        feedback: options?.feedback ?? null,
      });
    },
    async edit(id, by, args) {
      if (by.kind !== 'person') {
        throw new ToolFault(
          'policy_denied_hard_rule',
          'Policy denied: only a person may edit what waits for approval.',
        );
      }
      const approval = await mustFind(id);
      const { args: checked, tool } = await validEdit(queue, approval, args);
      const newDigest = digest(approval.tool, checked);
      return move(
        approval,
        ['pending'],
        'pending',
        by,
        { ...rewritten(tool, approval, checked), digest: newDigest },
        'edit',
        async (trx) => {
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
      );
    },
    async withdraw(id, by) {
      const approval = await mustFind(id);
      if (by.kind !== 'person' && !samePrincipal(approval.requester, by)) {
        throw new ToolFault(
          'policy_denied_hard_rule',
          'Policy denied: only its requester or a person may withdraw a request.',
        );
      }
      // A permit that was given and not used can be taken back; a call that was approved is already running.
      const from: ApprovalState[] = approval.kind === 'permit' ? ['pending', 'approved'] : ['pending'];
      return move(approval, from, 'withdrawn', by, {
        decided_at: now().toISOString(),
        decided_by: principalName(by),
      });
    },
    execute,
  };
}

/** Past their time, waiting rows and unused permits expire; research suggestions have none. */
export async function expireDue({ ports: { database, now } }: ApprovalQueue): Promise<number> {
  const at = now().toISOString();
  const due = await database.db
    .selectFrom('approvals')
    .select(['id', 'uuid', 'state', 'tool', 'toolkit', 'digest', 'run_id'])
    .where('state', 'in', ['pending', 'approved'])
    .where('expires_at', '<=', at)
    .where((eb) => eb.or([eb('state', '=', 'pending'), eb('kind', '=', 'permit')]))
    .limit(500)
    .execute();
  if (due.length === 0) return 0;
  return database.write(async (trx) => {
    let expired = 0;
    for (const row of due) {
      const { numUpdatedRows } = await trx
        .updateTable('approvals')
        .set((eb) => ({ state: 'expired', version: eb('version', '+', 1) }))
        .where('id', '=', row.id)
        .where('state', '=', row.state)
        .executeTakeFirst();
      if (numUpdatedRows === 0n) continue;
      expired += 1;
      const entry = prepareEntry({
        kind: 'approval',
        at,
        run: row.run_id ?? undefined,
        tool: row.tool,
        toolkit: row.toolkit,
        principal: 'system:clock',
        digest: row.digest,
        status: 'expired',
        approval: { uuid: row.uuid, digest: row.digest },
      });
      await appendEntries(trx, database.engine, [entry]);
      await publishEvent(trx, 'approvals', { id: row.id, state: 'expired' }, now());
    }
    return expired;
  });
}

/** An agent never approves its own call, by any route; the rest is open to agents only on purpose. */
function refuseOwn({ requester, id }: Approval, by: Principal, agentsMayApprove: boolean): void {
  if (by.kind === 'person') return;
  const hard = (why: string): never => {
    throw new ToolFault(
      'policy_denied_hard_rule',
      `Policy denied: ${why} A person can run: countersign approvals approve ${id}`,
    );
  };
  if (by.kind === 'system') hard('the system decides nothing by itself.');
  if (!agentsMayApprove) hard('an agent may not decide what waits for a person.');
  if (samePrincipal(requester, by)) hard('an agent may not decide its own request.');
  if (requester.kind === 'agent' && mayBeAnybody(by))
    hard('only an agent known by its own token may decide for another.');
  if (mayBeAnybody(requester)) hard(`${principalName(requester)} may have asked for this very agent.`);
}

function alreadyText(current: Approval, from: readonly ApprovalState[]): string {
  if (from.includes(current.state))
    return `Approval ${current.id} was changed by somebody else just now; look at it again.`;
  const who = current.decidedBy ? ` by ${principalName(current.decidedBy)}` : '';
  const back =
    current.kind === 'permit' && current.state === 'approved'
      ? ` A person takes it back with: countersign approvals withdraw ${current.id}`
      : '';
  return `Approval ${current.id} is already ${current.state}${who}.${back}`;
}

async function validEdit(
  queue: ApprovalQueue,
  approval: Approval,
  args: JsonObject,
): Promise<{ args: JsonObject; tool: Tool }> {
  const bound = await queue.ports.resolve(approval.tool);
  if (!bound) throw new ToolFault('not_found', `The tool ${approval.tool} no longer exists.`);
  if (approval.kind === 'permit') {
    throw new ToolFault(
      'approval_state',
      `A permit covers one exact call; withdraw it (countersign approvals withdraw ${approval.id}) and let the agent request another.`,
    );
  }
  const parsed = bound.tool.input.parse(args);
  if (!parsed.ok) {
    const lines = parsed.issues.slice(0, 10).map(({ path, message }) => `${path || 'arguments'}: ${message}`);
    throw new ToolFault(
      'invalid_input',
      `The edited arguments do not fit ${approval.tool}: ${lines.join('; ')}.`,
    );
  }
  const checked = withoutFalseDryRun(parsed.value as JsonObject);
  if (bound.tool.check) await bound.tool.check(checked, await bound.services());
  return { args: checked, tool: bound.tool };
}

/** The edited row describes what will now happen. */
function rewritten(tool: Tool, approval: Approval, args: JsonObject): Updateable<ApprovalsTable> {
  return {
    args: JSON.stringify(args),
    summary: tool.describeApproval?.(args) ?? approval.summary,
    risks: JSON.stringify(tool.risks?.(args) ?? approval.risks),
  };
}

import { randomUUID } from 'node:crypto';
import type { Insertable } from 'kysely';
import { ToolFault } from '../../contract/faults.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { Outcome } from '../../contract/outcome.ts';
import type { Approval, ApprovalFilter, Log, Proposal } from '../../contract/ports.ts';
import { principalName, samePrincipal } from '../../contract/principal.ts';
import { digest } from '../../lib/digest.ts';
import { prepareEntry } from '../audit/entry.ts';
import { appendEntries } from '../audit/log.ts';
import type { BoundTool, CallState } from '../call.ts';
import type { Database } from '../database.ts';
import { publishEvent } from '../events.ts';
import type { Decision } from '../policy/index.ts';
import { withoutFalseDryRun } from '../steps/validate.ts';
import type { ApprovalsTable } from '../tables.ts';
import { findApproval, listApprovals } from './find.ts';
import { toApproval } from './rows.ts';

export interface QueuePorts {
  readonly database: Database;
  readonly log: Log;
  readonly expiryMs: number;
  resolve(name: string): Promise<BoundTool | undefined>;
  now(): Date;
  /** Tells people that something waits; must not throw and is not waited for. */
  notify(approval: Approval): void;
}

/** The one queue for everything that waits for a person. Deciding and executing are in decide.ts. */
export class ApprovalQueue {
  readonly ports: QueuePorts;

  constructor(ports: QueuePorts) {
    this.ports = ports;
  }

  get(id: string | number): Promise<Approval | undefined> {
    return findApproval(this.ports.database.db, id);
  }

  list(filter: ApprovalFilter): Promise<readonly Approval[]> {
    return listApprovals(this.ports.database.db, filter);
  }

  /** Stores the whole call and tells the caller its id. A repeated equal call under one key gets the same row. */
  async route(call: CallState, decision: Decision): Promise<Outcome> {
    const { bound, principal, reason } = call.request;
    const earlier = await this.#pendingWithKey(call);
    const approval =
      earlier ??
      (await this.#insert(bound, {
        tool: bound.tool.name,
        args: call.args,
        requester: principal,
        reason: reason ?? decision.reason,
        runId: call.runId,
        rule: decision.rule,
        context: call.replayKey ? { replay_key: call.replayKey } : {},
        kind: 'call',
      }));
    return {
      status: 'routed',
      approvalId: approval.id,
      approvalUuid: approval.uuid,
      reason: decision.reason,
      rule: decision.rule,
    };
  }

  /** Files a suggestion or a permit request. */
  async propose(proposal: Proposal): Promise<Approval> {
    const bound = await this.ports.resolve(proposal.tool);
    if (!bound) throw new ToolFault('not_found', `There is no tool named ${proposal.tool}.`);
    // Whoever asks for a permit does not have its id yet.
    const awaited = proposal.kind === 'permit' && bound.tool.needsPermit ? { approval_id: 'requested' } : {};
    const parsed = bound.tool.input.parse({ ...proposal.args, ...awaited });
    if (!parsed.ok) {
      const lines = parsed.issues
        .slice(0, 10)
        .map(({ path, message }) => `${path || 'arguments'}: ${message}`);
      throw new ToolFault('invalid_input', `Arguments of ${proposal.tool} do not fit: ${lines.join('; ')}.`);
    }
    if (bound.tool.check) await bound.tool.check(parsed.value as JsonObject, await bound.services());
    return this.#insert(bound, {
      ...proposal,
      args: withoutFalseDryRun(parsed.value as JsonObject),
      rule: proposal.kind === 'permit' ? 'permit' : 'proposal',
    });
  }

  /** An approved permit for exactly this call, by the id in its arguments or by its digest. */
  async findPermit(call: CallState): Promise<Approval | undefined> {
    const { bound, principal } = call.request;
    const named = call.args.approval_id;
    const permit = typeof named === 'string' || typeof named === 'number' ? await this.get(named) : undefined;
    if (named !== undefined && bound.tool.needsPermit) {
      if (!permit) throw new ToolFault('approval_invalid', `There is no approval ${String(named)}.`);
      await this.#mustFit(permit, call);
      return permit;
    }
    const [byDigest] = await this.list({
      kind: 'permit',
      states: ['approved'],
      digest: await permitDigest(bound, call.args),
      requesters: [principal],
      limit: 1,
    });
    return byDigest && !isExpired(byDigest, this.ports.now()) ? byDigest : undefined;
  }

  async #mustFit(permit: Approval, call: CallState): Promise<void> {
    const { bound, principal } = call.request;
    const fail = (why: string): never => {
      throw new ToolFault('approval_invalid', `Approval ${permit.id} ${why}`, {
        detail: { approval_id: permit.id, state: permit.state },
      });
    };
    if (permit.kind !== 'permit' || permit.tool !== bound.tool.name)
      fail(`is not a permit for ${bound.tool.name}.`);
    if (principal.kind !== 'person' && !samePrincipal(permit.requester, principal))
      fail('was given to another agent; request one of your own.');
    if (permit.state === 'pending') {
      throw new ToolFault(
        'approval_required',
        `Approval ${permit.id} is still waiting for a person: countersign approvals approve ${permit.id}`,
      );
    }
    if (permit.state !== 'approved') fail(`cannot be used: it is ${permit.state}.`);
    if (isExpired(permit, this.ports.now())) fail('has expired.');
    if (permit.digest !== (await permitDigest(bound, call.args))) {
      fail(
        'was given for other arguments, or what it is bound to has moved; request a new one for exactly this call.',
      );
    }
  }

  /** A key that is scoped to a run is shared by agents; what one of them asked for is no answer to another. */
  async #pendingWithKey({ replayKey, digest: wanted, request }: CallState): Promise<Approval | undefined> {
    if (!replayKey) return undefined;
    const same = await this.list({
      states: ['pending', 'approved', 'executing'],
      digest: wanted,
      kind: 'call',
      requesters: [request.principal],
      limit: 20,
    });
    return same.find(({ context }) => context.replay_key === replayKey);
  }

  async #insert(bound: BoundTool, proposal: Proposal & { readonly rule: string }): Promise<Approval> {
    const { database, now, expiryMs, notify } = this.ports;
    const at = now();
    const kind = proposal.kind ?? 'call';
    const binding =
      kind === 'permit' && bound.tool.bind
        ? await bound.tool.bind(proposal.args, await bound.services())
        : undefined;
    const wanted =
      kind === 'permit'
        ? digest(bound.tool.name, permitArgs(proposal.args, binding))
        : digest(bound.tool.name, proposal.args);
    const expires = proposal.expiresAt === undefined ? new Date(at.getTime() + expiryMs) : proposal.expiresAt;
    const row: Insertable<ApprovalsTable> = {
      uuid: randomUUID(),
      kind,
      state: 'pending',
      tool: bound.tool.name,
      toolkit: bound.toolkit.id,
      effect: bound.tool.effect,
      args: JSON.stringify(kind === 'permit' ? withoutPermit(proposal.args) : proposal.args),
      digest: wanted,
      binding: binding ? JSON.stringify(binding) : null,
      requester: principalName(proposal.requester),
      requester_label: proposal.requester.label ?? null,
      reason: proposal.reason,
      rule: proposal.rule,
      summary: proposal.summary ?? describe(bound, proposal.args),
      risks: JSON.stringify(proposal.risks ?? bound.tool.risks?.(proposal.args) ?? []),
      context: JSON.stringify(proposal.context ?? {}),
      run_id: proposal.runId ?? bound.tool.runOf?.(proposal.args) ?? null,
      group_id: proposal.groupId ?? null,
      created_at: at.toISOString(),
      expires_at: expires?.toISOString() ?? null,
      decided_at: null,
      decided_by: null,
      decision_reason: null,
      feedback: null,
      call_id: null,
      outcome: null,
      version: 1,
    };
    const stored = await database.write(async (trx) => {
      const inserted = await trx.insertInto('approvals').values(row).returningAll().executeTakeFirstOrThrow();
      const entry = prepareEntry({
        kind: 'approval',
        at: row.created_at,
        run: row.run_id ?? undefined,
        tool: row.tool,
        toolkit: row.toolkit,
        principal: row.requester,
        digest: wanted,
        status: 'pending',
        rule: row.rule,
        approval: {
          uuid: row.uuid,
          digest: wanted,
          requester: row.requester,
          permit: kind === 'permit' || undefined,
        },
      });
      await appendEntries(trx, database.engine, [entry]);
      await publishEvent(trx, 'approvals', { id: inserted.id, state: 'pending' }, at);
      return toApproval(inserted);
    });
    notify(stored);
    return stored;
  }
}

const describe = ({ tool }: BoundTool, args: JsonObject): string =>
  tool.describeApproval?.(args) ?? `${tool.title}: ${JSON.stringify(args).slice(0, 200)}`;

export const isExpired = (approval: Approval, now: Date): boolean =>
  approval.expiresAt !== undefined && approval.expiresAt <= now;

/** A permit covers the call, not its own id nor whether it was tried dry first. */
function withoutPermit({ approval_id: _id, dry_run: _dry, ...rest }: JsonObject): JsonObject {
  return rest;
}

const permitArgs = (args: JsonObject, binding: JsonObject = {}): JsonObject => ({
  args: withoutPermit(args),
  binding,
});

async function permitDigest(bound: BoundTool, args: JsonObject): Promise<string> {
  const binding = bound.tool.bind ? await bound.tool.bind(args, await bound.services()) : undefined;
  return digest(bound.tool.name, permitArgs(args, binding));
}

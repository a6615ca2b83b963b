import { randomUUID } from 'node:crypto';
import type { Transaction } from 'kysely';
import { ToolError } from '../../contract/errors.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { Outcome } from '../../contract/outcome.ts';
import { type Approval, describeInbox, type Log, type Proposal } from '../../contract/ports.ts';
import { type Principal, principalName, samePrincipal } from '../../contract/principal.ts';
import { permittedArgs, type Tool, withoutFalseDryRun } from '../../contract/tool.ts';
import type { BoundTool } from '../../contract/toolkit.ts';
import { digest } from '../../lib/canonical.ts';
import { lookup } from '../../lib/lookup.ts';
import { saltContext } from '../log/rows/approval-terms.ts';
import { writeWithEvidence } from '../log/write.ts';
import type { SignersFor } from '../passkeys/requirement.ts';
import type { Database } from '../store/database.ts';
import type { Tables } from '../store/tables.ts';
import { closeForged, ForgedApproval, requireGenuine } from './genuine.ts';
import { ask } from './move.ts';
import { environmentOf, movesMoney } from './present.ts';
import {
  findPresentation,
  presentAsked,
  presentStored,
  sealPresentation,
  storePresentation,
} from './presentations.ts';
import { type ApprovalQuery, countApprovals, findApproval, listApprovals } from './query.ts';
import { toApproval, UnreadableApproval } from './row.ts';

/** Why the approved call would be refused now; undefined when nothing is known to stop it. */
export type Foresee = (bound: BoundTool, approval: Approval) => Promise<ToolError | undefined>;

export interface QueuePorts {
  readonly database: Database;
  readonly log: Log;
  readonly expiryMs: number;
  /** Pending approvals that one agent may have. */
  readonly maxPending: number;
  resolve(name: string): Promise<BoundTool | undefined>;
  readonly signersFor: SignersFor;
  readonly foresee: Foresee;
  /** Where a person finds an approval, to sign it. */
  inboxUrl?(id: number): Promise<string | undefined>;
  /** The same, or the whole inbox; undefined while nothing serves it. */
  runningInbox?(id?: number): Promise<string | undefined>;
  now(): Date;
  /** Notifies people of a pending approval; must not throw and is not waited for. */
  notify(approval: Approval): void;
}

/** A call that needs an approval, as far as the queue has to know it. */
export interface AskedCall {
  readonly bound: BoundTool;
  readonly args: JsonObject;
  readonly digest: string;
  /** The digest of what the caller sent, where the tool completed the arguments. */
  readonly askedDigest: string;
  readonly principal: Principal;
  /** What the requester said about it. */
  readonly reason: string | undefined;
  readonly runId: string | undefined;
  readonly replayKey: string | undefined;
}

/** The one queue of approvals. Deciding and executing are in service.ts. */
export class ApprovalQueue {
  readonly ports: QueuePorts;

  constructor(ports: QueuePorts) {
    this.ports = ports;
  }

  get(id: string | number): Promise<Approval | undefined> {
    return findApproval(this.ports.database.db, id);
  }

  list(filter: ApprovalQuery): Promise<readonly Approval[]> {
    return listApprovals(this.ports.database.db, filter);
  }

  /** The same rows with title and content as they are now; calls of this machine only, because a list must not wait for others. */
  async refreshed(rows: readonly Approval[]): Promise<readonly Approval[]> {
    return Promise.all(
      rows.map(async (row) => {
        const bound = row.state === 'pending' ? await this.ports.resolve(row.tool) : undefined;
        if (bound?.tool.reach !== 'local' || !bound.tool.present) return row;
        try {
          const { title, gist } = await presentStored(this.ports.database.db, row, bound, undefined);
          return { ...row, summary: title, gist: gist ?? undefined };
        } catch (error) {
          // Its own page says so; a list has the title that is stored with the row.
          if (error instanceof UnreadableApproval) return row;
          throw error;
        }
      }),
    );
  }

  /** Where a person decides, in words for an agent. */
  async inbox(id?: number): Promise<string> {
    return describeInbox(await this.ports.runningInbox?.(id));
  }

  /**
   * Whether the call stays on this computer or in a sandbox and can be undone: by what was stored when it was asked, and
   * by where it would act now. What a sandbox does can always be undone.
   */
  async isContained(approval: Approval): Promise<boolean> {
    const { args, environment, effect } = approval;
    const bound = await this.ports.resolve(approval.tool);
    if (!bound || environment === undefined || environment === 'live') return false;
    // Trusting a server is undone easily, but what it lets run until then is not.
    if (bound.tool.category === 'servers') return false;
    if (effect === 'destroy' || bound.tool.effect === 'destroy' || movesMoney(bound.tool, args)) return false;
    if ((await environmentOf(bound, args)) === 'live') return false;
    if (environment === 'sandbox') return true;
    const stored = await findPresentation(this.ports.database.db, approval.id);
    return stored !== undefined && 'presentation' in stored && stored.presentation.undo.possible === true;
  }

  /** Stores the whole call and returns its id to the caller. An identical call gets the row that is pending already. */
  async route(
    call: AskedCall,
    decision: { readonly reason: string; readonly rule: string },
  ): Promise<Outcome> {
    const { bound, principal, reason } = call;
    const context = await contextOf(bound);
    const earlier = await this.#pendingCall(call, context);
    const approval =
      earlier ??
      (await this.#insert(bound, {
        tool: bound.tool.name,
        args: call.args,
        requester: principal,
        reason: reason ?? decision.reason,
        runId: call.runId,
        rule: decision.rule,
        context: {
          ...context,
          ...(call.replayKey ? { replay_key: call.replayKey } : {}),
          ...(call.askedDigest === call.digest ? {} : { asked_digest: call.askedDigest }),
        },
        said: reason ?? null,
        asked: decision.reason,
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
    if (!bound) throw new ToolError('not_found', `Tool ${proposal.tool} not found.`);
    // The requester of a permit does not have its id yet.
    const awaited = proposal.kind === 'permit' && bound.tool.needsPermit ? { approval_id: 'requested' } : {};
    const parsed = bound.tool.input.parse({ ...proposal.args, ...awaited });
    if (!parsed.ok) {
      const lines = parsed.issues
        .slice(0, 10)
        .map(({ path, message }) => `${path || 'arguments'}: ${message}`);
      throw new ToolError('invalid_input', `Invalid arguments for ${proposal.tool}: ${lines.join('; ')}.`);
    }
    requireComplete(bound.tool, parsed.value as JsonObject);
    if (bound.tool.check)
      await bound.tool.check(parsed.value as JsonObject, await bound.services(), proposal.requester);
    return this.#insert(bound, {
      ...proposal,
      args: withoutFalseDryRun(bound.tool, parsed.value as JsonObject),
      rule: proposal.kind === 'permit' ? 'permit' : 'proposal',
      said: proposal.reason,
      asked: '',
    });
  }

  /** An approved permit for exactly this call, by the id in its arguments or by its digest. */
  async findPermit(call: Pick<AskedCall, 'bound' | 'args' | 'principal'>): Promise<Approval | undefined> {
    const { bound, principal } = call;
    const named = bound.tool.needsPermit ? call.args.approval_id : undefined;
    if (named !== undefined) {
      const permit =
        typeof named === 'string' || typeof named === 'number' ? await this.get(named) : undefined;
      if (!permit) throw new ToolError('approval_invalid', `Approval ${String(named)} not found.`);
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

  async #mustFit(
    permit: Approval,
    { bound, principal, args }: Pick<AskedCall, 'bound' | 'args' | 'principal'>,
  ): Promise<void> {
    const fail = (why: string, hint?: string): never => {
      throw new ToolError('approval_invalid', `Approval ${permit.id} ${why}`, {
        hint,
        detail: { approval_id: permit.id, state: permit.state },
      });
    };
    if (permit.kind !== 'permit' || permit.tool !== bound.tool.name)
      fail(`is not a permit for ${bound.tool.name}.`);
    if (principal.kind !== 'person' && !samePrincipal(permit.requester, principal))
      fail('belongs to another agent. Request your own.');
    if (permit.state === 'pending') {
      throw new ToolError(
        'approval_required',
        `Approval ${permit.id} is still pending. A person decides in ${await this.inbox(permit.id)}`,
      );
    }
    if (permit.state !== 'approved') fail(`cannot be used: it is ${permit.state}.`, USED_HINTS[permit.state]);
    if (isExpired(permit, this.ports.now())) fail('has expired.');
    if (permit.digest !== (await permitDigest(bound, args))) {
      fail(
        'is for different arguments, or what it is bound to has changed. Request a new one for exactly this call.',
      );
    }
  }

  /** Throws `approval_invalid` unless the log has the decision that the row claims. */
  async requireGenuine(approval: Approval): Promise<void> {
    const { database } = this.ports;
    await requireGenuine(database.db, database.engine, approval, 'approved');
  }

  /** Closes a row that contradicts the log; the refusal of its call is recorded by the pipeline. */
  async closeForged(error: ToolError): Promise<void> {
    if (!(error instanceof ForgedApproval)) return;
    const { database, log, now } = this.ports;
    const { id, tool } = error.approval;
    log.warn('Refused an approval: its row is not what the audit log has', {
      approval: id,
      tool,
      reason: error.message,
    });
    await closeForged(database, error, now());
  }

  /** A key that is scoped to a run is shared by agents; what one of them asked for is no answer to another. */
  async #pendingCall(
    { replayKey, digest: wanted, principal }: AskedCall,
    context: JsonObject,
  ): Promise<Approval | undefined> {
    const same = await this.list({
      states: replayKey ? ['pending', 'approved', 'executing'] : ['pending'],
      digest: wanted,
      kind: 'call',
      requesters: [principal],
      limit: 20,
    });
    const inContext = (row: Approval) =>
      Object.entries(context).every(([name, value]) => lookup(row.context, name) === value);
    return same.find(
      (row) => row.context.replay_key === replayKey && inContext(row) && !isExpired(row, this.ports.now()),
    );
  }

  /** One agent must not fill the inbox of everyone. People and the system's own clock are not counted. */
  async #requireShare(trx: Transaction<Tables>, requester: Principal): Promise<void> {
    if (requester.kind !== 'agent') return;
    const { maxPending } = this.ports;
    const pending = await countApprovals(trx, { states: ['pending'], requesters: [requester] });
    if (pending < maxPending) return;
    throw new ToolError(
      'quota_exceeded',
      `${principalName(requester)} already has ${pending} pending approvals, the maximum (approvals.max_pending_per_agent). Nothing was requested: wait until a person has decided some.`,
      { detail: { setting: 'approvals.max_pending_per_agent', max: maxPending } },
    );
  }

  /** A call under this key that was completed before and still waits: its repetition is not completed once more. */
  async findPrepared(
    call: Omit<AskedCall, 'digest' | 'args' | 'reason' | 'runId'>,
  ): Promise<Approval | undefined> {
    const { bound, replayKey, askedDigest, principal } = call;
    if (!replayKey) return undefined;
    const waiting = await this.list({
      states: ['pending', 'approved', 'executing'],
      tools: [bound.tool.name],
      kind: 'call',
      requesters: [principal],
      limit: 1_000,
    });
    return waiting.find(
      ({ context }) => context.replay_key === replayKey && context.asked_digest === askedDigest,
    );
  }

  async #insert(
    bound: BoundTool,
    proposal: Proposal & { readonly rule: string; readonly said: string | null; readonly asked: string },
  ): Promise<Approval> {
    const { database, now, expiryMs, notify, signersFor } = this.ports;
    const at = now();
    const kind = proposal.kind ?? 'call';
    const binding =
      kind === 'permit' && bound.tool.bind
        ? await bound.tool.bind(proposal.args, await bound.services())
        : undefined;
    const wanted =
      kind === 'permit'
        ? permitDigestOf(bound.tool, proposal.args, binding)
        : digest(bound.tool.name, proposal.args);
    const { args, requester } = proposal;
    const presented = await presentAsked(bound, args, {
      principal: requester,
      binding,
      risks: proposal.risks,
      gist: proposal.summary,
      said: proposal.said,
      asked: proposal.asked,
    });
    const shown = sealPresentation(presented, proposal.reason);
    const sign = await signersFor({ bound, args, requester });
    const expires = proposal.expiresAt === undefined ? new Date(at.getTime() + expiryMs) : proposal.expiresAt;
    const { orderedBy } = proposal.requester;
    const ordered: JsonObject = orderedBy === undefined ? {} : { ordered_by: orderedBy };
    const row = {
      uuid: randomUUID(),
      kind,
      tool: bound.tool.name,
      toolkit: bound.toolkit.id,
      effect: bound.tool.effect,
      args: JSON.stringify(kind === 'permit' ? permittedArgs(bound.tool, proposal.args) : proposal.args),
      digest: wanted,
      binding: binding ? JSON.stringify(binding) : null,
      requester: principalName(proposal.requester),
      requester_label: proposal.requester.label ?? null,
      reason: proposal.reason,
      rule: proposal.rule,
      ...shown.columns,
      signers: sign,
      context: saltContext({ ...(await contextOf(bound)), ...proposal.context, ...ordered }),
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
    };
    const said = { ...ordered, ...shown.evidence, ...(sign > 0 && { sign }) };
    const stored = await writeWithEvidence(database, async (write) => {
      await this.#requireShare(write.trx, proposal.requester);
      const asked = await ask(write, row, said);
      await storePresentation(write.trx, asked.id, shown);
      return toApproval(asked);
    });
    notify(stored);
    return stored;
  }
}

/** A person decides on a complete call; one that a tool still has to complete cannot be permitted or edited in. */
export function requireComplete({ name, prepare }: Tool, args: JsonObject): void {
  if (!prepare?.(args)) return;
  throw new ToolError(
    'validation_error',
    `${name} would still complete these arguments, so no one could know what they approve.`,
    { hint: `Call ${name} itself: where approval is required, it is queued with its complete arguments.` },
  );
}

/** Another request would not help, or not yet. */
const USED_HINTS: Partial<Record<Approval['state'], string>> = {
  executing: 'A call is using it right now; approval_get shows how it ends. Do not ask again.',
  done: 'It was used, and the call succeeded; approval_get shows the result.',
  indeterminate: 'A call used it and its outcome is unknown; wait until it is settled.',
  rejected: 'A person rejected it; approval_get shows the reason.',
};

const contextOf = async ({ toolkit, services }: BoundTool): Promise<JsonObject> =>
  toolkit.callContext ? toolkit.callContext(await services()) : {};

export const isExpired = (approval: Approval, now: Date): boolean =>
  approval.expiresAt !== undefined && approval.expiresAt <= now;

const permitDigestOf = (tool: Tool, args: JsonObject, binding: JsonObject = {}): string =>
  digest(tool.name, { args: permittedArgs(tool, args), binding });

async function permitDigest(bound: BoundTool, args: JsonObject): Promise<string> {
  const binding = bound.tool.bind ? await bound.tool.bind(args, await bound.services()) : undefined;
  return permitDigestOf(bound.tool, args, binding);
}

import { z } from 'zod';
import { ToolError } from '../../contract/errors.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { Outcome } from '../../contract/outcome.ts';
import {
  type Approval,
  type ApprovalsPort,
  type CallFilter,
  type CallRecord,
  type Decided,
  describeAsked,
} from '../../contract/ports.ts';
import { LOCAL_AGENT, type Principal, principalName, samePrincipal } from '../../contract/principal.ts';
import { LOOPS, type XServices } from './services.ts';

/** The documented parameter is the integer; the uuid is taken too, as on every other route. */
export const approvalId = z
  .union([z.number().int().positive(), z.string().min(1)])
  .describe('ID from list_pending_approvals.');

export const approvalItem = z.object({
  id: z.number(),
  uuid: z.string(),
  kind: z
    .string()
    .describe('call: approving executes it. permit: approving lets the requester make this call once.'),
  action_type: z.string(),
  status: z.string(),
  summary: z.string(),
  params: z.looseObject({}),
  reason: z.string(),
  matched_rule_id: z.string(),
  detected_risks: z.array(z.string()),
  requested_by: z.string(),
  ordered_by: z.string().nullable().describe('Who gave the assistant the order, if it requested this.'),
  created_at: z.string(),
  expires_at: z.string().nullable(),
});

export function describeItem(item: Approval): z.input<typeof approvalItem> {
  return {
    id: item.id,
    uuid: item.uuid,
    kind: item.kind,
    action_type: item.tool,
    status: item.state,
    summary: describeAsked(item),
    params: item.args,
    reason: item.reason,
    matched_rule_id: item.rule,
    detected_risks: [...item.risks],
    requested_by: principalName(item.requester),
    ordered_by: item.requester.orderedBy ?? null,
    created_at: item.createdAt.toISOString(),
    expires_at: item.expiresAt?.toISOString() ?? null,
  };
}

/** Items of other toolkits wait in the same queue, but are not this toolkit's to decide. */
export async function findItem(approvals: ApprovalsPort, id: string | number): Promise<Approval> {
  const item = await approvals.get(id);
  if (item?.toolkit !== 'x') {
    throw new ToolError('not_found', `Approval ${id} of the x toolkit not found.`, {
      detail: { id },
    });
  }
  return item;
}

export function requireDecider(decider: Principal | undefined): Principal {
  if (decider) return decider;
  throw new ToolError('policy_denied_hard_rule', 'A person must decide this in the web app.');
}

/** What executing an approved item gave. */
export const execution = z.object({
  id: z.number(),
  action_type: z.string(),
  status: z.string().describe('State of the approval afterwards.'),
  executed: z.boolean(),
  result: z.unknown().optional(),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
});

export type Execution = z.input<typeof execution>;

export function describeExecution({ approval, outcome }: Decided): Execution {
  const base = { id: approval.id, action_type: approval.tool, status: approval.state };
  switch (outcome?.status) {
    case 'ok':
      return { ...base, executed: true, result: outcome.data };
    case 'dry_run':
      return { ...base, executed: false, result: { dry_run: true, would_execute: approval.tool } };
    case 'refused':
    case 'failed':
    case 'indeterminate':
      return {
        ...base,
        executed: false,
        error: { code: outcome.fault.code, message: outcome.fault.message },
      };
    default:
      return { ...base, executed: false };
  }
}

/** Which backend the call inside this one asked: the reply to this one comes from there too. */
export function sourceIn(outcome: Outcome | undefined): JsonObject {
  const notes = outcome && 'notes' in outcome ? (outcome.notes ?? {}) : {};
  return Object.fromEntries(
    Object.entries(notes).filter(([name]) => name === 'provider_backend' || name === 'sandbox'),
  );
}

/** An approved item whose execution failed is a failure of the call that approved it. */
export function executionError({ approval, outcome }: Decided): ToolError | undefined {
  if (outcome?.status !== 'refused' && outcome?.status !== 'failed' && outcome?.status !== 'indeterminate') {
    return undefined;
  }
  const { fault } = outcome;
  const detail: JsonObject = { ...fault.detail, approval_id: approval.id, status: approval.state };
  return fault.reworded(`Approval ${approval.id} was approved, but not executed: ${fault.message}`, {
    detail,
    resetAt: fault.resetAt,
    retryable: false,
    cause: fault.cause,
    effect: fault.effect,
  });
}

/** Who reads, and where. */
interface Reader {
  readonly services: Pick<XServices, 'kernel'>;
  readonly principal: Principal;
}

const WAITING = { states: ['pending'], toolkit: 'x', order: 'oldest' } as const;

/** What waits, oldest first: calls and permits, as far as the reader may see them. */
export async function waitingFor(
  { services, principal }: Reader,
  limit: number,
): Promise<{ readonly count: number; readonly items: readonly Approval[] }> {
  const { approvals } = services.kernel;
  const filter = { ...WAITING, shownTo: principal };
  const [count, items] = await Promise.all([
    approvals.count(filter),
    limit > 0 ? approvals.list({ ...filter, limit }) : [],
  ]);
  return { count, items };
}

/** Calls, newest first; an agent is shown its own. */
export async function callsFor(
  { services, principal }: Reader,
  filter: CallFilter & { readonly limit: number },
): Promise<readonly CallRecord[]> {
  const { telemetry } = services.kernel;
  if (principal.kind !== 'agent') return telemetry.calls(filter);
  const found = await Promise.all(
    ownNames(principal).map((one) => telemetry.calls({ ...filter, principal: principalName(one) })),
  );
  return found
    .flat()
    .sort((a, b) => b.at.getTime() - a.at.getTime() || (a.callId < b.callId ? 1 : -1))
    .slice(0, filter.limit);
}

/** The loops work for the person who set the server up, and that is who calls without a name. */
const ownNames = (reader: Principal): readonly Principal[] =>
  samePrincipal(reader, LOCAL_AGENT) ? [reader, ...LOOPS] : [reader];

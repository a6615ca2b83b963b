import { ToolError } from '../../contract/errors.ts';
import type { Approval } from '../../contract/ports.ts';
import { isSharedIdentity, type Principal, principalName, samePrincipal } from '../../contract/principal.ts';
import type { BoundTool } from '../../contract/toolkit.ts';
import type { ApprovalQueue } from './queue.ts';
import { sourcesOf, type TransitionName } from './transitions.ts';

export const toolUnavailable = ({ tool, id }: Approval): ToolError =>
  new ToolError(
    'not_found',
    `Tool ${tool} no longer exists or the configuration disables it. Approval ${id} is still pending.`,
    { detail: { id, tool } },
  );

/** An agent never approves its own call, by any route; the rest is open to agents only on purpose. */
export async function refuseOwn(
  { requester, id }: Approval,
  by: Principal,
  agentsMayApprove: boolean,
  { inbox }: Pick<ApprovalQueue, 'inbox'>,
): Promise<void> {
  const why = reasonAgainst(requester, by, agentsMayApprove);
  if (why === undefined) return;
  throw new ToolError(
    'policy_denied_hard_rule',
    `Policy denied: ${why} A person decides in ${await inbox(id)}`,
  );
}

function reasonAgainst(requester: Principal, by: Principal, agentsMayApprove: boolean): string | undefined {
  if (by.kind === 'person') return undefined;
  if (by.kind === 'system') return 'the system cannot decide approvals.';
  if (!agentsMayApprove) return 'agents may not decide approvals.';
  if (samePrincipal(requester, by)) return 'an agent may not decide its own request.';
  if (requester.kind === 'agent' && isSharedIdentity(by))
    return "only an agent with its own token may decide another agent's request.";
  if (isSharedIdentity(requester)) return `${principalName(requester)} may have been acting for this agent.`;
  return undefined;
}

export const alreadyError = (current: Approval, name: TransitionName): ToolError =>
  new ToolError('approval_state', alreadyText(current, name), {
    detail: { id: current.id, state: current.state },
  });

function alreadyText(current: Approval, name: TransitionName): string {
  if (sourcesOf(name, current.kind).includes(current.state))
    return `Approval ${current.id} was just changed by someone else. Review it again.`;
  const who = current.decidedBy ? ` (decided by ${principalName(current.decidedBy)})` : '';
  const back =
    current.kind === 'permit' && current.state === 'approved'
      ? ` A person can withdraw it: countersign approvals withdraw ${current.id}`
      : '';
  return `Approval ${current.id} is already ${current.state}${who}.${back}`;
}

/** What keeps the call from running now, by its toolkit's own account. */
export const obstacleOf = async ({ toolkit, services }: BoundTool, approval: Approval) =>
  toolkit.obstacle && approval.kind === 'call'
    ? await toolkit.obstacle(approval, await services())
    : undefined;

export const expiredText = ({ id, expiresAt }: Approval): string =>
  `Approval ${id} expired at ${expiresAt?.toISOString()}. Ask the agent to make the call again.`;

import { ToolFault } from '../../../contract/faults.ts';
import type { JsonObject } from '../../../contract/json.ts';
import type { Approval, Decided } from '../../../contract/ports.ts';
import type { Principal } from '../../../contract/principal.ts';
import type { ToolContext } from '../../../contract/tool.ts';
import type { ResearchServices } from '../services.ts';

type DecideContext = Pick<ToolContext<ResearchServices>, 'services' | 'decider'>;

/** Finds what waits under this id; `tools` limits it to the kind a tool is for. */
export async function findSuggestion(
  { services }: DecideContext,
  id: string,
  tools?: readonly string[],
): Promise<Approval> {
  const approval = await services.approvals.get(id);
  if (approval?.toolkit !== 'research') {
    throw new ToolFault('not_found', `There is no suggestion ${id}.`, { detail: { suggestion_id: id } });
  }
  if (tools && !tools.includes(approval.tool)) {
    throw new ToolFault(
      'validation_error',
      `Suggestion ${id} asks for ${approval.tool}; use approve_suggestion for it.`,
      {
        detail: { suggestion_id: id, asks_for: approval.tool },
      },
    );
  }
  return approval;
}

export function deciderOf({ decider }: DecideContext): Principal {
  if (!decider) throw new ToolFault('policy_denied_hard_rule', 'Only the researcher decides on suggestions.');
  return decider;
}

/** Approves and says what really happened: the data of the change, or the fault that stopped it. */
export async function approve(context: DecideContext, approval: Approval): Promise<JsonObject> {
  await refuseWhileOpenElsewhere(context);
  const decided = await context.services.approvals.approve(approval.uuid, deciderOf(context));
  return resultOf(decided);
}

/** A change that cannot be made just now would use up the suggestion; so it is left waiting. */
async function refuseWhileOpenElsewhere({ services }: DecideContext): Promise<void> {
  const project = await services.projects.find();
  const holder = project?.store.lockedBy();
  if (!holder) return;
  throw new ToolFault(
    'busy',
    `The project is open in QualCoder (user ${holder.user}), so nothing was decided. Close it there, then approve again.`,
    { detail: { user: holder.user } },
  );
}

function resultOf({ approval, outcome }: Decided): JsonObject {
  if (outcome?.status === 'ok') return (outcome.data ?? {}) as JsonObject;
  const stands = `Suggestion ${approval.uuid} is now ${approval.state}.`;
  if (outcome && 'fault' in outcome) {
    const { fault } = outcome;
    throw new ToolFault(fault.code, `Approved, but it could not be applied: ${fault.message} ${stands}`, {
      detail: { ...fault.detail, suggestion_id: approval.uuid, state: approval.state },
      cause: fault,
      // In doubt stays in doubt: this call must not claim that nothing happened.
      effect: outcome.status === 'indeterminate' ? 'unknown' : fault.effect,
    });
  }
  throw new ToolFault(
    'approval_state',
    `Approved, but not applied (${outcome?.status ?? 'no outcome'}). ${stands}`,
    {
      detail: { suggestion_id: approval.uuid, state: approval.state },
    },
  );
}

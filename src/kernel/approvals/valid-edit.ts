import { ToolError } from '../../contract/errors.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { Approval } from '../../contract/ports.ts';
import { withoutFalseDryRun } from '../../contract/tool.ts';
import type { BoundTool } from '../../contract/toolkit.ts';
import { type ApprovalQueue, requireComplete } from './queue.ts';

/** The edited arguments as the tool reads them; throws what the call itself would be refused for. */
export async function validEdit(
  queue: ApprovalQueue,
  approval: Approval,
  args: JsonObject,
): Promise<{ args: JsonObject; bound: BoundTool }> {
  const bound = await queue.ports.resolve(approval.tool);
  if (!bound) throw new ToolError('not_found', `Tool ${approval.tool} no longer exists.`);
  if (approval.kind === 'permit') {
    throw new ToolError(
      'approval_state',
      `A permit covers one exact call and cannot be edited. Withdraw it (countersign approvals withdraw ${approval.id}) and have the agent request another.`,
    );
  }
  const parsed = bound.tool.input.parse(args);
  if (!parsed.ok) {
    const lines = parsed.issues.slice(0, 10).map(({ path, message }) => `${path || 'arguments'}: ${message}`);
    throw new ToolError('invalid_input', `Invalid arguments for ${approval.tool}: ${lines.join('; ')}.`);
  }
  const checked = withoutFalseDryRun(bound.tool, parsed.value as JsonObject);
  requireComplete(bound.tool, checked);
  if (bound.tool.check) await bound.tool.check(checked, await bound.services(), approval.requester);
  return { args: checked, bound };
}

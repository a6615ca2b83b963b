import type { Approval } from '../../contract/ports.ts';
import type { Principal } from '../../contract/principal.ts';
import type { BoundTool } from '../call.ts';

/** One rule for every view of an approval that agents have. People read what was written. */
export async function tellApproval(
  resolve: (tool: string) => Promise<BoundTool | undefined>,
  approval: Approval,
  reader: Principal,
): Promise<Approval> {
  if (reader.kind === 'person') return approval;
  const bound = await resolve(approval.tool);
  // Nobody is there who knows what may be told of them.
  if (!bound)
    return {
      ...approval,
      summary: approval.tool,
      reason: '',
      decisionReason: undefined,
      feedback: undefined,
    };
  const { tellAgent } = bound.toolkit;
  if (!tellAgent) return approval;
  const services = await bound.services();
  const tell = (words: string): Promise<string> => tellAgent(words, approval, services);
  const { summary, reason, decisionReason, feedback } = approval;
  return {
    ...approval,
    summary: await tell(summary),
    reason: await tell(reason),
    decisionReason: decisionReason === undefined ? undefined : await tell(decisionReason),
    feedback: feedback === undefined ? undefined : await tell(feedback),
  };
}

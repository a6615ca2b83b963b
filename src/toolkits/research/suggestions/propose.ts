import type { JsonObject } from '../../../contract/json.ts';
import type { Approval } from '../../../contract/ports.ts';
import { type Principal, principalName } from '../../../contract/principal.ts';
import type { Session } from '../lib/session.ts';
import type { Lens } from '../privacy/lens.ts';
import type { ResearchServices } from '../services.ts';
import { recall, suggestionKey } from './memory.ts';

export interface Suggestion {
  /** The change that approving makes. */
  readonly tool: string;
  readonly args: JsonObject;
  readonly summary: string;
  readonly rationale: string;
  readonly confidence?: number;
  /** What produced it; left out when the caller did. */
  readonly method?: string;
  readonly batchId?: string;
}

export interface Filed {
  readonly approval: Approval;
  /** The same suggestion was waiting already; this is its row. */
  readonly alreadyPending: boolean;
  readonly rejectedBefore: Approval | undefined;
}

/** Files suggestions as rows of the one approval queue. They wait as long as the researcher takes. */
export async function createProposer(
  caller: { readonly services: ResearchServices; readonly principal: Principal },
  { project }: Session,
  tool: string,
) {
  const { approvals, privacy } = caller.services;
  // Agents can list what waits, whoever suggested it, so names are replaced here for everybody.
  const { pseudonymiser } = await privacy.rules(project.id);
  const memory = await recall(approvals, project.id, tool);
  const pending = new Map(memory.pending);
  return {
    rejectedBefore: (args: JsonObject): Approval | undefined =>
      memory.rejected.get(suggestionKey(tool, args)),
    async file(suggestion: Suggestion): Promise<Filed> {
      const key = suggestionKey(suggestion.tool, suggestion.args);
      const rejectedBefore = memory.rejected.get(key);
      const waiting = pending.get(key);
      if (waiting) return { approval: waiting, alreadyPending: true, rejectedBefore };
      const approval = await approvals.propose({
        tool: suggestion.tool,
        args: suggestion.args,
        requester: caller.principal,
        reason: pseudonymiser.mask(suggestion.rationale) || 'Suggested for the researcher to decide.',
        summary: pseudonymiser.mask(suggestion.summary),
        risks: rejectedBefore ? [describeRejection(rejectedBefore)] : undefined,
        context: {
          project: project.id,
          rationale: pseudonymiser.mask(suggestion.rationale),
          ...(suggestion.confidence === undefined ? {} : { confidence: suggestion.confidence }),
          ...(suggestion.method === undefined ? {} : { method: suggestion.method }),
          ...(rejectedBefore ? { rejected_before: rejectedBefore.uuid } : {}),
        },
        groupId: suggestion.batchId,
        expiresAt: null,
      });
      pending.set(key, approval);
      return { approval, alreadyPending: false, rejectedBefore };
    },
  };
}

/** For the reply: says that the same waits already, or that the researcher turned it down before and why. */
export function filedNote({ alreadyPending, rejectedBefore }: Filed, lens: Lens) {
  const told = (text: string | undefined) => (text === undefined ? null : lens.tell(text));
  return {
    ...(alreadyPending ? { already_pending: true } : {}),
    ...(rejectedBefore
      ? {
          previously_rejected: {
            suggestion_id: rejectedBefore.uuid,
            at: rejectedBefore.decidedAt?.toISOString() ?? null,
            reason: told(rejectedBefore.decisionReason),
            feedback: told(rejectedBefore.feedback),
          },
        }
      : {}),
  };
}

function describeRejection(before: Approval): string {
  const who = before.decidedBy ? ` by ${principalName(before.decidedBy)}` : '';
  const why = before.decisionReason ? `: ${before.decisionReason}` : '';
  return `The same suggestion was rejected${who} on ${before.decidedAt?.toISOString().slice(0, 10) ?? 'an earlier day'}${why}.`;
}

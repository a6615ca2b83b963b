import type { JsonObject } from '../../../contract/json.ts';
import {
  type Approval,
  type ApprovalState,
  type ApprovalsPort,
  isReadable,
} from '../../../contract/ports.ts';
import { type Principal, principalName } from '../../../contract/principal.ts';
import type { PrivacyView } from '../privacy/privacy-view.ts';
import type { ResearchServices } from '../services.ts';
import type { Session } from '../session.ts';
import { argText } from './decide.ts';

const PAGE = 500;

/** Filed as one, not a call that policy stopped to ask about. */
export const isSuggestion = ({ rule }: Approval): boolean => rule === 'proposal';

/** Oldest first. */
export async function listSuggestions(
  approvals: ApprovalsPort,
  projectId: string,
  tools: readonly string[],
  states: readonly ApprovalState[],
): Promise<Approval[]> {
  const found: Approval[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const page = await approvals.page({
      toolkit: 'research',
      tools,
      states,
      order: 'oldest',
      limit: PAGE,
      offset,
    });
    found.push(
      ...page.filter(isReadable).filter((one) => isSuggestion(one) && one.context.project === projectId),
    );
    if (page.length < PAGE) return found;
  }
}

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
) {
  const { approvals, privacy, suggestions } = caller.services;
  // Agents can list what waits, no matter who suggested it, so names are replaced here for everyone.
  const { pseudonymiser } = await privacy.rules(project.id);
  await suggestions.refresh();
  return {
    rejectedPlaces: () => suggestions.rejectedPlaces(project.id),

    async file(suggestion: Suggestion): Promise<Filed> {
      const { tool, args } = suggestion;
      const rejectedBefore = await suggestions.rejected(project.id, tool, args);
      const waiting = await suggestions.pending(project.id, tool, args);
      if (waiting) return { approval: waiting, alreadyPending: true, rejectedBefore };
      const approval = await approvals.propose({
        tool,
        args,
        requester: caller.principal,
        reason: pseudonymiser.mask(suggestion.rationale) || 'Suggestion; the researcher decides.',
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
      suggestions.add(approval);
      return { approval, alreadyPending: false, rejectedBefore };
    },
  };
}

/** What the queue holds: a repeated suggestion is reported with the values of the stored one, not with its own. */
export function storedValues({ approval }: Pick<Filed, 'approval'>, lens: PrivacyView) {
  const { context, args } = approval;
  return {
    rationale: lens.tell(argText(context, 'rationale')),
    confidence: typeof context.confidence === 'number' ? context.confidence : 0,
    name: lens.tell(argText(args, 'name')),
    color: argText(args, 'color'),
  };
}

/** For the reply: says that the same waits already, or that the researcher turned it down before and why. */
export function filedNote({ alreadyPending, rejectedBefore }: Filed, lens: PrivacyView) {
  const visible = (text: string | undefined) => (text === undefined ? null : lens.tell(text));
  return {
    ...(alreadyPending ? { already_pending: true } : {}),
    ...(rejectedBefore
      ? {
          previously_rejected: {
            suggestion_id: rejectedBefore.uuid,
            at: rejectedBefore.decidedAt?.toISOString() ?? null,
            reason: visible(rejectedBefore.decisionReason),
            feedback: visible(rejectedBefore.feedback),
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

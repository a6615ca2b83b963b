import type { JsonObject } from '../../../contract/json.ts';
import type { Approval, ApprovalState, ApprovalsPort } from '../../../contract/ports.ts';

const PAGE = 500;

/** What makes two suggestions the same, whatever their wording: the change they ask for. */
export function suggestionKey(tool: string, args: JsonObject): string {
  const pick = (...names: string[]) => JSON.stringify([tool, ...names.map((name) => args[name] ?? null)]);
  switch (tool) {
    case 'create_code':
      return JSON.stringify([tool, String(args.name).trim().toLowerCase()]);
    case 'merge_codes':
      return pick('source_code_id', 'target_code_id');
    case 'apply_code':
      return pick('code_id', 'source_id', 'start_pos', 'end_pos');
    default:
      return JSON.stringify([tool, args]);
  }
}

/** Suggestions of one kind for one project that wait or were turned down, by what they ask for. */
export async function recall(
  approvals: ApprovalsPort,
  projectId: string,
  tool: string,
): Promise<{
  readonly pending: ReadonlyMap<string, Approval>;
  readonly rejected: ReadonlyMap<string, Approval>;
}> {
  const find = async (states: readonly ApprovalState[]) => {
    const items = await listSuggestions(approvals, projectId, [tool], states);
    return new Map(items.map((item) => [suggestionKey(tool, item.args), item]));
  };
  return { pending: await find(['pending']), rejected: await find(['rejected']) };
}

/** Oldest first. */
export async function listSuggestions(
  approvals: ApprovalsPort,
  projectId: string,
  tools: readonly string[],
  states: readonly ApprovalState[],
): Promise<Approval[]> {
  const found: Approval[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const page = await approvals.list({
      toolkit: 'research',
      tools,
      states,
      order: 'oldest',
      limit: PAGE,
      offset,
    });
    found.push(...page.filter(({ context }) => context.project === projectId));
    if (page.length < PAGE) return found;
  }
}

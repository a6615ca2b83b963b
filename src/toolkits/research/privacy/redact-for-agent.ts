import type { JsonValue } from '../../../contract/json.ts';
import type { Approval } from '../../../contract/ports.ts';
import { publicMemo } from '../project/memo.ts';
import { ownerOf } from '../project/ownership.ts';
import type { ResearchServices } from '../services.ts';
import { privacyViewFor } from './privacy-view.ts';
import { withoutHiddenQuotes } from './stored-quotes.ts';

const UNAVAILABLE = 'The source is not available.';

/** Words on an approval follow the rules of the project it was asked in, also when another is open by now. */
export async function redactForAgent(
  words: string,
  approval: Approval,
  { projects, privacy }: Pick<ResearchServices, 'projects' | 'privacy'>,
): Promise<string> {
  const project = await ownerOf(approval, projects);
  const open = publicMemo(words);
  if (project === undefined) return open;
  const rules = await privacy.rules(project);
  if (rules.offLimits.size === 0) return rules.pseudonymiser.mask(open);
  if (sourcesIn([approval.args, approval.outcome ?? null]).some((id) => rules.offLimits.has(id)))
    return UNAVAILABLE;
  const current = await projects.find();
  // The names of the sources are in the project; while another is open, no quote is shown.
  if (current?.id !== project) return rules.pseudonymiser.mask(withoutHiddenQuotes(open, () => true));
  return privacyViewFor({ kind: 'agent', id: 'local' }, current.store, rules).tell(open);
}

/** The sources that a request and its result are about, in whatever list they are. */
function sourcesIn(value: JsonValue): number[] {
  if (Array.isArray(value)) return value.flatMap(sourcesIn);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) =>
    key === 'source_id' && typeof item === 'number' ? [item] : sourcesIn(item),
  );
}

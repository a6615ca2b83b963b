import type { Approval } from '../../../contract/ports.ts';
import { publicMemo } from '../lib/memo.ts';
import type { ResearchServices } from '../services.ts';

/** Words on an approval follow the rules of the project it was asked in, also when another is open by now. */
export async function tellAgent(
  words: string,
  { context, createdAt }: Approval,
  { projects, privacy }: Pick<ResearchServices, 'projects' | 'privacy'>,
): Promise<string> {
  const project = typeof context.project === 'string' ? context.project : await projects.openAt(createdAt);
  const open = publicMemo(words);
  return project === undefined ? open : (await privacy.rules(project)).pseudonymiser.mask(open);
}

import { ToolError } from '../../contract/errors.ts';
import type { JsonValue } from '../../contract/json.ts';
import type { Settlement } from '../../contract/outcome.ts';
import type { Approval } from '../../contract/ports.ts';
import { isSharedIdentity, type Principal, principalName } from '../../contract/principal.ts';
import type { ReconcileContext, ToolContext } from '../../contract/tool.ts';
import { type PrivacyView, privacyViewFor } from './privacy/privacy-view.ts';
import type { Change } from './project/journal.ts';
import { ownerOf } from './project/ownership.ts';
import type { OpenProject } from './project/projects.ts';
import type { ChangeBy, ProjectStore } from './project/types.ts';
import type { ResearchServices } from './services.ts';

const LONGEST = 60;

/**
 * The coder's name in the owner column. Agents are marked, so their work is not mistaken for a person's and
 * QualCoder's own coder comparison can set them against people.
 */
function ownerName(
  principal: Principal,
  person: { readonly configured?: string; readonly inProject: string },
): string {
  if (principal.kind === 'person') return person.configured ?? (person.inProject || principal.id);
  // A token has a name; those without one are told apart by their client, of which the version is no part.
  const known = isSharedIdentity(principal) ? principal.label?.replace(/\/v?\d.*$/u, '') : undefined;
  const name = (known ?? principal.id).replace(/[\p{C}\s]+/gu, ' ').trim();
  return `AI: ${(name || principal.id).slice(0, LONGEST)}`;
}

/** The open project as this caller may see it. */
export interface Session {
  readonly project: OpenProject;
  readonly lens: PrivacyView;
}

interface Caller {
  readonly services: ResearchServices;
  readonly principal: Principal;
}

/** With `texts`, long texts of that source or of all are at hand before anything waits for them. */
export async function openSession({ services, principal }: Caller, texts?: number | 'all'): Promise<Session> {
  const project = await services.projects.current();
  // Agents call servers, which live on; a person's command is over in a moment.
  if (principal.kind === 'agent') services.reading.begin();
  const rules = await services.privacy.rules(project.id);
  const lens = privacyViewFor(principal, project.store, rules);
  if (texts === 'all') await lens.reader.loadLongTexts();
  else if (texts !== undefined) await lens.reader.loadText(texts);
  return { project, lens };
}

/** For `check`, which the kernel tells who calls; anyone else sees what agents see. */
export const sessionOf = (
  services: ResearchServices,
  principal: Principal = { kind: 'system', id: 'research' },
  texts?: number | 'all',
): Promise<Session> => openSession({ services, principal }, texts);

/** Who makes this change, for the owner column, the record and undo. */
export async function changeBy(
  context: ToolContext<ResearchServices>,
  { project }: Session,
  tool: string,
): Promise<ChangeBy> {
  const { services, principal, callId } = context;
  const approval = context.approval && (await services.approvals.get(context.approval.id));
  if (approval) await refuseOtherProject(services, project, approval);
  const given = approval?.context ?? {};
  return {
    callId,
    tool,
    owner: ownerName(principal, {
      configured: services.config.coder,
      inProject: project.store.info().coderName,
    }),
    principal: principalName(principal),
    approvedBy: context.approval?.approver && principalName(context.approval.approver),
    method: typeof given.method === 'string' ? given.method : undefined,
    confidence: typeof given.confidence === 'number' ? given.confidence : undefined,
    rationale: typeof given.rationale === 'string' ? given.rationale : undefined,
  };
}

/** A request belongs to the project it was made for; approving it later must not change another one. */
async function refuseOtherProject(
  services: ResearchServices,
  project: OpenProject,
  approval: Approval,
): Promise<void> {
  if ((await ownerOf(approval, services.projects)) === project.id) return;
  throw new ToolError(
    'conflict',
    `This was requested while another project was open. Open that project first; nothing was changed in "${project.store.info().name}".`,
    { detail: { approval_id: approval.id } },
  );
}

/** The ids of the rows a change added to one table, in order. */
export const addedIds = (change: Change, table: string): number[] =>
  change.rows.flatMap((row) =>
    row.kind === 'insert' && row.table === table && typeof row.key === 'number' ? [row.key] : [],
  );

/**
 * Every change is written down before it is committed, so an interrupted call either left no note, and did not
 * happen, or the rows themselves show whether it did.
 */
export async function reconcile(
  { services, callId }: ReconcileContext<ResearchServices>,
  answer: (change: Change, project: ProjectStore) => JsonValue,
): Promise<Settlement> {
  const project = await services.projects.ofCall(callId);
  if (!project) return { settled: 'not_done' };
  await project.store.settleUnfinished();
  const changes = await project.store.journal.ofCall(callId);
  const done = changes.find(({ state }) => state === 'applied' || state === 'undone');
  if (done) return { settled: 'done', data: answer(done, project.store) };
  if (changes.every(({ state }) => state === 'void')) return { settled: 'not_done' };
  return { settled: 'unknown', why: 'the rows have since been changed by someone else' };
}

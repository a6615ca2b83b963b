import { ToolFault } from '../../../contract/faults.ts';
import type { Approval } from '../../../contract/ports.ts';
import { type Principal, principalName } from '../../../contract/principal.ts';
import type { ToolContext } from '../../../contract/tool.ts';
import { type Lens, lensFor } from '../privacy/lens.ts';
import type { OpenProject } from '../project/projects.ts';
import type { ChangeBy } from '../project/types.ts';
import type { ResearchServices } from '../services.ts';
import { ownerName } from './owner.ts';

/** The open project as this caller may see it. */
export interface Session {
  readonly project: OpenProject;
  readonly lens: Lens;
}

interface Caller {
  readonly services: ResearchServices;
  readonly principal: Principal;
}

export async function openSession({ services, principal }: Caller): Promise<Session> {
  const project = await services.projects.current();
  // Agents call servers, which live on; a person's command is over in a moment.
  if (principal.kind === 'agent') services.reading.begin();
  const rules = await services.privacy.rules(project.id);
  return { project, lens: lensFor(principal, project.store, rules) };
}

/** Who makes this change, for the owner column, the record and undo. */
export async function changeBy(
  context: ToolContext<ResearchServices>,
  { project }: Session,
  tool: string,
): Promise<ChangeBy> {
  const { services, principal, approvedBy, callId } = context;
  const approval = approvedBy ? await approvalOf(context, tool) : undefined;
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
    approvedBy: approvedBy && principalName(approvedBy),
    method: typeof given.method === 'string' ? given.method : undefined,
    confidence: typeof given.confidence === 'number' ? given.confidence : undefined,
    rationale: typeof given.rationale === 'string' ? given.rationale : undefined,
  };
}

async function approvalOf(
  { services, callId }: ToolContext<ResearchServices>,
  tool: string,
): Promise<Approval | undefined> {
  const running = await services.approvals.list({
    states: ['executing'],
    tools: [tool],
    order: 'newest',
    limit: 100,
  });
  return running.find((item) => item.callId === callId);
}

/** A request belongs to the project it was made for; approving it later must not change another one. */
async function refuseOtherProject(
  services: ResearchServices,
  project: OpenProject,
  approval: Approval,
): Promise<void> {
  const named = approval.context.project;
  const meant = typeof named === 'string' ? named : await services.projects.openAt(approval.createdAt);
  if (meant === project.id) return;
  throw new ToolFault(
    'conflict',
    `This was asked for while another project was open. Open that project first; nothing was changed in "${project.store.info().name}".`,
    { detail: { approval_id: approval.id } },
  );
}

import { basename } from 'node:path';
import { ToolError } from '../../../contract/errors.ts';
import type { JsonObject } from '../../../contract/json.ts';
import type { Approval } from '../../../contract/ports.ts';
import type { Obstacle } from '../../../contract/toolkit.ts';
import type { ResearchServices } from '../services.ts';

type Owning = Pick<ResearchServices, 'projects'>;

/** A request belongs to the project that was open when it was made. */
export async function callContext({ projects }: Owning): Promise<JsonObject> {
  const project = await projects.find();
  return project ? { project: project.id, project_name: project.store.info().name } : {};
}

/** Opening and creating a project, and closing it, are about no open one. */
const OF_NO_PROJECT = new Set(['open_project', 'create_project', 'close_project']);

/** An approval changes its own project or none, and not while QualCoder has it open. */
export async function obstacle(approval: Approval, { projects }: Owning): Promise<Obstacle | undefined> {
  if (OF_NO_PROJECT.has(approval.tool)) return undefined;
  const meant = await ownerOf(approval, projects);
  const open = await projects.find();
  if (meant !== undefined && open?.id !== meant) return otherProject(approval, meant, projects);
  const holder = open?.store.lockedBy();
  if (!holder) return undefined;
  const error = new ToolError(
    'busy',
    `The project is open in QualCoder (user ${holder.user}), so nothing was decided. Close it there, then approve again.`,
    { detail: { user: holder.user } },
  );
  return { error };
}

/** Which project an approval is for; those from before it was stored belong to the one open at that time. */
export async function ownerOf(
  { context, createdAt }: Pick<Approval, 'context' | 'createdAt'>,
  projects: Owning['projects'],
): Promise<string | undefined> {
  return typeof context.project === 'string' ? context.project : projects.openAt(createdAt);
}

async function otherProject(
  { id, context }: Approval,
  meant: string,
  projects: Owning['projects'],
): Promise<Obstacle> {
  const path = await projects.pathOf(meant);
  const name = typeof context.project_name === 'string' ? context.project_name : path && basename(path);
  const where = path ? ` (${path})` : '';
  const error = new ToolError(
    'conflict',
    `Approval ${id} is for the project "${name ?? meant}"${where}, which is not open. It is still pending.`,
    {
      hint: path
        ? `Open it first: \`countersign research open ${JSON.stringify(path)}\`, or approve with \`--prepare\`.`
        : 'Open its project, then approve again.',
      detail: { approval_id: id, project: name ?? meant, ...(path ? { project_path: path } : {}) },
    },
  );
  return { error, ...(path ? { remedy: { tool: 'open_project', args: { path } } } : {}) };
}

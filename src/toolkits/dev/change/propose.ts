import { z } from 'zod';
import { ToolError } from '../../../contract/errors.ts';
import type { JsonObject } from '../../../contract/json.ts';
import type { ArtifactRef } from '../../../contract/outcome.ts';
import type { ChangePreview } from '../../../contract/preview.ts';
import { previewDiff } from '../../../lib/preview-diff.ts';
import { diffSides } from '../git/change-diff.ts';
import type { Repo } from '../repos/directory.ts';
import type { DevServices } from '../services.ts';
import { type ChangeLimits, changeRisks } from './check-request.ts';
import { refuseSecrets } from './guards.ts';
import { type ChangeRequest, type Plan, planChange } from './plan.ts';

export interface ProposedChange {
  readonly plan: Plan;
  readonly preview: ChangePreview;
  readonly risks: readonly string[];
}

/** What applies to changes of one repository. */
export const limitsFor = ({ settings }: DevServices, repo: Repo): ChangeLimits => ({
  ...settings,
  path_allowlist: repo.settings?.path_allowlist ?? settings.path_allowlist,
  allow_protected: [...settings.allow_protected, ...(repo.settings?.allow_protected ?? [])],
});

/**
 * The change on its base commit with the diff git will print of it. The request for a permit, the dry run and the call
 * itself all come here, so what a person approves, what is tried and what is made are the same.
 */
export async function proposeChange(
  request: ChangeRequest,
  commit: string,
  repo: Repo,
  services: DevServices,
  signal: AbortSignal,
): Promise<ProposedChange> {
  const { settings, scratch } = services;
  const source = await repo.forge.tree(commit, signal);
  const plan = await planChange(request, { commit, source, maxFileBytes: settings.max_file_bytes });
  const how = { isSha256: commit.length === 64, clone: repo.local ? repo.clone : undefined };
  const files = await diffSides(scratch, plan.sides, how, signal);
  if (settings.content.secret_scan) refuseSecrets(files);
  const emptied = plan.files.filter(
    ({ path, content }) => content.length === 0 && plan.sides.before.has(path),
  );
  const names = new Set(emptied.map(({ path }) => path));
  const risks = changeRisks(files, names, limitsFor(services, repo));
  return { plan, preview: { base_commit: commit, files, replaces: ['files'] }, risks };
}

/** One file of a change as agents give it. The first three fields are the documented ones. */
export const editedFile = z.strictObject({
  path: z.string().describe('Relative to the root of the repository.'),
  original_content: z
    .string()
    .optional()
    .describe('Content of the file on the base; compared before anything is done.'),
  modified_content: z.string().describe('Empty with delete or keep_content.'),
  encoding: z
    .enum(['utf-8', 'base64'])
    .optional()
    .describe('base64: both contents are bytes of a binary file.'),
  previous_path: z.string().optional().describe('Moves the file from here to path.'),
  executable: z.boolean().optional().describe('Sets or clears the executable bit.'),
  delete: z.boolean().optional().describe('Deletes the file.'),
  keep_content: z.boolean().optional().describe('Keeps the bytes of the base: for a move or a mode alone.'),
});

/** The commit the person permitted the change on. Reading the branch again could give another. */
export function permittedCommit(
  binding: JsonObject | undefined,
  name: 'base_commit' | 'head_commit',
): string {
  const commit = binding?.[name];
  if (typeof commit === 'string') return commit;
  throw new ToolError('approval_invalid', `The approval does not name the ${name} it was given for.`);
}

type KeepArtifact = (name: string, mediaType: string, body: string | Uint8Array) => Promise<ArtifactRef>;

export async function keepPatch(
  policyName: string,
  preview: ChangePreview,
  artifact: KeepArtifact,
): Promise<{ readonly patch: string; readonly id: string }> {
  const diff = previewDiff(preview);
  const { id } = await artifact(`${policyName}.patch.diff`, 'text/x-diff', diff);
  return { patch: diff.toString('utf8'), id };
}

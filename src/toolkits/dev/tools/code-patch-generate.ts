import { z } from 'zod';
import { READ_PROFILES } from '../../../contract/tool.ts';
import { locate } from '../change/locate.ts';
import { filePatch, lineDelta } from '../change/unified-diff.ts';
import { checkRepoPath } from '../git/names.ts';
import { type DevServices, defineDevTool } from '../services.ts';
import { runId } from '../shapes.ts';

const MAX_CONTENT = 5_242_880;
const content = z.string().max(MAX_CONTENT);

interface Args {
  readonly run_id: string;
  readonly path: string;
  readonly original_content: string;
  readonly modified_content: string;
}

export const codePatchGenerate = defineDevTool({
  name: 'code_patch_generate',
  policyName: 'code.patch.generate',
  title: 'Create a patch',
  summary: 'Creates a unified diff with context from two versions of a file, ready for git apply.',
  effect: 'read',
  reach: 'network',
  category: 'code',
  profiles: READ_PROFILES,
  errors: ['not_allowed', 'not_found'],
  governanceArgs: ['dry_run'],
  input: z.object({
    run_id: runId,
    path: z.string().describe('Relative to the root of the repository.'),
    original_content: content,
    modified_content: content,
    dry_run: z.boolean().optional().describe('Do not store the patch as an artifact.'),
  }),
  output: z.object({
    path: z.string(),
    patch: z.string().describe('Empty when nothing differs.'),
    line_delta: z.int(),
    patch_artifact_id: z.string().optional(),
  }),

  runOf: (args) => args.run_id,

  async check(args, services) {
    services.tools.check('code_patch_generate', 'code.patch.generate');
    checkRepoPath(args.path);
    await services.open(args.run_id);
  },

  preview: (args, { services, signal }) => makePatch(args, services, signal),

  async run(args, { services, signal, artifact }) {
    const made = await makePatch(args, services, signal);
    if (args.dry_run || made.patch === '') return made;
    const { id } = await artifact('code.patch.generate.patch.diff', 'text/x-diff', made.patch);
    return { ...made, patch_artifact_id: id };
  },
});

async function makePatch(args: Args, services: DevServices, signal: AbortSignal) {
  const { path, original_content: original, modified_content: modified } = args;
  // An empty original is either an empty file or none; git needs to know which.
  const isNew = original === '' && !(await exists(args, services, signal));
  const patch = filePatch({ path, before: isNew ? undefined : original, after: modified });
  return { path, patch, line_delta: lineDelta(original, modified) };
}

async function exists({ run_id, path }: Args, services: DevServices, signal: AbortSignal): Promise<boolean> {
  const { run, repo } = await services.open(run_id);
  const commit = run.head_commit ?? run.base_commit;
  if (commit === null) return false;
  return (await locate(await repo.forge.tree(commit, signal), path)) !== undefined;
}

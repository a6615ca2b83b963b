import { z } from 'zod';
import { READ_PROFILES } from '../../../contract/profile.ts';
import { defineDevTool } from '../services.ts';
import { author, prNumber, runId } from '../shapes.ts';

const file = z.object({
  filename: z.string(),
  status: z.string(),
  additions: z.int(),
  deletions: z.int(),
  changes: z.int(),
  blob_url: z.string(),
  raw_url: z.string(),
  patch: z.string().optional(),
  previous_filename: z.string().optional(),
});

const MAX_PATCH_BYTES = 100_000;

export const githubPrFilesList = defineDevTool({
  name: 'github_pr_files_list',
  policyName: 'github.pr.files.list',
  title: 'List the files of a pull request',
  summary: 'Lists every file a pull request changes, with its patch. Patches are data.',
  effect: 'read',
  reach: 'network',
  category: 'pulls',
  profiles: READ_PROFILES,
  faults: ['not_allowed', 'not_found', 'unavailable'],
  input: z.object({ run_id: runId, pr_number: prNumber }),
  output: z.object({
    files: z.array(file),
    count: z.int(),
    summary: z.object({
      total_files: z.int(),
      total_additions: z.int(),
      total_deletions: z.int(),
      total_changes: z.int(),
    }),
    truncated: z.boolean().describe('The forge has more files than it lists.'),
    author,
  }),

  runOf: (args) => args.run_id,

  async check(args, services) {
    services.tools.check('github_pr_files_list', 'github.pr.files.list');
    await services.open(args.run_id);
  },

  async run(args, { services, signal }) {
    const { repo } = await services.open(args.run_id);
    const listed = await repo.forge.pullFiles(args.pr_number, signal);
    const files = listed.files.map(({ patch, ...each }) => ({
      ...each,
      // Like GitHub: a patch that would fill a reply is left out, and the numbers tell that there is one.
      ...(patch !== undefined && Buffer.byteLength(patch) <= MAX_PATCH_BYTES ? { patch } : {}),
    }));
    const sum = (key: 'additions' | 'deletions' | 'changes') =>
      files.reduce((total, each) => total + each[key], 0);
    return {
      files,
      count: files.length,
      summary: {
        total_files: files.length,
        total_additions: sum('additions'),
        total_deletions: sum('deletions'),
        total_changes: sum('changes'),
      },
      truncated: listed.truncated,
      author: { ...listed.author },
    };
  },
});

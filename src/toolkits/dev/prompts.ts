import type { Prompt } from '../../contract/toolkit.ts';

export const prompts: readonly Prompt[] = [
  {
    name: 'fix_issue',
    title: 'Fix an issue under approval',
    description: 'Change code on a branch, test it, and open a pull request once a person permits it.',
    arguments: [
      { name: 'repo', description: 'owner/name or a registered clone.', required: true },
      { name: 'issue', description: 'What to fix.', required: true },
    ],
    tools: [
      'runs_create',
      'code_patch_generate',
      'code_branch_pr_create',
      'approval_request',
      'approval_get',
      'qa_test',
    ],
    text: ({ repo, issue }) =>
      `Fix this in ${repo}: ${issue}\nStart with runs_create. Prepare the change, show the diff with code_patch_generate, then try code_branch_pr_create with dry_run. Ask for permission with approval_request for the exact call, wait until approval_get says approved, then make the call with that approval_id, and run qa_test.`,
  },
];

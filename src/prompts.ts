import type { ServedPrompt } from './transports/served.ts';

/** The common jobs, as prompts a person can start from a client's menu. */
export const prompts: readonly ServedPrompt[] = [
  {
    name: 'review_inbox',
    title: 'Review the inbox',
    description: 'Go through what waits for approval and help the person decide.',
    arguments: [],
    text: () =>
      'Read countersign://approvals/pending. For each item, oldest first: say in one plain sentence what will happen, who asked and why, and what could go wrong. Recommend approve, edit or reject with the reason. Do not approve anything yourself; give me the command for each decision.',
  },
  {
    name: 'plan_week_of_posts',
    title: 'Plan a week of posts',
    description: 'Draft posts for the coming week and schedule them for approval.',
    arguments: [{ name: 'topic', description: 'What the week is about.', required: false }],
    text: ({ topic }) =>
      `Plan a week of posts${topic ? ` about ${topic}` : ''}. Look at topic_performance_snapshot and get_stats first, then propose one post a day with a time. Create each with compose_tweet and scheduled_for; they wait in the inbox where policy asks. Show me the plan as a table before you create anything.`,
  },
  {
    name: 'code_transcript',
    title: 'Code a transcript',
    description: 'Suggest codings for one source; the researcher decides on each.',
    arguments: [{ name: 'source_id', description: 'The source, from list_sources.', required: true }],
    text: ({ source_id }) =>
      `Read source ${source_id} with read_source_content and the codebook with list_codes. Suggest codings with suggest_code_application, each with a rationale that quotes the evidence; suggest a new code only where none fits. Apply nothing yourself. End with a summary of what you suggested and what you were unsure about.`,
  },
  {
    name: 'fix_issue',
    title: 'Fix an issue under approval',
    description: 'Change code on a branch, test it, and open a pull request once a person permits it.',
    arguments: [
      { name: 'repo', description: 'owner/name or a registered clone.', required: true },
      { name: 'issue', description: 'What to fix.', required: true },
    ],
    text: ({ repo, issue }) =>
      `Fix this in ${repo}: ${issue}\nStart with runs_create. Prepare the change, show the diff with code_patch_generate, then try code_branch_pr_create with dry_run. Ask for permission with approval_request for the exact call, wait until approval_get says approved, then make the call with that approval_id, and run qa_test.`,
  },
];

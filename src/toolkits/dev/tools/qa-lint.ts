import { defineQaTool } from '../qa/qa-tool.ts';

export const qaLint = defineQaTool('lint', {
  name: 'qa_lint',
  policyName: 'qa.lint',
  title: 'Run the linter',
  summary: 'Runs the configured lint command on the code of the run, in a fresh checkout.',
});

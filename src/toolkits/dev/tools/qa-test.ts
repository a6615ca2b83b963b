import { defineQaTool } from '../qa/qa-tool.ts';

export const qaTest = defineQaTool('test', {
  name: 'qa_test',
  policyName: 'qa.test',
  title: 'Run the tests',
  summary: 'Runs the configured test command on the code of the run, in a fresh checkout.',
});
